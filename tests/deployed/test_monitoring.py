"""monitoring.yaml and rollback.yaml: their logs and alarms watch existing resources."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from quarry.platform.telemetry import BY_VERSION, METRICS
from quarry.web.lambda_app import NAMESPACE, SERVICE
from tests.deployed.cloudwatch import Samples, is_in_alarm, passes
from tools import gateway
from tools.rehearsal.template import (
    OWN_DATA,
    TOPIC,
    Template,
    deployed,
    deployed_data,
    nested,
    of_type,
    outputs_of,
    read_template,
)

ALARM = "AWS::CloudWatch::Alarm"
ROLL_BACK = {"FunctionErrorsAlarm", "ServerErrorsAlarm", "ReleaseSearchesAlarm", "ReleaseErrorsAlarm"}

SEARCHES_PER_MINUTE = 6
REPORTED_AFTER_MINUTES = 2
"""How long CloudWatch may take to count what has happened."""
DEPLOYMENTS = 4000


@pytest.fixture(scope="module", params=[OWN_DATA | {"AlarmTopicArn": TOPIC}, outputs_of(deployed_data()), OWN_DATA])
def stack(request: pytest.FixtureRequest) -> Template:
    return deployed(**request.param)


@pytest.fixture(scope="module")
def monitoring(stack: Template) -> Template:
    return nested("monitoring", stack)


@pytest.fixture(scope="module")
def rollback(stack: Template) -> Template:
    return nested("rollback", stack)


def names_of_functions(stack: Template) -> dict[str, str]:
    """The functions' names, by their logical ids."""
    return {name: each["FunctionName"] for name, each in of_type(stack, "AWS::Lambda::Function").items()}


def test_every_function_and_the_api_has_a_log_group_with_retention_before_its_first_line(
    stack: Template, monitoring: Template
) -> None:
    groups = [*of_type(monitoring, "AWS::Logs::LogGroup").values(), *of_type(stack, "AWS::Logs::LogGroup").values()]
    named = {f"/aws/lambda/{name}" for name in names_of_functions(stack).values()} | {"/aws/apigateway/quarry"}
    named |= {"API-Gateway-Execution-Logs_<Api>/prod"}
    assert {group["LogGroupName"] for group in groups} == named
    assert {str(group["RetentionInDays"]) for group in groups} == {"30"}
    # all others wait for the migration
    for name in ("MigrateFunction", "CheckFunction"):
        assert "Monitoring" in stack["Resources"][name]["DependsOn"]


def test_alarms_notify_their_topic_and_ignore_missing_data(
    stack: Template, monitoring: Template, rollback: Template
) -> None:
    assert of_type(rollback, ALARM).keys() == ROLL_BACK
    topic = of_type(stack, "AWS::CloudFormation::Stack")["Monitoring"]["Parameters"]["AlarmTopicArn"]
    for alarm in (of_type(rollback, ALARM) | of_type(monitoring, ALARM)).values():
        assert alarm["TreatMissingData"] == "notBreaching"
        assert alarm.get("AlarmActions") == alarm.get("OKActions") == ([topic] if topic else None)


def test_alarms_watch_existing_metrics(stack: Template, monitoring: Template, rollback: Template) -> None:
    behind_the_api = metrics_of(of_type(rollback, ALARM)["FunctionErrorsAlarm"])
    assert {metric["Dimensions"][0]["Value"] for metric in behind_the_api} == {
        f"quarry-{name.replace('_', '-')}" for name in gateway.SERVED
    }
    alarms = of_type(monitoring, ALARM) | of_type(rollback, ALARM)
    of_database = {name for name in alarms if name.startswith("Database")}
    is_watched = bool(of_type(stack, "AWS::CloudFormation::Stack")["Monitoring"]["Parameters"]["DatabaseClusterId"])
    expected = {"DatabaseCapacityAlarm", "DatabaseConnectionsAlarm", "DatabaseStorageAlarm"}
    assert of_database == (expected if is_watched else set())
    watched = [metric for alarm in alarms.values() for metric in metrics_of(alarm)]
    dimensions = {
        each["Value"]
        for metric in watched
        for each in metric.get("Dimensions", ())
        if each["Name"] not in ("service", "Resource", "function_version", "ExecutedVersion")
    }
    known = {
        *names_of_functions(stack).values(),
        "<Queues.Outputs.DeadLettersName>",
        "<Queues.Outputs.LoadDeadLettersName>",
        "<DatabaseCluster>",
    }
    assert dimensions <= known


def metrics_of(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    """The metrics that an alarm watches."""
    return [each["MetricStat"]["Metric"] for each in alarm.get("Metrics", ()) if "MetricStat" in each] or [alarm]


def test_throttles_of_each_function_raise_an_alarm_of_its_own(stack: Template, monitoring: Template) -> None:
    alarms = {name: each for name, each in of_type(monitoring, ALARM).items() if name.endswith("ThrottlesAlarm")}
    for function, name in names_of_functions(stack).items():
        alarm = alarms.pop(f"{function.removesuffix('Function')}ThrottlesAlarm")
        assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Lambda", "Throttles")
        assert alarm["Dimensions"] == [{"Name": "FunctionName", "Value": name}]
    assert not alarms


def test_our_own_metrics_in_alarms_are_counted_without_a_domain(monitoring: Template, rollback: Template) -> None:
    alarms = (of_type(rollback, ALARM) | of_type(monitoring, ALARM)).values()
    ours = [metric for alarm in alarms for metric in metrics_of(alarm) if metric.get("Namespace") == NAMESPACE]
    names = {metric["MetricName"] for metric in ours}
    assert (
        names == {"Searches", "FailedSearches", "ModelCost", "EmbeddingBacklogAge"} <= {each.name for each in METRICS}
    )
    by_version = set()
    for metric in ours:
        service, function, *version = metric["Dimensions"]
        assert (service, function["Name"]) == ({"Name": "service", "Value": SERVICE}, "function_name")
        if version:
            assert [each["Name"] for each in version] == ["function_version"]
            by_version.add(metric["MetricName"])
    assert by_version == {metric.name for metric in BY_VERSION}


# --- what makes each alarm go off, and what does not yet

THROTTLED: dict[str, tuple[dict[str, Samples], dict[str, Samples]]] = {
    f"{name.removesuffix('Function')}ThrottlesAlarm": ({"only": [[1]]}, {"only": [[0]]})
    for name in read_template()["Resources"]
    if name.endswith("Function")
}

FIRED: dict[str, tuple[dict[str, Samples], dict[str, Samples]]] = {
    "FunctionErrorsAlarm": ({"search": [[1, 1]], "unlock": [[1]]}, {"search": [[1, 1]]}),
    "ServerErrorsAlarm": (
        {"errors": [[2], [2]], "requests": [[30], [30]]},
        {"errors": [[9], [1]], "requests": [[30], [30]]},
    ),
    "ReleaseSearchesAlarm": ({"failed": [[3]], "searches": [[11]]}, {"failed": [[2]], "searches": [[2]]}),
    "ReleaseErrorsAlarm": ({"failed": [[3]], "invocations": [[11]]}, {"failed": [[3]], "invocations": [[12]]}),
    "SlowFirstContentAlarm": ({"only": [[100] * 90 + [9000] * 10] * 3}, {"only": [[100] * 96 + [9000] * 4] * 3}),
    "FailedRunsAlarm": ({"failed": [[3]], "searches": [[29]]}, {"failed": [[3]], "searches": [[30]]}),
    "ModelCostAlarm": ({"only": [[12, 9]]}, {"only": [[12, 8]]}),
    "EmbeddingBacklogAlarm": ({"only": [[60, 172_801]]}, {"only": [[172_800]]}),
    "DeadLettersAlarm": ({"files": [[1]], "events": [[0]]}, {"files": [[0]], "events": [[0]]}),
    "DatabaseCapacityAlarm": ({"only": [[91], [92], [99]]}, {"only": [[99], [92], [90]]}),
    "DatabaseConnectionsAlarm": ({"connections": [[658]]}, {"connections": [[657]]}),
    "DatabaseStorageAlarm": ({"only": [[1.1e11]]}, {"only": [[9e10]]}),
    **THROTTLED,
}
"""Of each alarm samples that make it go off, and samples that do not, by its metrics' ids."""


def test_every_alarm_goes_off_by_what_it_is_for_and_not_before() -> None:
    stack = deployed(**outputs_of(deployed_data()))
    alarms = of_type(nested("rollback", stack), ALARM) | of_type(nested("monitoring", stack), ALARM)
    assert alarms.keys() == FIRED.keys()
    for name, (firing, calm) in FIRED.items():
        assert is_in_alarm(alarms[name], firing), name
        assert not is_in_alarm(alarms[name], calm), name
        assert not is_in_alarm(alarms[name], {}), name


def test_the_access_log_has_what_its_filters_read_and_no_question(stack: Template, monitoring: Template) -> None:
    [api_stage] = of_type(stack, "AWS::ApiGateway::Stage").values()
    assert api_stage["AccessLogSetting"] == {
        "DestinationArn": "<Monitoring.Outputs.AccessLogs>",
        "Format": "<Monitoring.Outputs.AccessLogFormat>",
    }
    assert monitoring["Outputs"]["AccessLogs"]["Value"].endswith(":log-group:<AccessLogs>")
    line = json.loads(monitoring["Outputs"]["AccessLogFormat"]["Value"])
    read = {
        name
        for each in of_type(monitoring, "AWS::Logs::MetricFilter").values()
        for text in (each["FilterPattern"], each["MetricTransformations"][0]["MetricValue"])
        for name in re.findall(r"\$\.(\w+)", text)
    }
    assert read <= line.keys()
    assert not [
        value for value in line.values() if re.search(r"querystring|request\.header|authorization", value.lower())
    ]


def test_errors_are_counted_among_the_answers_that_are_no_files(monitoring: Template) -> None:
    filters = of_type(monitoring, "AWS::Logs::MetricFilter")
    lines = [
        {"route": "/records/ask", "status": "500"},
        {"route": "/records/ask", "status": "200"},
        {"route": "/assets/{path+}", "status": "200"},
        {"route": "/assets/{path+}", "status": "502"},
        {"route": "/embed/quarry-ask.js", "status": "200"},
        {"route": "/", "status": "504"},
        {"route": "-", "status": "404"},
    ]

    def counted(name: str) -> int:
        [transformation] = filters[name]["MetricTransformations"]
        assert transformation["MetricName"] == name.removesuffix("Filter")
        return sum(passes(filters[name]["FilterPattern"], line) for line in lines)

    assert (counted("AnswersFilter"), counted("ServerErrorsFilter")) == (4, 2)


# --- the alarms that judge a release by its own searches


def rolled_back(alarm: dict[str, Any], failing: float, shift: str) -> float:
    """How often a release of whose searches the share `failing` fails raises the alarm while it has its part of the traffic: each
    minute CloudWatch sums over the last period.
    """
    percent, minutes = map(int, re.findall(r"\d+", shift))
    [share] = [each["Expression"] for each in alarm["Metrics"] if "Expression" in each]
    least = int(re.findall(r">= (\d+)", share)[0])
    [period] = {each["MetricStat"]["Period"] for each in alarm["Metrics"] if "MetricStat" in each}
    assert alarm["EvaluationPeriods"] == 1
    random = np.random.default_rng(1)
    searches = random.binomial(SEARCHES_PER_MINUTE, percent / 100, (DEPLOYMENTS, minutes - REPORTED_AFTER_MINUTES))
    failed = random.binomial(searches, failing)

    def summed(counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        total = counts.cumsum(axis=1)
        before = np.zeros_like(total)
        before[:, period // 60 :] = total[:, : -(period // 60)]
        lately: np.ndarray[Any, Any] = total - before
        return lately

    breached = (summed(failed) >= least) & (summed(failed) > alarm["Threshold"] * summed(searches))
    return float(breached.any(axis=1).mean())


@pytest.mark.parametrize("name", ["ReleaseSearchesAlarm", "ReleaseErrorsAlarm"])
def test_a_release_that_fails_half_of_thirty_searches_in_five_minutes_goes_back_and_one_like_the_last_stays(
    name: str,
) -> None:
    alarm = of_type(nested("rollback", deployed(**OWN_DATA)), ALARM)[name]
    shift = read_template()["Parameters"]["TrafficShift"]["Default"]
    assert rolled_back(alarm, 0.5, shift) >= 0.95
    for as_before in (0.001, 0.01, 0.05):
        assert rolled_back(alarm, as_before, shift) <= 0.02, as_before


def test_a_release_is_judged_by_what_its_own_version_does(stack: Template, rollback: Template) -> None:
    alarms = of_type(rollback, ALARM)
    versions = {
        each["Value"]
        for name in ("ReleaseSearchesAlarm", "ReleaseErrorsAlarm")
        for metric in metrics_of(alarms[name])
        for each in metric["Dimensions"]
        if each["Name"] in ("function_version", "ExecutedVersion")
    }
    assert len(versions) == 1
    assert versions.pop().startswith("<<SearchFunctionVersion")


def test_the_alarm_of_connections_follows_the_capacity_of_the_cluster() -> None:
    def alarm(**data: str) -> str:
        stack = deployed(**outputs_of(deployed_data(**data)))
        return str(of_type(nested("monitoring", stack), ALARM)["DatabaseConnectionsAlarm"]["Metrics"][0]["Expression"])

    assert alarm() == "MAX([connections / (211 * 4 - 22), connections / 2000])"
    capacity = {"AuroraMaxCapacity": "16", "AuroraMinCapacity": "1"}
    assert alarm(**capacity) == "MAX([connections / (211 * 16 - 22), connections / 5000])"
