"""The stream of an answer over a real server: it comes as it is made, and stops being made when nobody listens."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from tests.conftest import model_environment
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.records.asking import QUESTION, logged_run, playing, stored_answers
from tests.running import running_server
from tests.waiting import PATIENCE_SECONDS

PIECES = ["The elm ", "was kept ", "because it ", "is sound ", "[1]."]


@pytest.fixture(scope="module")
def base_url(shared_sample_url: str, shared_model: FakeOpenAI) -> Iterator[str]:
    environment = model_environment(shared_model.url) | {
        "MODEL_TIMEOUT_SECONDS": "5",
        "HEARTBEAT_SECONDS": "0.5",
        "STREAM_GRACE_SECONDS": "0",
    }
    with running_server(shared_sample_url, RATE_LIMIT_PER_MINUTE="0", **environment) as url:
        yield url


@contextmanager
def asking(base_url: str) -> Iterator[tuple[httpx2.Response, Iterator[str]]]:
    """A response whose stream is open, and the lines of it."""
    with (
        httpx2.Client(timeout=PATIENCE_SECONDS) as client,
        client.stream("GET", f"{base_url}/records/ask", params={"q": QUESTION, "fresh": "true"}) as response,
    ):
        yield response, (line for line in response.iter_lines() if line)


def event(line: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(line.removeprefix("data: "))
    return read


def test_each_event_comes_when_it_happens(base_url: str, model: FakeOpenAI) -> None:
    permits = threading.Semaphore(2)
    pieces = ["Sources: 1\n\n", *PIECES]
    model.respond = playing(answer=Reply.text("".join(pieces), pieces=pieces, permits=permits))
    types = []
    with asking(base_url) as (response, lines):
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        for line in lines:
            if line.startswith("data: "):
                types.append(event(line)["type"])
                # the model writes on only when what it wrote has arrived here
                if types[-1] == "final_answer_chunk":
                    permits.release()
    assert types.count("final_answer_chunk") == len(PIECES)
    assert types[-1] == "done"


def test_a_quiet_stream_has_a_heartbeat(base_url: str, model: FakeOpenAI) -> None:
    permits = threading.Semaphore(0)
    model.respond = playing(research=[Reply.text("DONE", permits=permits)])
    with asking(base_url) as (_, lines):
        assert any('"tool_observation"' in line for line in lines)
        assert next(lines).startswith(":")
        assert next(lines).startswith(":")
        permits.release()
        assert event([line for line in lines if line.startswith("data: ")][-1])["type"] == "done"


@pytest.mark.parametrize("left_at", ["tool_observation", "final_answer_chunk"])
def test_who_leaves_ends_the_work_and_nothing_is_stored(
    base_url: str, model: FakeOpenAI, shared_sample_url: str, left_at: str
) -> None:
    stored = stored_answers(shared_sample_url)
    slow = Reply.hang(5) if left_at == "tool_observation" else Reply.hang(5, after_pieces=PIECES)
    model.respond = playing(research=[slow]) if left_at == "tool_observation" else playing(answer=slow)
    with asking(base_url) as (response, lines):
        for line in lines:
            if line.startswith("data: ") and event(line)["type"] == left_at:
                break
        asyncio.run(model.wait_for_request())
    run = logged_run(shared_sample_url, response.headers["x-request-id"])
    assert (run["status"], run["end_reason"]) == ("abandoned", "abandoned")
    asyncio.run(model.wait_for_disconnect())
    assert stored_answers(shared_sample_url) == stored
    assert "records_followups" not in run["steps"]


def test_many_answers_at_once_do_not_mix(base_url: str, model: FakeOpenAI) -> None:
    model.respond = playing(answer=Reply.text("".join(PIECES), pieces=PIECES, delay=0.02))
    answers: list[list[str]] = []

    def listen() -> None:
        with asking(base_url) as (_, lines):
            answers.append([line for line in lines if line.startswith("data: ")])

    threads = [threading.Thread(target=listen) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = {"".join(event(line).get("chunk", "") for line in lines) for lines in answers}
    ids = {event(lines[-1])["answer_id"] for lines in answers}
    assert (texts, len(ids)) == ({"".join(PIECES)}, 12)
