"""monitoring.yaml, and the alarms that take a release back: they watch what exists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from quarry.domains import DOMAINS
from quarry.platform.metrics import METRICS
from quarry.web.telemetry import NAMESPACE, SERVICE
from tests.deployed.template import (
    OWN_DATA,
    ROOT,
    TOPIC,
    Template,
    deployed,
    deployed_data,
    monitored,
    of_type,
    outputs_of,
    read_template,
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


def test_every_function_and_the_api_has_a_log_that_ends_and_is_there_before_its_first_line(
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


def test_alarms_tell_their_topic_and_say_nothing_of_what_did_not_happen(stack: Template, monitoring: Template) -> None:
    assert of_type(stack, ALARM).keys() == ROLL_BACK
    topic = of_type(stack, "AWS::CloudFormation::Stack")["Monitoring"]["Parameters"]["AlarmTopicArn"]
    for alarm in (of_type(stack, ALARM) | of_type(monitoring, ALARM)).values():
        assert alarm["TreatMissingData"] == "notBreaching"
        assert alarm.get("AlarmActions") == alarm.get("OKActions") == ([topic] if topic else None)


def test_alarms_watch_what_is_there(stack: Template, monitoring: Template) -> None:
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


def test_a_metric_of_ours_that_an_alarm_watches_is_counted_without_a_domain(
    stack: Template, monitoring: Template
) -> None:
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


def test_an_alarm_names_its_section_of_the_runbook() -> None:
    resources = read_template()["Resources"] | read_template("monitoring")["Resources"]
    alarms = {name: each["Properties"] for name, each in resources.items() if each["Type"] == ALARM}
    _, _, runbook = (ROOT / "docs/operations.md").read_text().partition("\n## Alarms\n")
    sections = re.findall(r"(?:^### (\w+)$)|(?:^## )", runbook, re.MULTILINE)
    assert {*sections[: sections.index("")]} == {*alarms}
    for name, alarm in alarms.items():
        assert alarm["AlarmDescription"].endswith(f"What to do: docs/operations.md, {name}."), name


def test_the_dashboard_and_the_page_show_every_metric_by_what_it_is_counted_by(monitoring: Template) -> None:
    [dashboard] = of_type(monitoring, "AWS::CloudWatch::Dashboard").values()
    ours = [each for each in shown_metrics(json.loads(dashboard["DashboardBody"])) if each[0] == NAMESPACE]
    known = {metric.name: metric for metric in METRICS}
    assert {name for _, name, *_ in ours} == {*known}
    for _, name, *pairs in ours:
        dimensions = dict(zip(pairs[::2], pairs[1::2], strict=True))
        expected = {"service", "function_name"} | ({"domain"} if known[name].by_domain else set())
        assert dimensions.keys() == expected, name
        assert dimensions["service"] == SERVICE
        assert dimensions.get("domain", DOMAINS[0]) in DOMAINS
    page = (ROOT / "docs/operations.md").read_text()
    assert [name for name in known if f"`{name}`" not in page] == []


def shown_metrics(body: dict[str, Any]) -> Iterator[list[str]]:
    """The metrics of a dashboard, written out: `.` stands for what is above, `...` for all but the last."""
    for widget in body["widgets"]:
        above: list[str] = []
        for each in widget["properties"].get("metrics", ()):
            words = [word for word in each if isinstance(word, str)]
            if words[0] == "...":
                words = [*above[: len(above) - len(words) + 1], *words[1:]]
            above = [above[place] if word == "." else word for place, word in enumerate(words)]
            yield above
