"""`make smoke` against the emulated stack: a sound one passes, and each check can fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import httpx2
import pytest
from moto import mock_aws

from tests.deployed.conftest import Start
from tests.deployed.emulated_stack import emulated_stack
from tests.deployed.template import REGION, ROOT
from tools import smoke

WHAT_AWS_SAYS = {
    smoke.time_to_first_content_is_measured,
    smoke.functions_have_the_release,
    smoke.scheduled_work_is_done_and_its_failures_are_seen,
    smoke.api_gateway_may_write_logs,
}


class FakeStack:
    """Of Lambda, CloudFormation and API Gateway, what the checks ask: for these moto would need a container and more packages."""

    SERVICES = ("lambda", "cloudformation", "apigateway")

    def __init__(self, queue: str, *, is_sound: bool) -> None:
        self._queue, self._is_sound = queue, is_sound

    def get_alias(self, **_: str) -> dict[str, str]:
        return {"FunctionVersion": "7" if self._is_sound else "$LATEST"}

    def invoke(self, **_: object) -> dict[str, str]:
        return {} if self._is_sound else {"FunctionError": "Unhandled"}

    def describe_stack_resource(self, **_: str) -> dict[str, Any]:
        return {"StackResourceDetail": {"PhysicalResourceId": self._queue}}

    def get_account(self) -> dict[str, str]:
        return {"cloudwatchRoleArn": "arn:aws:iam::123456789012:role/logs"} if self._is_sound else {}


Aws = Callable[[str], Any]


def asked_of(fake: FakeStack) -> Aws:
    return lambda service: fake if service in fake.SERVICES else boto3.client(service, REGION)  # type: ignore[call-overload]


def sound_aws() -> Aws:
    """An account in which a stack was just deployed and asked."""
    queue = boto3.client("sqs", REGION).create_queue(QueueName="dead-letters")["QueueUrl"]
    boto3.client("cloudwatch", REGION).put_metric_data(
        Namespace="quarry", MetricData=[{"MetricName": "FirstContent", "Value": 500.0, "Unit": "Milliseconds"}]
    )
    return asked_of(FakeStack(queue, is_sound=True))


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        yield


def report(url: str, aws: Aws | None, transport: httpx2.BaseTransport | None = None) -> dict[str, tuple[str, str]]:
    with httpx2.Client(base_url=url, timeout=60, transport=transport) as http:
        return {
            each.check: (each.state, each.detail) for each in smoke.outcomes(smoke.Stack(http, "me", "quarry", aws))
        }


def named(checks: set[Any]) -> set[str]:
    return {check.__name__.replace("_", " ") for check in checks}


@pytest.fixture
def url(start: Start) -> Iterator[str]:
    without_model = {"OPENAI_API_KEY": None, "OPENAI_BASE_URL": None, "ALLOWED_ORIGIN": "*"}
    functions = {name: start(ROOT / "functions" / name, **without_model).api for name in ("search", "console")}
    with emulated_stack(functions) as url:
        yield url


def test_a_sound_stack_passes_every_check_that_can_be_made(
    url: str, account: None, capsys: pytest.CaptureFixture[str]
) -> None:
    found = report(url, sound_aws())
    assert len(found) == len(smoke.CHECKS) == 13
    assert {check for check, (state, _) in found.items() if state == "skipped"} == {"searches go to the reader"}
    assert [line for line in found.items() if line[1][0] == "failed"] == []
    # without the stack's name, AWS cannot be asked
    assert smoke.main(url, "me") == 0
    lines = capsys.readouterr().out.splitlines()
    skipped = {line.removeprefix("skipped ").partition(":")[0] for line in lines if line.startswith("skipped")}
    assert skipped == named(WHAT_AWS_SAYS) | {"searches go to the reader"}
    assert lines[-1] == '{"ok": 8, "skipped": 5}'


def test_a_stack_that_fails_everywhere_fails_every_check(account: None) -> None:
    aws = asked_of(FakeStack("queue", is_sound=False))
    broken = httpx2.MockTransport(lambda _: httpx2.Response(500, text="broken", headers={"content-type": "text/plain"}))
    found = report("http://stack.example", aws, broken)
    assert {state for state, _ in found.values()} == {"failed"}


def test_a_stream_that_comes_at_once_fails(account: None) -> None:
    whole = b'id: r/1\ndata: {"type":"done"}\n\n'
    at_once = httpx2.MockTransport(lambda _: httpx2.Response(200, stream=httpx2.ByteStream(whole)))
    state, detail = report("http://stack.example", None, at_once)["streams come event by event"]
    assert (state, "2021-11-15" in detail) == ("failed", True)
