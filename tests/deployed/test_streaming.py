"""The search function as Lambda runs it: its own process under the streaming runtime, behind API Gateway."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
import psycopg
import pytest

from quarry.streaming.events import LATE_MESSAGE
from quarry.web.middleware import RESERVE_SECONDS
from tests.deployed.conftest import CHECKOUT, Start
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.functions.conftest import recorded
from tests.records.asking import QUESTION, logged_run, playing
from tests.waiting import PATIENCE_SECONDS
from tools.rehearsal.front_door import front_door
from tools.rehearsal.runtime_api import (
    VERSION,
    WAIT_SECONDS,
    Event,
    FunctionProcess,
    Installation,
    running_function,
    split_prelude,
)

PIECES = ["Sources: 1\n\nThe elm ", "was kept ", "because it ", "is sound ", "[1]."]
SUBJECT = "7c2f4d1e-90a3-4b65-8e1d-2f6a5b3c9d80"

# Breaks off where no route of ours does.
BREAKABLE = """
from fastapi import APIRouter
from starlette.responses import StreamingResponse
from quarry.web.lambda_app import ExecutionEnvironment

router = APIRouter()

@router.get("/breaks-off")
def breaks_off():
    async def pieces():
        yield b"one"
        raise ZeroDivisionError("between two pieces")
    return StreamingResponse(pieces())

environment = ExecutionEnvironment()
handler = environment.stream([router], documented=[])
"""


@pytest.fixture(scope="module")
def search(
    deployed_environment: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FunctionProcess]:
    """One process of the search function, for many invocations; test_artifacts uses the built one."""
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


def test_an_error_after_the_first_byte_interrupts_the_response(breakable: FunctionProcess) -> None:
    invocation = breakable.api.invoke(get("/breaks-off"))
    _, body = split_prelude(invocation.response())
    assert body == b"one"
    assert invocation.trailers["lambda-runtime-function-error-type"] == "ZeroDivisionError"
    assert invocation.stream_error["errorMessage"] == "between two pieces"
    with front_door(breakable.api) as url, pytest.raises(httpx2.RemoteProtocolError):
        httpx2.get(f"{url}/breaks-off", timeout=PATIENCE_SECONDS)


def test_a_client_that_leaves_ends_the_work_but_not_the_environment(
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
    of_version = [line for line in search.log_lines() if line.get("function_version") == VERSION]
    assert (of_version[-1]["Searches"], of_version[-1]["FailedSearches"]) == ([1.0], [1.0])


def test_a_response_not_started_near_its_deadline_is_a_problem(
    search: FunctionProcess, deployed_database_url: str
) -> None:
    with psycopg.connect(deployed_database_url) as connection:
        connection.execute("lock table motions in access exclusive mode")
        invocation = search.api.invoke(recorded("records/search.json"), seconds=RESERVE_SECONDS)
        prelude, body = split_prelude(invocation.response())
    assert (prelude["statusCode"], prelude["headers"]["retry-after"]) == (503, "5")
    assert json.loads(body)["request_id"] == prelude["headers"]["x-request-id"] == invocation.id


def test_a_snapshot_has_no_connection_and_answers_after_its_restore(start: Start, database_url: str) -> None:
    api = start(DATABASE_URL=database_url, AWS_LAMBDA_INITIALIZATION_TYPE="snap-start").api
    assert api.snapshot_taken.wait(WAIT_SECONDS)
    with psycopg.connect(database_url) as connection:
        others = connection.execute(
            "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        )
        assert others.fetchall() == []
    api.restored.set()
    prelude, _ = split_prelude(api.invoke(recorded("records/search.json")).response())
    assert prelude["statusCode"] == 200


def test_wrong_settings_fail_the_snapshot(start: Start) -> None:
    function = start(AWS_LAMBDA_INITIALIZATION_TYPE="snap-start", DATABASE_POOL_SIZE="none")
    assert "DATABASE_POOL_SIZE" in function.api.init_error()["errorMessage"]
