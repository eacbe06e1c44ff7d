"""The circuit breaker by itself, on a clock that the test moves, and a chat model behind it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from quarry.models.circuit_breaker import COOL_DOWN_SECONDS, COOL_DOWN_SECONDS_MAX, CircuitBreaker
from quarry.models.guarded_chat import GuardedChat
from quarry.models.interface import Keep, Message, ToolDefinition
from quarry.models.openai_model import OpenAIChat
from quarry.platform.errors import (
    ModelError,
    ModelOutputInvalid,
    ModelRefused,
    ModelRequestRejected,
    ModelTimedOut,
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


def lets_through(breaker: CircuitBreaker) -> bool:
    try:
        call(breaker, asyncio.CancelledError())
    except ModelUnavailable:
        return False
    return True


def state_of(breaker: CircuitBreaker) -> str:
    return breaker.state


def opened(clock: FakeClock) -> CircuitBreaker:
    breaker = make_breaker(clock)
    for _ in range(3):
        call(breaker, DOWN)
    return breaker


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


@pytest.mark.parametrize("answer", [None, ModelRefused("no"), ModelOutputInvalid("?")])
def test_an_answer_of_any_kind_between_failures_keeps_it_closed(answer: ModelError | None) -> None:
    breaker = make_breaker(FakeClock())
    for _ in range(5):
        call(breaker, DOWN)
        call(breaker, DOWN)
        call(breaker, answer)
    assert state_of(breaker) == "ok"


@pytest.mark.parametrize("error", [asyncio.CancelledError(), ModelRequestRejected("no such parameter")])
def test_what_says_nothing_of_the_model_is_neither_failure_nor_success(error: BaseException) -> None:
    breaker = make_breaker(FakeClock())
    for _ in range(10):
        call(breaker, error)
    assert state_of(breaker) == "ok"
    for _ in range(3):
        call(breaker, DOWN)
        with suppress(ModelUnavailable):
            call(breaker, error)
    assert state_of(breaker) == "failing"


def test_a_call_that_its_search_cut_short_counts_for_the_share_that_it_waited() -> None:
    clock = FakeClock()
    breaker = make_breaker(clock)

    def wait(seconds: float) -> None:
        with suppress(ModelTimedOut), breaker.attempt():
            clock.now += seconds
            raise ModelTimedOut("too long")

    for _ in range(100):
        wait(0.1)
    assert state_of(breaker) == "ok"  # half a failure in all
    wait(PATIENCE)
    wait(PATIENCE)
    wait(PATIENCE / 4)
    assert state_of(breaker) == "ok"
    wait(PATIENCE / 2)
    assert state_of(breaker) == "failing"


def test_after_the_cool_down_exactly_one_call_is_let_through() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.now += COOL_DOWN_SECONDS
    with breaker.attempt():
        assert state_of(breaker) == "recovering"
        assert not any(lets_through(breaker) for _ in range(5))
    assert state_of(breaker) == "ok"
    assert lets_through(breaker)


def test_a_try_that_is_cancelled_frees_its_place() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    clock.now += COOL_DOWN_SECONDS
    call(breaker, asyncio.CancelledError())
    assert state_of(breaker) == "recovering"
    call(breaker)
    assert state_of(breaker) == "ok"


def test_the_cool_down_grows_with_each_try_that_fails_up_to_its_limit_and_a_success_resets_it() -> None:
    clock = FakeClock()
    breaker = opened(clock)
    waited = []
    for _ in range(8):
        start = clock.now
        while not lets_through(breaker):
            clock.now += 1
        waited.append(clock.now - start)
        call(breaker, DOWN)
    assert waited[:4] == [2, 4, 8, 16]
    assert waited[-1] == COOL_DOWN_SECONDS_MAX
    clock.now += COOL_DOWN_SECONDS_MAX
    call(breaker)
    for _ in range(3):
        call(breaker, DOWN)
    clock.now += COOL_DOWN_SECONDS
    assert lets_through(breaker)


def test_calls_that_began_before_it_opened_change_nothing_when_they_end() -> None:
    clock = FakeClock()
    breaker = make_breaker(clock)
    late = [breaker.attempt() for _ in range(5)]
    for attempt in late[:3]:
        with suppress(ModelUnavailable), attempt:
            raise DOWN
    assert state_of(breaker) == "failing"
    with late[3]:
        pass
    with suppress(ModelUnavailable), late[4]:
        raise DOWN
    clock.now += COOL_DOWN_SECONDS
    assert lets_through(breaker)


def test_it_can_be_turned_off() -> None:
    breaker = make_breaker(FakeClock(), failures_max=0)
    for _ in range(100):
        call(breaker, DOWN)
    assert state_of(breaker) == "ok"


def test_opening_and_closing_write_one_line_each(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    clock = FakeClock()
    breaker = opened(clock)
    for _ in range(5):
        lets_through(breaker)
    clock.now += COOL_DOWN_SECONDS
    call(breaker)
    call(breaker)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


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


class OutOfTime(OpenAIChat):
    """A model whose answers are out of time after their first piece, and a `silence` of seconds."""

    def __init__(self, clock: FakeClock, silence: float = 0.0) -> None:
        super().__init__(api_key="key", base_url=None, model="gpt-4o-mini", max_retries=0, timeout_seconds=PATIENCE)
        self._clock = clock
        self._silence = silence

    async def _pieces(
        self, messages: Sequence[Message], tools: Sequence[ToolDefinition], seconds: float, keep: Keep
    ) -> AsyncGenerator[str]:
        yield "The "
        self._clock.now += self._silence
        raise ModelTimedOut("It took too long.")


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

    async def test_the_first_piece_of_a_stream_shows_that_the_model_is_back(
        self, server: FakeOpenAI, guarded: GuardedChat, clock: FakeClock, breaker: CircuitBreaker
    ) -> None:
        for _ in range(3):
            call(breaker, DOWN)
        clock.now += COOL_DOWN_SECONDS
        server.enqueue(Reply.hang(5, after_pieces=["The "]))
        pieces = guarded.stream(MESSAGES, seconds=5).pieces
        assert await anext(pieces) == "The "
        assert state_of(breaker) == "ok"
        await pieces.aclose()
        await server.wait_for_disconnect()
        assert state_of(breaker) == "ok"

    async def test_a_reader_who_leaves_before_the_first_piece_lets_the_next_one_try(
        self, server: FakeOpenAI, guarded: GuardedChat, clock: FakeClock, breaker: CircuitBreaker
    ) -> None:
        for _ in range(3):
            call(breaker, DOWN)
        clock.now += COOL_DOWN_SECONDS
        server.enqueue(Reply.hang(5), Reply.text("Back."))
        reading = asyncio.create_task(self.read(guarded))
        await server.wait_for_request()
        assert not lets_through(breaker)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await self.read(guarded) == "Back."
        assert state_of(breaker) == "ok"

    async def test_a_reader_s_pause_is_not_charged_to_the_model(
        self, clock: FakeClock, breaker: CircuitBreaker
    ) -> None:
        guarded = GuardedChat(OutOfTime(clock), breaker)
        for _ in range(3):
            pieces = guarded.stream(MESSAGES, seconds=PATIENCE).pieces
            assert await anext(pieces) == "The "
            clock.now += PATIENCE
            with pytest.raises(ModelTimedOut):
                await anext(pieces)
        assert state_of(breaker) == "ok"

    async def test_a_model_that_falls_silent_after_its_first_piece_is_left_alone(
        self, clock: FakeClock, breaker: CircuitBreaker
    ) -> None:
        guarded = GuardedChat(OutOfTime(clock, silence=PATIENCE), breaker)
        for _ in range(3):
            with pytest.raises(ModelTimedOut):
                await self.read(guarded)
        assert state_of(breaker) == "failing"

    async def test_streams_that_break_off_count(self, server: FakeOpenAI, guarded: GuardedChat) -> None:
        server.respond = lambda body: Reply.truncated_stream(["The "])
        for _ in range(3):
            with pytest.raises(ModelUnavailable, match="broke off"):
                await self.read(guarded)
        with pytest.raises(ModelUnavailable, match="left alone"):
            await self.read(guarded)

    async def test_the_usage_of_a_stream_passes_through(self, server: FakeOpenAI, guarded: GuardedChat) -> None:
        server.enqueue(Reply.text("Two parks."))
        stream = guarded.stream(MESSAGES, seconds=5)
        assert [piece async for piece in stream.pieces]
        assert stream.usage.total == 30
