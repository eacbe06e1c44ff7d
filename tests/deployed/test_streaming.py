"""The search function as Lambda runs it: a process of its own under the streaming runtime, and API Gateway before it."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psycopg
import pytest
from psycopg.sql import SQL

from quarry.streaming.events import LATE_MESSAGE
from quarry.web.middleware import RESERVE_SECONDS
from tests.deployed.conftest import CHECKOUT, Start
from tests.deployed.front_door import front_door
from tests.deployed.runtime_api import (
    WAIT_SECONDS,
    Event,
    FunctionProcess,
    Installation,
    running_function,
    split_prelude,
)
from tests.deployed.secrets_manager import secrets_manager
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.functions.conftest import recorded
from tests.records.asking import QUESTION, logged_run, playing
from tests.waiting import PATIENCE_SECONDS

PIECES = ["Sources: 1\n\nThe elm ", "was kept ", "because it ", "is sound ", "[1]."]
SUBJECT = "7c2f4d1e-90a3-4b65-8e1d-2f6a5b3c9d80"

# Answers with the parts of HTTP that no route of ours has, and breaks off where no route of ours does.
BREAKABLE = """
import sys
from fastapi import APIRouter
from starlette.responses import JSONResponse, StreamingResponse
from quarry.web.lambda_app import ExecutionEnvironment

router = APIRouter()

@router.get("/breaks-off")
def breaks_off():
    async def pieces():
        yield b"one"
        raise ZeroDivisionError("between two pieces")
    return StreamingResponse(pieces())

@router.get("/breaks")
def breaks():
    raise ZeroDivisionError("before the first byte")

@router.get("/headers")
def headers():
    response = JSONResponse({"openai": "openai" in sys.modules}, 201, {"Vary": "Accept"})
    response.set_cookie("a", "1")
    response.set_cookie("b", "2")
    response.headers.append("Link", "<a>")
    response.headers.append("Link", "<b>")
    return response

environment = ExecutionEnvironment()
handler = environment.stream([router], documented=[])
"""


@pytest.fixture(scope="module")
def search(
    deployed_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FunctionProcess]:
    """One process of the search function, for many invocations; test_artifacts has it as built."""
    with running_function(CHECKOUT, deployed_environment, tmp_path_factory.mktemp("function")) as function:
        yield function


@pytest.fixture(scope="module")
def url(search: FunctionProcess) -> Iterator[str]:
    with front_door(search.api) as url:
        yield url


@pytest.fixture(scope="module")
def breakable(
    deployed_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FunctionProcess]:
    """A function of the routes above."""
    folder = tmp_path_factory.mktemp("breakable")
    (folder / "app.py").write_text(BREAKABLE)
    with running_function(
        Installation(CHECKOUT.python, folder, CHECKOUT.packages), deployed_environment, folder
    ) as function:
        yield function


@contextmanager
def asking(url: str) -> Iterator[tuple[httpx2.Response, Iterator[str]]]:
    """A response whose stream is open, and the lines of it."""
    with (
        httpx2.Client(timeout=PATIENCE_SECONDS, headers={"Authorization": f"Bearer {SUBJECT}"}) as client,
        client.stream("POST", f"{url}/records/ask", json={"question": QUESTION, "fresh": True}) as response,
    ):
        yield response, (line for line in response.iter_lines() if line and not line.startswith("id: "))


def event_of(line: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(line.removeprefix("data: "))
    return event


def events_of(lines: Iterator[str]) -> list[dict[str, Any]]:
    return [event_of(line) for line in lines if line.startswith("data: ")]


def get(path: str) -> Event:
    """A signed-in user's request."""
    return recorded("records/search.json") | {
        "path": path,
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
    }


def test_each_event_reaches_the_client_when_it_happens(url: str, model: FakeOpenAI) -> None:
    permits = threading.Semaphore(1)
    model.respond = playing(answer=Reply.text("".join(PIECES), pieces=PIECES, permits=permits))
    types = []
    with asking(url) as (response, lines):
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        for line in lines:
            if line.startswith("data: "):
                types.append(event_of(line)["type"])
                # the model writes on only when what it wrote has arrived here
                if types[-1] == "final_answer_chunk":
                    permits.release()
    assert types[0] == "intent"
    assert types.count("final_answer_chunk") == len(PIECES)
    assert types[-1] == "done"


def test_the_wire_format_is_a_prelude_eight_nul_bytes_and_the_body(search: FunctionProcess, model: FakeOpenAI) -> None:
    invocation = search.api.invoke(recorded("records/ask.json"))
    prelude, body = split_prelude(invocation.response())
    assert invocation.headers["Lambda-Runtime-Function-Response-Mode"] == "streaming"
    assert invocation.headers["Transfer-Encoding"] == "chunked"
    assert invocation.headers["Content-Type"] == "application/vnd.awslambda.http-integration-response"
    assert invocation.headers["Trailer"] == "Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body"
    assert prelude == {
        "statusCode": 200,
        "headers": {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-store",
            "x-accel-buffering": "no",
            "x-content-type-options": "nosniff",
            "x-request-id": invocation.id,
        },
    }
    assert events_of(iter(body.decode().splitlines()))[-1]["type"] == "done"
    assert invocation.trailers == {}


def test_headers_that_repeat_and_cookies_have_places_of_their_own(breakable: FunctionProcess) -> None:
    prelude, _ = split_prelude(breakable.api.invoke(get("/headers")).response())
    assert prelude["statusCode"] == 201
    assert prelude["multiValueHeaders"] == {"link": ["<a>", "<b>"]}
    assert [cookie.split(";")[0] for cookie in prelude["cookies"]] == ["a=1", "b=2"]
    assert prelude["headers"]["vary"] == "Accept"


def test_a_body_in_base64_is_read(search: FunctionProcess) -> None:
    event = recorded("records/ask.json")
    event |= {"body": base64.b64encode(b'{"question": ""}').decode(), "isBase64Encoded": True}
    prelude, body = split_prelude(search.api.invoke(event).response())
    assert (prelude["statusCode"], json.loads(body)["errors"][0]["pointer"]) == (422, "/question")


def test_without_claims_nobody_is_signed_in(search: FunctionProcess) -> None:
    event = recorded("records/ask.json")
    del event["requestContext"]["authorizer"]
    prelude, body = split_prelude(search.api.invoke(event).response())
    assert (prelude["statusCode"], json.loads(body)["title"]) == (401, "Not signed in")


def test_an_error_before_the_first_byte_is_an_ordinary_error(search: FunctionProcess) -> None:
    invocation = search.api.invoke({"not": "a request"})
    assert invocation.response() == b""
    assert invocation.failure is not None
    assert invocation.failure["errorType"] == "KeyError"
    assert split_prelude(search.api.invoke(recorded("records/search.json")).response())[0]["statusCode"] == 200


def test_what_fails_before_the_first_byte_in_a_route_is_a_problem(breakable: FunctionProcess) -> None:
    invocation = breakable.api.invoke(get("/breaks"))
    prelude, body = split_prelude(invocation.response())
    assert (prelude["statusCode"], json.loads(body)["request_id"]) == (500, invocation.id)
    assert b"ZeroDivisionError" not in body
    [logged] = [
        line
        for line in breakable.log_lines()
        if line.get("function_request_id") == invocation.id and line.get("exception_name")
    ]
    assert (logged["exception_name"], logged["function_request_id"]) == ("ZeroDivisionError", invocation.id)
    assert (logged["service"], logged["level"]) == ("quarry", "ERROR")


def test_an_error_after_the_first_byte_breaks_the_response_off(breakable: FunctionProcess) -> None:
    invocation = breakable.api.invoke(get("/breaks-off"))
    _, body = split_prelude(invocation.response())
    assert body == b"one"
    assert invocation.trailers["lambda-runtime-function-error-type"] == "ZeroDivisionError"
    assert invocation.stream_error["errorMessage"] == "between two pieces"
    assert split_prelude(breakable.api.invoke(get("/headers")).response())[0]["statusCode"] == 201


def test_a_client_sees_that_a_response_broke_off(breakable: FunctionProcess) -> None:
    with front_door(breakable.api) as url, pytest.raises(httpx2.RemoteProtocolError):
        httpx2.get(f"{url}/breaks-off", timeout=PATIENCE_SECONDS)


def test_an_error_in_a_begun_stream_is_its_last_event(url: str, deployed_database_url: str) -> None:
    with psycopg.connect(deployed_database_url, autocommit=True) as connection:
        connection.execute("alter function read_query rename to moved")
        try:
            with asking(url) as (response, lines):
                events = events_of(lines)
        finally:
            connection.execute("alter function moved rename to read_query")
    assert response.status_code == 200
    assert (events[0]["type"], events[-1]["type"]) == ("intent", "error")
    assert "read_query" not in events[-1]["message"]


def test_when_a_client_leaves_the_work_ends_and_the_environment_goes_on(
    url: str, model: FakeOpenAI, deployed_database_url: str
) -> None:
    model.respond = playing(answer=Reply.hang(5, after_pieces=PIECES))
    with asking(url) as (response, lines):
        for line in lines:
            if line.startswith("data: ") and event_of(line)["type"] == "final_answer_chunk":
                break
    run = logged_run(deployed_database_url, response.headers["x-request-id"])
    assert (run["status"], run["end_reason"]) == ("abandoned", "abandoned")
    model.reset()
    with asking(url) as (_, lines):
        assert events_of(lines)[-1]["type"] == "done"


def failed_searches(search: FunctionProcess) -> list[dict[str, Any]]:
    """The lines of the log that count some."""
    return [line for line in search.log_lines() if line.get("FailedSearches") and line.get("domain") == "records"]


def test_near_its_deadline_a_stream_ends_with_an_error_event_and_its_run_is_recorded(
    search: FunctionProcess, model: FakeOpenAI, deployed_database_url: str
) -> None:
    model.respond = playing(research=[Reply.hang(60)])
    failed_before, started = len(failed_searches(search)), time.monotonic()
    invocation = search.api.invoke(recorded("records/ask.json"), seconds=RESERVE_SECONDS + 0.5)
    _, body = split_prelude(invocation.response())
    events = events_of(iter(body.decode().splitlines()))
    assert time.monotonic() - started < 60
    assert events[0]["type"] == "intent"
    assert events[-1] == {"type": "error", "message": LATE_MESSAGE}
    assert invocation.trailers == {}
    assert logged_run(deployed_database_url, invocation.id)["status"] == "abandoned"
    # nobody left: it counts as failed
    assert len(failed_searches(search)) == failed_before + 1


def test_a_response_that_has_not_begun_near_its_deadline_is_a_problem(
    search: FunctionProcess, deployed_database_url: str
) -> None:
    with psycopg.connect(deployed_database_url) as connection:
        connection.execute("lock table motions in access exclusive mode")
        invocation = search.api.invoke(recorded("records/search.json"), seconds=RESERVE_SECONDS)
        prelude, body = split_prelude(invocation.response())
    assert (prelude["statusCode"], prelude["headers"]["retry-after"]) == (503, "5")
    assert json.loads(body)["request_id"] == prelude["headers"]["x-request-id"] == invocation.id


def test_a_snapshot_holds_imports_and_no_connection(start: Start, database_url: str, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BREAKABLE)
    api = start(tmp_path, DATABASE_URL=database_url, AWS_LAMBDA_INITIALIZATION_TYPE="snap-start").api
    assert api.snapshot_taken.wait(WAIT_SECONDS)
    with psycopg.connect(database_url) as connection:
        others = connection.execute(
            "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        )
        assert others.fetchall() == []
    api.restored.set()
    _, body = split_prelude(api.invoke(get("/headers")).response())
    assert json.loads(body) == {"openai": True}


def test_a_restored_environment_answers(start: Start, model: FakeOpenAI) -> None:
    function = start(AWS_LAMBDA_INITIALIZATION_TYPE="snap-start")
    function.api.restored.set()
    prelude, body = split_prelude(function.api.invoke(recorded("records/ask.json")).response())
    assert function.api.snapshot_taken.is_set()
    assert prelude["statusCode"] == 200
    assert events_of(iter(body.decode().splitlines()))[-1]["type"] == "done"


def test_wrong_settings_fail_the_snapshot(start: Start) -> None:
    function = start(AWS_LAMBDA_INITIALIZATION_TYPE="snap-start", DATABASE_POOL_SIZE="none")
    assert "DATABASE_POOL_SIZE" in function.api.init_error()["errorMessage"]


def test_under_sam_local_a_response_is_one_json_object(start: Start, model: FakeOpenAI) -> None:
    invocation = start(AWS_SAM_LOCAL="true").api.invoke(recorded("records/ask.json"))
    response = json.loads(invocation.response())
    assert invocation.headers["Content-Type"] == "application/json"
    assert response["statusCode"] == 200
    assert events_of(iter(response["body"].splitlines()))[-1]["type"] == "done"


def test_secrets_are_read_at_run_time_and_a_rotated_password_anew(
    start: Start, model: FakeOpenAI, deployed_database_url: str
) -> None:
    parts = urlsplit(deployed_database_url)
    where = parts._replace(netloc=f"{parts.hostname}:{parts.port}").geturl()

    def rotate(password: str) -> None:
        with psycopg.connect(deployed_database_url, autocommit=True) as connection:
            connection.execute(SQL("alter role rotated password {}").format(password))
            connection.execute("select pg_terminate_backend(pid, 1000) from pg_stat_activity where usename = 'rotated'")
        secrets.put("database", json.dumps({"username": "rotated", "password": password}))

    with secrets_manager() as secrets, psycopg.connect(deployed_database_url, autocommit=True) as connection:
        connection.execute("create role rotated superuser login")
        try:
            rotate("first")
            secrets.put("key", "sk-of-the-secret")
            function = start(
                AWS_ENDPOINT_URL_SECRETS_MANAGER=secrets.url,
                DATABASE_URL=where,
                DATABASE_SECRET_ARN=secrets.arn("database"),
                OPENAI_API_KEY=None,
                OPENAI_SECRET_ARN=secrets.arn("key"),
            )
            function.api.invoke(recorded("records/ask.json")).response()
            assert {headers["authorization"] for headers in model.headers} == {"Bearer sk-of-the-secret"}
            asked = len(secrets.asked)
            rotate("second")
            prelude, _ = split_prelude(function.api.invoke(recorded("records/search.json")).response())
            assert prelude["statusCode"] == 200
            assert set(secrets.asked[asked:]) == {secrets.arn("database")}
            assert "first" not in function.log
        finally:
            connection.execute("select pg_terminate_backend(pid, 1000) from pg_stat_activity where usename = 'rotated'")
            connection.execute("drop role rotated")
