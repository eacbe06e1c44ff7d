"""The check of a release before it gets traffic."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from quarry.platform.contract import DOMAINS
from quarry.probes import fault
from tests.functions.conftest import Context

Load = Callable[[str], ModuleType]

VERSION = "arn:aws:lambda:us-east-1:123456789012:function:quarry-search:7"
ASKED = {"DeploymentId": "d-ABC", "LifecycleEventHookExecutionId": "hook-1"}

SSE = 'id: r/1\ndata: {{"type":"sources"}}\n\nid: r/2\ndata: {}\n\n'
NDJSON = '{{"type":"activity","data":{{}}}}\n\n{}\n'


class Aws:
    """Lambda, with the function `search` behind it, and CodeDeploy."""

    def __init__(self, search: Callable[[dict[str, Any], Context], Any]) -> None:
        self._search = search
        self.asked: list[dict[str, Any]] = []
        self.reported: list[dict[str, str]] = []

    def client(self, service: str, **_: object) -> Aws:
        assert service in ("lambda", "codedeploy")
        return self

    def invoke_with_response_stream(self, *, FunctionName: str, Payload: str) -> dict[str, Any]:  # noqa: N803
        assert FunctionName == VERSION
        event = json.loads(Payload)
        self.asked.append(event)
        wire = self._search(event, Context(60_000))
        if isinstance(wire, str):
            return {"EventStream": [{"InvokeComplete": {"ErrorCode": wire}}]}
        pieces = [{"PayloadChunk": {"Payload": wire[at : at + 100]}} for at in range(0, len(wire), 100)]
        return {"EventStream": [*pieces, {"InvokeComplete": {}}]}

    def put_lifecycle_event_hook_execution_status(self, **reported: str) -> None:
        self.reported.append(reported)


@pytest.fixture
def check(load_function: Load, lambda_environment: pytest.MonkeyPatch) -> Callable[..., tuple[dict[str, str], Aws]]:
    """Runs the function on another one that answers as given."""
    lambda_environment.setenv("CHECKED_FUNCTION", VERSION)
    module = load_function("check")

    def run(search: Callable[[dict[str, Any], Context], Any], event: dict[str, str]) -> tuple[dict[str, str], Aws]:
        aws = Aws(search)
        lambda_environment.setattr(module.boto3, "client", aws.client)
        return module.handler(event, Context()), aws

    return run


def streamed_by(module: ModuleType) -> Callable[[dict[str, Any], Context], bytes]:
    """The output of the function `search`, as its runtime sends it."""

    def invoke(event: dict[str, Any], context: Context) -> bytes:
        response = module.handler(event, context)

        async def whole() -> bytes:
            return bytes(response.prelude) + b"".join([piece async for piece in response.body])

        wire: bytes = module.environment.run(whole())
        return wire

    return invoke


def test_a_release_that_answers_every_domain_gets_traffic(
    check: Callable[..., tuple[dict[str, str], Aws]], load_on_sample: Load
) -> None:
    faults, aws = check(streamed_by(load_on_sample("search")), ASKED)
    assert faults == {}
    assert aws.reported == [{"deploymentId": "d-ABC", "lifecycleEventHookExecutionId": "hook-1", "status": "Succeeded"}]
    # each deployment is a user of its own, who has credits
    assert {each["requestContext"]["authorizer"]["claims"]["sub"] for each in aws.asked} == {"check-d-ABC"}


def test_a_release_whose_streams_end_in_an_error_is_rejected(
    check: Callable[..., tuple[dict[str, str], Aws]],
    load_function: Load,
    lambda_environment: pytest.MonkeyPatch,
    database_url: str,
) -> None:
    lambda_environment.setenv("DATABASE_URL", database_url)
    search = load_function("search")
    import psycopg

    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("alter table campaigns rename to campaigns_of_old")
        connection.execute("alter table companies rename to companies_of_old")
    faults, aws = check(streamed_by(search), ASKED)
    assert faults.keys() >= {"campaigns", "companies"}
    assert [each["status"] for each in aws.reported] == ["Failed"]


def test_a_function_that_fails_or_answers_without_a_head_is_rejected_and_a_manual_check_reports_to_nobody(
    check: Callable[..., tuple[dict[str, str], Aws]],
) -> None:
    faults, aws = check(lambda event, _: "Runtime.ExitError" if "records" in event["path"] else b"no head", {})
    assert faults == dict.fromkeys(DOMAINS, "the response has no head") | {
        "records": "the function failed: Runtime.ExitError"
    }
    assert aws.reported == []


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (200, '{"results": [], "type": "done"}', None),
        (200, SSE.format('{"type":"done"}'), None),
        (200, NDJSON.format('{"type":"final_answer","data":{}}'), None),
        (200, NDJSON.format('{"type":"error","data":{}}'), "the stream ended in an error"),
        (200, NDJSON.format('{"type":"partial_text","data":{}}'), "the stream ended in partial_text"),
        (200, "", "no answer"),
        (500, "{}", "status 500"),
    ],
)
def test_only_a_complete_answer_counts(status: int, text: str, expected: str | None) -> None:
    assert fault(status, text) == expected
