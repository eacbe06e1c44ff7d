"""The circuit breaker by itself, on a clock that the test moves, and a chat model behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from quarry.models.circuit_breaker import COOL_DOWN_SECONDS, COOL_DOWN_SECONDS_MAX, CircuitBreaker, GuardedChat
from quarry.models.interface import Message
from quarry.models.openai_model import OpenAIChat
from quarry.platform.errors import (
    ModelError,
    ModelRefused,
    ModelUnavailable,
)
from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.platform.test_budget import FakeClock

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


def state_of(breaker: CircuitBreaker) -> str:
    return breaker.state


def test_repeated_failures_open_it_and_who_comes_is_told_when_to_come_again() -> None:
    breaker = make_breaker(FakeClock())
    for _ in range(2):
        call(breaker, DOWN)
        assert state_of(breaker) == "ok"
    call(breaker, DOWN)
    assert state_of(breaker) == "failing"
    with pytest.raises(ModelUnavailable) as raised:
        breaker.attempt()
    assert raised.value.retry_after_seconds == COOL_DOWN_SECONDS


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
            assert state_of(breaker) == "failing"
            assert in_a_row >= 3
        else:
            if outcome is DOWN:
                in_a_row += 1
            elif not isinstance(outcome, asyncio.CancelledError):
                in_a_row = 0
        assert (state_of(breaker) == "ok") == (in_a_row < 3)
        clock.now += seconds
    clock.now += COOL_DOWN_SECONDS_MAX
    call(breaker)
    assert state_of(breaker) == "ok"


class TestGuardedChat:
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    def breaker(self, clock: FakeClock) -> CircuitBreaker:
        return make_breaker(clock)

    @pytest.fixture
    async def guarded(self, server: FakeOpenAI, breaker: CircuitBreaker) -> AsyncIterator[GuardedChat]:
        model = OpenAIChat(api_key="key", base_url=server.url, model="gpt-4o-mini", max_retries=0, timeout_seconds=5)
        yield GuardedChat(model, breaker)
        await model.close()

    async def decide(self, chat: GuardedChat) -> list[str]:
        return (await chat.decide(MESSAGES, name="topics", output_type=Topics, seconds=5)).output.topics

    async def read(self, chat: GuardedChat) -> str:
        return "".join([piece async for piece in chat.stream(MESSAGES, seconds=5).pieces])

    async def test_all_its_calls_count_together_and_an_open_one_asks_no_server(
        self, server: FakeOpenAI, guarded: GuardedChat
    ) -> None:
        server.respond = lambda body: Reply.http_error(503)
        for failing in (self.decide(guarded), self.read(guarded), guarded.take_turn(MESSAGES, tools=(), seconds=5)):
            with pytest.raises(ModelUnavailable, match="503"):
                await failing
        for refused in (self.decide(guarded), self.read(guarded), guarded.take_turn(MESSAGES, tools=(), seconds=5)):
            with pytest.raises(ModelUnavailable, match="left alone"):
                await refused
        assert len(server.requests) == 3

    async def test_of_many_calls_at_once_one_tries_whether_the_model_is_back(
        self, server: FakeOpenAI, guarded: GuardedChat, clock: FakeClock, breaker: CircuitBreaker
    ) -> None:
        server.respond = lambda body: Reply.http_error(500)
        await asyncio.gather(*(self.decide(guarded) for _ in range(5)), return_exceptions=True)
        asked = len(server.requests)
        clock.now += COOL_DOWN_SECONDS
        server.respond = lambda body: Reply.json({"topics": ["parks"]}, delay=0.05)
        answers = await asyncio.gather(*(self.decide(guarded) for _ in range(20)), return_exceptions=True)
        assert len(server.requests) == asked + 1
        assert answers.count(["parks"]) == 1
        assert state_of(breaker) == "ok"
