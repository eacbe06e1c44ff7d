"""The circuit breaker by itself, on a clock that the test moves, and a chat model behind it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from quarry.models.circuit_breaker import COOL_DOWN_SECONDS, COOL_DOWN_SECONDS_MAX, CircuitBreaker, GuardedChat
from quarry.models.interface import Message
from quarry.models.openai_model import OpenAIChat
from quarry.platform.errors import ModelError, ModelRefused, ModelUnavailable
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.waiting import FakeClock

MESSAGES = [Message("user", "Which parks are new?")]
PATIENCE = 20.0
DOWN = ModelUnavailable("down")


class Topics(BaseModel):
    topics: list[str]


def make_breaker(clock: FakeClock, *, failures_max: int = 3) -> CircuitBreaker:
    return CircuitBreaker("gpt-4o-mini", failures_max=failures_max, patience_seconds=PATIENCE, clock=clock)


def call(breaker: CircuitBreaker, error: BaseException | None = None) -> None:
    """A call that ends in `error`. Raises ModelUnavailable where the breaker does not let it through."""
    attempt = breaker.attempt()
    with suppress(ModelError, asyncio.CancelledError), attempt:
        if error is not None:
            raise error


OUTCOMES: list[BaseException | None] = [None, DOWN, ModelRefused("no"), asyncio.CancelledError()]


@given(st.lists(st.tuples(st.sampled_from(OUTCOMES), st.floats(0, 100)), max_size=60))
def test_whatever_happens_it_is_open_only_after_failures_and_never_for_good(
    history: list[tuple[BaseException | None, float]],
) -> None:
    clock = FakeClock()
    breaker = make_breaker(clock)
    in_a_row = 0
    for outcome, seconds in history:
        try:
            call(breaker, outcome)
        except ModelUnavailable:
            assert breaker.state == "failing"
            assert in_a_row >= 3
        else:
            if outcome is DOWN:
                in_a_row += 1
            elif not isinstance(outcome, asyncio.CancelledError):
                in_a_row = 0
        assert (breaker.state == "ok") == (in_a_row < 3)
        clock.now += seconds
    clock.now += COOL_DOWN_SECONDS_MAX
    call(breaker)
    assert breaker.state == "ok"


async def test_of_many_calls_at_once_one_tries_whether_the_model_is_back(model: FakeOpenAI, chat: OpenAIChat) -> None:
    clock = FakeClock()
    breaker = make_breaker(clock)
    guarded = GuardedChat(chat, breaker)

    async def decide() -> list[str]:
        return (await guarded.decide(MESSAGES, name="topics", output_type=Topics, seconds=5)).output.topics

    model.respond = lambda body: Reply.http_error(500)
    await asyncio.gather(*(decide() for _ in range(5)), return_exceptions=True)
    asked = len(model.requests)
    with pytest.raises(ModelUnavailable, match="left alone"):
        await decide()
    clock.now += COOL_DOWN_SECONDS
    model.respond = lambda body: Reply.json({"topics": ["parks"]}, delay=0.05)
    answers = await asyncio.gather(*(decide() for _ in range(20)), return_exceptions=True)
    assert len(model.requests) == asked + 1
    assert answers.count(["parks"]) == 1
    assert breaker.state == "ok"
