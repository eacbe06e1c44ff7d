"""monitoring.yaml, and the alarms that roll a release back: they watch existing resources."""

from __future__ import annotations

import json

import pytest

from quarry.platform.telemetry import METRICS
from quarry.web.telemetry import NAMESPACE, SERVICE
from tests.deployed.template import (
    OWN_DATA,
    TOPIC,
    Template,
    deployed,
    deployed_data,
    monitored,
    of_type,
    outputs_of,
)
from tools import gateway

ALARM = "AWS::CloudWatch::Alarm"
ROLL_BACK = {"FunctionErrorsAlarm", "ServerErrorsAlarm", "FailedRunsAlarm"}


@pytest.fixture(scope="module", params=[OWN_DATA | {"AlarmTopicArn": TOPIC}, outputs_of(deployed_data()), OWN_DATA])
def stack(request: pytest.FixtureRequest) -> Template:
    return deployed(**request.param)


@pytest.fixture(scope="module")
def monitoring(stack: Template) -> Template:
    return monitored(stack)


def names_of_functions(stack: Template) -> dict[str, str]:
    """The functions' names, by their logical ids."""
    return {name: each["FunctionName"] for name, each in of_type(stack, "AWS::Lambda::Function").items()}


def test_every_function_and_the_api_has_a_log_group_with_retention_before_its_first_line(
    stack: Template, monitoring: Template
) -> None:
    groups = of_type(monitoring, "AWS::Logs::LogGroup").values()
    named = {f"/aws/lambda/{name}" for name in names_of_functions(stack).values()} | {"/aws/apigateway/quarry"}
    assert {group["LogGroupName"] for group in groups} == named
    assert {str(group["RetentionInDays"]) for group in groups} == {"30"}
    [api_stage] = of_type(stack, "AWS::ApiGateway::Stage").values()
    assert api_stage["AccessLogSetting"]["DestinationArn"].rpartition(":")[2] in named
    # all others wait for the migration
    for name in ("MigrateFunction", "CheckFunction", "Api"):
        assert "Monitoring" in stack["Resources"][name]["DependsOn"]


def test_alarms_notify_their_topic_and_ignore_missing_data(stack: Template, monitoring: Template) -> None:
    assert of_type(stack, ALARM).keys() == ROLL_BACK
    topic = of_type(stack, "AWS::CloudFormation::Stack")["Monitoring"]["Parameters"]["AlarmTopicArn"]
    for alarm in (of_type(stack, ALARM) | of_type(monitoring, ALARM)).values():
        assert alarm["TreatMissingData"] == "notBreaching"
        assert alarm.get("AlarmActions") == alarm.get("OKActions") == ([topic] if topic else None)


def test_alarms_watch_existing_metrics(stack: Template, monitoring: Template) -> None:
    of_functions = json.dumps(of_type(stack, ALARM)["FunctionErrorsAlarm"])
    for name in gateway.SERVED:
        assert f"<{name.title().replace('_', '')}Function>" in of_functions
    alarms = of_type(monitoring, ALARM)
    of_database = {name for name in alarms if name.startswith("Database")}
    is_watched = bool(of_type(stack, "AWS::CloudFormation::Stack")["Monitoring"]["Parameters"]["DatabaseClusterId"])
    expected = {"DatabaseCapacityAlarm", "DatabaseConnectionsAlarm", "DatabaseStorageAlarm"}
    assert of_database == (expected if is_watched else set())
    dimensions = {
        each["Value"] for alarm in alarms.values() for each in alarm.get("Dimensions", ()) if each["Name"] != "service"
    }
    known = {*names_of_functions(stack).values(), "<DeadLetters.QueueName>", "<DatabaseCluster>"}
    assert dimensions <= known


def test_our_own_metrics_in_alarms_are_counted_without_a_domain(stack: Template, monitoring: Template) -> None:
    watched = [
        each.get("MetricStat", {}).get("Metric", each)
        for alarm in (of_type(stack, ALARM) | of_type(monitoring, ALARM)).values()
        for each in alarm.get("Metrics", [alarm])
    ]
    ours = {each["MetricName"]: each for each in watched if each.get("Namespace") == NAMESPACE}
    assert (
        ours.keys()
        == {"Searches", "FailedSearches", "ModelCost", "EmbeddingBacklogAge"}
        <= {each.name for each in METRICS}
    )
    for metric in ours.values():
        assert [each["Name"] for each in metric["Dimensions"]] == ["service", "function_name"]
        assert metric["Dimensions"][0]["Value"] == SERVICE
