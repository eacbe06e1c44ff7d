"""Model steps against a server that speaks OpenAI's wire format."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest
from pydantic import BaseModel, Field

from quarry.models.interface import ChatModel, Message
from quarry.models.openai_model import OpenAIChat
from quarry.models.step import ModelStep, decide, write
from quarry.platform.budget import Budget
from quarry.runs.run_log import Run
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.waiting import PATIENCE_SECONDS


class Topics(BaseModel):
    topics: list[str] = Field(min_length=1, max_length=3)


NAME_TOPICS: ModelStep[str, Topics] = ModelStep(
    name="name_topics",
    prompt=lambda query: [Message("system", "Name the topics."), Message("user", query)],
    output=Topics,
    fallback=lambda query: Topics(topics=[f"fallback for {query}"]),
)
ASKED = Message("user", "Why?")
FALLBACK = Topics(topics=["fallback for parks"])
VALID = Reply.json({"topics": ["parks"]})
INVALID = Reply.json({"topics": []})


def make_run(chat: ChatModel | None, *, max_turns: int = 5, max_tokens: int = 10_000, max_seconds: float = 30) -> Run:
    budget = Budget(max_turns=max_turns, max_calls=5, max_seconds=max_seconds, max_tokens=max_tokens)
    return Run("records", "demo", "parks", budget, chat)


async def test_without_a_model_the_fallback_decides_and_nothing_is_degraded() -> None:
    run = make_run(None)
    assert await decide(NAME_TOPICS, "parks", run) == FALLBACK
    assert run.degraded == []
    assert [(step.name, step.status) for step in run.steps] == [("name_topics", "completed")]
    assert run.budget.turns == 0


async def test_an_invalid_output_goes_back_once_with_what_is_wrong(model: FakeOpenAI, chat: OpenAIChat) -> None:
    model.enqueue(INVALID, VALID)
    run = make_run(chat)
    assert await decide(NAME_TOPICS, "parks", run) == Topics(topics=["parks"])
    assert run.degraded == []
    assert run.budget.turns == 2
    [first, second] = [request["messages"] for request in model.requests]
    assert second[: len(first)] == first
    assert "topics: List should have at least 1 item" in second[-1]["content"]


@pytest.mark.parametrize(
    ("replies", "requests"),
    [
        pytest.param([INVALID, INVALID, VALID], 2, id="invalid twice"),
        pytest.param(
            [Reply.text("Sure, parks!"), Reply.json({"topics": "parks"})], 2, id="no JSON, then the wrong type"
        ),
        pytest.param([INVALID, Reply.http_error(500)], 2, id="down during the repair"),
        pytest.param([Reply.refusal()], 1, id="refused"),
        pytest.param([Reply.http_error(500)], 1, id="down"),
        pytest.param([Reply.http_error(401)], 1, id="wrong key"),
        pytest.param([Reply.malformed()], 1, id="not the wire format"),
        pytest.param([Reply.drop_connection()], 1, id="connection broken"),
    ],
)
async def test_a_failing_model_is_replaced_and_the_step_degraded(
    model: FakeOpenAI, chat: OpenAIChat, replies: list[Reply], requests: int
) -> None:
    model.enqueue(*replies)
    run = make_run(chat)
    assert await decide(NAME_TOPICS, "parks", run) == FALLBACK
    assert run.degraded == ["name_topics"]
    assert run.steps[0].status == "degraded"
    assert len(model.requests) == requests == run.budget.turns


async def test_after_one_time_out_the_model_is_not_asked_again_in_the_run_and_the_cut_off_call_is_counted(
    model: FakeOpenAI, chat: OpenAIChat
) -> None:
    model.enqueue(Reply.json({"topics": ["parks"]}, delay=60))
    run = make_run(chat, max_seconds=0.5)
    assert await decide(NAME_TOPICS, "parks", run) == FALLBACK
    run.budget.max_seconds = 60
    assert await decide(NAME_TOPICS, "bridges", run) == Topics(topics=["fallback for bridges"])
    written = [
        piece
        async for piece in write("answer", run, lambda: [Message("user", "Why?")], lambda: ["By rule."], broken_off="")
    ]
    assert written == ["By rule."]
    assert len(model.requests) == 1
    assert (run.steps[0].counts, run.steps[0].usage.prompt_tokens > 0) == ({"cut_off": 1}, True)
    assert run.degraded == ["name_topics", "answer"]


async def test_text_that_drips_is_cut_off_when_the_patience_of_the_run_is_spent(
    model: FakeOpenAI, chat: OpenAIChat
) -> None:
    # one piece, and nothing more
    model.enqueue(VALID, replace(Reply.text("one two"), permits=threading.Semaphore(1)))
    run = make_run(chat)
    await decide(NAME_TOPICS, "bridges", run)
    run.budget.patience = 2.0
    began = time.monotonic()
    pieces = [piece async for piece in write("answer", run, lambda: [ASKED], lambda: ["By rule."], broken_off=" … ")]
    assert time.monotonic() - began < PATIENCE_SECONDS
    assert pieces == ["one", " … ", "By rule."]
    assert await decide(NAME_TOPICS, "parks", run) == FALLBACK
    assert len(model.requests) == 2


async def test_a_valid_decision_spends_no_patience_and_a_text_does(model: FakeOpenAI, chat: OpenAIChat) -> None:
    model.enqueue(VALID, Reply.text("It is new."))
    run = make_run(chat)
    await decide(NAME_TOPICS, "parks", run)
    assert run.budget.waited == 0.0
    assert [piece async for piece in write("answer", run, lambda: [ASKED], list, broken_off="")]
    assert run.budget.waited > 0.0
