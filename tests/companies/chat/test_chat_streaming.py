"""The stream of a chat over a real server: it comes as it is made, and stops being made when nobody listens."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from tests.companies.chat.chatting import LED, QUESTION, critique, logged_run, playing, step_names
from tests.conftest import model_environment
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.running import running_server
from tests.waiting import PATIENCE_SECONDS

PIECES = ["Two ", "companies ", "line ", "up ", "orders."]


@pytest.fixture(scope="module")
def base_url(shared_sample_url: str, shared_model: FakeOpenAI) -> Iterator[str]:
    patient = {"MODEL_TIMEOUT_SECONDS": "5", "HEARTBEAT_SECONDS": "0.2", "RATE_LIMIT_PER_MINUTE": "0"}
    patient |= {"STREAM_GRACE_SECONDS": "0"}
    with running_server(shared_sample_url, **model_environment(shared_model.url) | patient) as url:
        yield url


@contextmanager
def chatting(base_url: str) -> Iterator[tuple[httpx2.Response, Iterator[str]]]:
    """A response whose stream is open, and the lines of it."""
    body = {"messages": [{"role": "user", "content": QUESTION}]}
    with (
        httpx2.Client(timeout=PATIENCE_SECONDS) as client,
        client.stream("POST", f"{base_url}/companies/chat", json=body) as response,
    ):
        yield response, response.iter_lines()


def test_each_event_reaches_the_client_when_it_happens(base_url: str, model: FakeOpenAI) -> None:
    permits = threading.Semaphore(0)
    model.respond = playing(summary=Reply.text("".join(PIECES), pieces=PIECES, permits=permits))
    types = []
    with chatting(base_url) as (_, lines):
        for line in lines:
            if line:
                event = json.loads(line)
                types.append(event["type"])
                # the model writes on only when what it wrote has arrived here
                is_judged = (event["data"].get("id"), event["data"].get("status")) == ("critique_1", "completed")
                if types[-1] == "partial_text" or is_judged:
                    permits.release()
    # the end of a sentence waits until it is checked
    assert types.count("partial_text") >= len(PIECES) - 1
    assert types[-1] == "final_answer"


def test_a_quiet_stream_has_heartbeats(base_url: str, model: FakeOpenAI) -> None:
    permits = threading.Semaphore(0)
    model.respond = playing(critiques=Reply.json(critique(), permits=permits))
    with chatting(base_url) as (_, lines):
        assert any(line and json.loads(line)["data"].get("id") == "critique_1" for line in lines)
        assert [next(lines), next(lines)] == ["", ""]
        permits.release()
        assert json.loads([line for line in lines if line][-1])["type"] == "final_answer"


@pytest.mark.parametrize(("left_at", "next_step"), [("rank_1", "company_critique"), ("answer", "none")])
def test_who_leaves_ends_the_search_before_its_next_step(
    base_url: str, model: FakeOpenAI, shared_sample_url: str, left_at: str, next_step: str
) -> None:
    slow = {
        "rank_1": {"rankings": Reply.hang(5)},
        "answer": {"summary": Reply.hang(5, after_pieces=PIECES)},
    }[left_at]
    model.respond = playing(**slow)
    with chatting(base_url) as (response, lines):
        for line in lines:
            event: dict[str, Any] = json.loads(line) if line else {"type": "", "data": {}}
            # the answer's step has begun for sure when its first piece is there
            if event["type"] == "partial_text" if left_at == "answer" else event["data"].get("id") == left_at:
                break
        while len(model.chat_requests) < {"rank_1": 2, "answer": 4}[left_at]:
            time.sleep(0.01)
    run = logged_run(shared_sample_url, response.headers["x-request-id"])
    assert (run["status"], run["end_reason"]) == ("abandoned", "abandoned")
    assert next_step not in step_names(run)
    assert step_names(run)[-1] == {"rank_1": "company_rerank", "answer": LED}[left_at]
    asyncio.run(model.wait_for_disconnect())
