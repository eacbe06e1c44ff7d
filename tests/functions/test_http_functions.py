"""The functions behind API Gateway, replaying recorded events."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import psycopg
import pytest
from snapshot_restore_py import get_after_restore

from quarry.web.streamed_response import PRELUDE_END, StreamedResponse
from tests.functions.conftest import Context, Event, recorded

Load = Callable[[str], ModuleType]

SUBJECT = "7c2f4d1e-90a3-4b65-8e1d-2f6a5b3c9d80"


def call(function: ModuleType, event: Event) -> dict[str, Any]:
    """The response of a function, a streamed one collected and in the form of a buffered one."""
    response = function.handler(event, Context())
    if not isinstance(response, StreamedResponse):
        buffered: dict[str, Any] = response
        return buffered

    async def collect() -> str:
        return b"".join([piece async for piece in response.body]).decode()

    body = function.environment.run(collect())
    head = json.loads(response.prelude.removesuffix(PRELUDE_END))
    return {**head, "body": body, "isBase64Encoded": False}


def body_of(response: dict[str, Any]) -> Any:
    assert response["isBase64Encoded"] is False
    return json.loads(response["body"])


def stream_of(response: dict[str, Any]) -> list[dict[str, Any]]:
    assert response["isBase64Encoded"] is False
    lines = (line for line in response["body"].splitlines() if line.startswith("data: "))
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def without_claims(event: Event) -> Event:
    del event["requestContext"]["authorizer"]
    return event


def test_importing_a_function_reads_no_setting_and_opens_nothing(
    load_function: Load, lambda_environment: pytest.MonkeyPatch
) -> None:
    lambda_environment.setenv("DATABASE_POOL_SIZE", "not a number")
    for name in ("search", "cache_lookup", "cleanup"):
        assert vars(load_function(name).environment) == {}


def test_an_answer_is_a_stream_and_can_be_opened_by_its_id(load_on_sample: Load) -> None:
    response = call(load_on_sample("search"), recorded("records/ask.json"))
    events = stream_of(response)
    answer_id = events[-1]["answer_id"]
    shared = recorded("records/answer.json") | {"path": f"/answers/{answer_id}"}

    opened = body_of(call(load_on_sample("cache_lookup"), shared))

    assert response["headers"]["content-type"].startswith("text/event-stream")
    assert events[-1]["type"] == "done"
    assert opened["answer"] == "".join(event["chunk"] for event in events if event["type"] == "final_answer_chunk")


def test_json_is_compressed_for_who_takes_it_and_streams_are_not(load_on_sample: Load) -> None:
    function = load_on_sample("search")

    def whole(path: str, encodings: str) -> tuple[dict[str, str], bytes]:
        event = recorded(path)
        event["headers"]["Accept-Encoding"] = encodings
        event["multiValueHeaders"]["Accept-Encoding"] = [encodings]
        response = function.handler(event, Context())

        async def collect() -> bytes:
            return b"".join([piece async for piece in response.body])

        body = function.environment.run(collect())
        headers: dict[str, str] = json.loads(response.prelude.removesuffix(PRELUDE_END))["headers"]
        return headers, body

    headers, body = whole("records/search.json", "br, gzip")
    plain_headers, plain = whole("records/search.json", "identity")
    assert (headers["content-encoding"], headers["vary"]) == ("gzip", "Accept-Encoding")
    assert json.loads(gzip.decompress(body)).keys() == json.loads(plain).keys()
    assert len(body) < len(plain) / 2
    assert "content-encoding" not in plain_headers
    headers, stream = whole("records/ask.json", "gzip")
    assert "content-encoding" not in headers
    assert b"data: " in stream


def test_only_a_signed_in_user_may_wake_the_database(load_on_sample: Load) -> None:
    function = load_on_sample("search")
    deep = recorded("service/deep_health.json")
    assert body_of(call(function, deep))["database"] == "ok"
    assert call(function, without_claims(deep))["statusCode"] == 401
    asked = recorded("service/health.json") | {
        "queryStringParameters": {"deep": "1"},
        "multiValueQueryStringParameters": {"deep": ["1"]},
    }
    assert call(function, asked)["statusCode"] == 401
    assert call(function, recorded("service/health.json"))["statusCode"] == 200


def test_a_function_serves_only_its_own_routes(load_on_sample: Load) -> None:
    function = load_on_sample("cache_lookup")
    assert call(function, recorded("records/search.json"))["statusCode"] == 404


def test_the_run_is_logged_under_the_verified_user_before_the_handler_returns(
    load_on_sample: Load, sample_url: str
) -> None:
    event = recorded("records/search.json")
    event["headers"]["Authorization"] = "Bearer somebody-else"
    call(load_on_sample("search"), event)
    with psycopg.connect(sample_url) as connection:
        runs = connection.execute("select caller, request_id from search_runs").fetchall()
    assert runs == [(SUBJECT, Context().aws_request_id)]


def test_invocations_share_services_until_a_restore(load_on_sample: Load) -> None:
    function = load_on_sample("search")
    before = call(function, recorded("records/search.json"))
    services = function.environment.services
    assert body_of(call(function, recorded("records/search.json"))) == body_of(before)
    assert function.environment.services is services
    for hook, arguments, options in get_after_restore():
        hook(*arguments, **options)
    assert vars(function.environment) == {}
    assert body_of(call(function, recorded("records/search.json"))) == body_of(before)
    assert function.environment.services is not services


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Authorization", "Bearer demo"),
        ("x-amzn-request-context", json.dumps({"authorizer": {"claims": {"sub": SUBJECT}}})),
        ("aws.event", json.dumps({"requestContext": {"authorizer": {"claims": {"sub": SUBJECT}}}})),
    ],
)
def test_no_header_replaces_verified_claims(load_on_sample: Load, header: str, value: str) -> None:
    event = without_claims(recorded("records/search.json"))
    event["headers"][header] = value
    event["multiValueHeaders"][header] = [value]
    problem = body_of(call(load_on_sample("search"), event))
    assert (problem["status"], problem["type"]) == (401, "urn:quarry:problem:not-signed-in")
