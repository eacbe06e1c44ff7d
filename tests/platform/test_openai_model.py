"""The OpenAI models over the real wire: every request here goes through the SDK and a socket."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from quarry.models.interface import ChatModel, EmbeddingModel, Message, ToolCall, ToolDefinition, Usage
from quarry.models.openai_embedding import OpenAIEmbedding
from quarry.models.openai_model import OpenAIChat
from quarry.platform.errors import (
    ConfigurationError,
    ModelError,
    ModelOutputInvalid,
    ModelRefused,
    ModelUnavailable,
)
from tests.fakes.openai_server import FakeOpenAI, Reply, embedding
from tests.waiting import PATIENCE_SECONDS

KEY = "sk-very-secret"
PROMPT = "Which bridge is the oldest?"
MESSAGES = [Message("system", "You plan searches."), Message("user", PROMPT)]
SEARCH = ToolDefinition(
    "search", "Search the records.", {"type": "object", "properties": {"query": {"type": "string"}}}
)


class Variant(BaseModel):
    """One wording of the query."""

    text: str = Field(min_length=1, max_length=80)
    weight: float = 1.0


class ByName(BaseModel):
    kind: Literal["name"]
    name: str


class ByPlace(BaseModel):
    kind: Literal["place"]
    place: str


class Plan(BaseModel):
    variants: list[Variant]
    best: Variant = Field(description="The wording to try first.")
    limit: int = Field(default=5, ge=1, le=10)
    title: str | None = None
    filter: Annotated[ByName | ByPlace, Field(discriminator="kind")] | None = None


PLAN = {
    "variants": [{"text": "oldest bridge", "weight": 1}],
    "best": {"text": "oldest bridge", "weight": 1},
    "limit": 3,
    "title": None,
    "filter": {"kind": "place", "place": "harbour"},
}


@pytest.fixture
async def chat(server: FakeOpenAI) -> AsyncIterator[OpenAIChat]:
    model = make_chat(server.url)
    yield model
    await model.close()


@pytest.fixture
async def embedder(server: FakeOpenAI) -> AsyncIterator[OpenAIEmbedding]:
    model = make_embedder(server.url)
    yield model
    await model.close()


def make_chat(url: str, *, max_retries: int = 2, timeout_seconds: float = 5.0, key: str | None = KEY) -> OpenAIChat:
    return OpenAIChat(
        api_key=key, base_url=url, model="gpt-4o-mini", max_retries=max_retries, timeout_seconds=timeout_seconds
    )


def make_embedder(
    url: str, *, dimensions: int = 64, max_retries: int = 2, timeout_seconds: float = 5.0
) -> OpenAIEmbedding:
    return OpenAIEmbedding(
        api_key=KEY,
        base_url=url,
        model="text-embedding-3-small",
        dimensions=dimensions,
        max_retries=max_retries,
        timeout_seconds=timeout_seconds,
    )


async def plan(chat: ChatModel, *, seconds: float = 5.0) -> Plan:
    return (await chat.decide(MESSAGES, name="company_plan", output_type=Plan, seconds=seconds)).output


async def read(chat: ChatModel, *, seconds: float = 5.0) -> str:
    return "".join([piece async for piece in chat.stream(MESSAGES, seconds=seconds).pieces])


async def pieces_until(error: type[ModelError], chat: ChatModel, *, seconds: float = 5.0) -> list[str]:
    """The pieces that came before `error`, which must come."""
    pieces: list[str] = []
    try:
        async for piece in chat.stream(MESSAGES, seconds=seconds).pieces:
            pieces.append(piece)
    except error:
        return pieces
    raise AssertionError(f"the stream ended without {error.__name__}")


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """The block takes no longer than `seconds`."""
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


class TestDecisions:
    async def test_a_valid_answer_comes_back_typed_with_its_usage(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.json(PLAN))
        decision = await chat.decide(MESSAGES, name="company_plan", output_type=Plan, seconds=5)
        assert decision.output == Plan.model_validate(PLAN)
        assert decision.usage == Usage(prompt_tokens=20, completion_tokens=10)

    @pytest.mark.parametrize(
        "wrapped",
        [
            "```json\n{}\n```",
            "Here is the plan:\n```json\n{}\n```\nAnything else?",
        ],
    )
    async def test_json_in_a_code_fence_is_read(self, server: FakeOpenAI, chat: OpenAIChat, wrapped: str) -> None:
        server.enqueue(Reply.text(wrapped.replace("{}", Plan.model_validate(PLAN).model_dump_json(indent=2))))
        assert await plan(chat) == Plan.model_validate(PLAN)

    async def test_a_schema_mismatch_says_what_is_wrong_without_the_values(
        self, server: FakeOpenAI, chat: OpenAIChat
    ) -> None:
        server.enqueue(Reply.json({**PLAN, "variants": [{"weight": 1}], "limit": 4711}))
        with pytest.raises(ModelOutputInvalid) as raised:
            await plan(chat)
        assert raised.value.message == (
            "The model's answer is not a valid company_plan: variants.0.text: Field required; "
            "limit: Input should be less than or equal to 10"
        )

    @pytest.mark.parametrize(
        ("reply", "error", "told"),
        [
            (Reply.refusal("I will not talk about bridges."), ModelRefused, "^((?!bridges).)*$"),
            (Reply.http_error(400, code="content_filter"), ModelRefused, "."),
            (Reply.text('{"variants": [', finish_reason="length"), ModelOutputInvalid, "length"),
            (Reply.raw({"choices": []}), ModelOutputInvalid, "empty"),
        ],
    )
    async def test_no_answer_is_an_error_that_says_why(
        self, server: FakeOpenAI, chat: OpenAIChat, reply: Reply, error: type[ModelError], told: str
    ) -> None:
        server.enqueue(reply)
        with pytest.raises(error, match=told):
            await plan(chat)


class TestFailures:
    async def test_a_429_is_retried(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.http_error(429, retry_after=0.01), Reply.json(PLAN))
        assert await plan(chat) == Plan.model_validate(PLAN)
        assert len(server.requests) == 2

    async def test_no_call_outlasts_the_models_own_timeout(self, server: FakeOpenAI) -> None:
        server.respond = lambda body: Reply.http_error(500)
        chat = make_chat(server.url, timeout_seconds=0.2, max_retries=10)
        for call in (plan, read):
            with within(PATIENCE_SECONDS), pytest.raises(ModelUnavailable, match="too long"):
                await call(chat, seconds=2 * PATIENCE_SECONDS)
        await chat.close()

    @pytest.mark.parametrize(
        "reply",
        [
            Reply.malformed(),
            Reply.raw({}),
            Reply.raw({"choices": [None]}),
            Reply.raw({"error": {"message": "overloaded"}}),
            Reply.raw({"choices": [{"message": {"content": "half \ud83d"}, "delta": {"content": "half \ud83d"}}]}),
        ],
    )
    async def test_a_body_in_another_format_is_unavailable(
        self, server: FakeOpenAI, chat: OpenAIChat, reply: Reply
    ) -> None:
        server.enqueue(reply, reply)
        with pytest.raises(ModelUnavailable):
            await plan(chat)
        with pytest.raises(ModelUnavailable):
            await read(chat)

    @pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
    async def test_messages_hold_neither_key_nor_prompt_nor_url(self, server: FakeOpenAI, status: int) -> None:
        chat = make_chat(server.url, max_retries=0)
        echo = f"{KEY} {PROMPT} {server.url}"
        server.enqueue(Reply.http_error(status, message=echo), Reply.raw({"error": {"message": echo}}))
        for call in (plan, read):
            with pytest.raises(ModelError) as raised:
                await call(chat)
            for secret in (KEY, PROMPT, server.url, "127.0.0.1"):
                assert secret not in raised.value.message
        await chat.close()

    async def test_nothing_secret_is_logged(
        self, server: FakeOpenAI, chat: OpenAIChat, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.INFO)
        server.enqueue(Reply.http_error(429, retry_after=0.01), Reply.json(PLAN))
        await plan(chat)
        assert KEY not in caplog.text
        assert PROMPT not in caplog.text

    async def test_cancellation_passes_through_and_closes_the_connection(
        self, server: FakeOpenAI, chat: OpenAIChat
    ) -> None:
        server.enqueue(Reply.hang(2 * PATIENCE_SECONDS))
        task = asyncio.create_task(plan(chat))
        await server.wait_for_request()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.wait_for_disconnect()


class TestTurns:
    async def test_tools_go_out_as_functions_and_calls_come_back(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(
            Reply.tool_calls([("search", {"query": "elm"}), ("search", '{"query": ')], content="Let me look.")
        )
        turn = await chat.take_turn(MESSAGES, tools=[SEARCH], seconds=5)
        assert turn.text == "Let me look."
        assert turn.tool_calls == (
            ToolCall("call_1", "search", '{"query": "elm"}'),
            ToolCall("call_2", "search", '{"query": '),
        )
        assert turn.usage == Usage(20, 10)
        assert server.requests[0]["tools"] == [
            {
                "type": "function",
                "function": {
                    "name": "search",
                    "description": "Search the records.",
                    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
                },
            }
        ]

    async def test_a_conversation_with_tools_goes_out_whole(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        conversation = [
            *MESSAGES,
            Message("assistant", "", tool_calls=(ToolCall("call_1", "search", "{}"),)),
            Message("tool", '{"count": 0}', tool_call_id="call_1"),
        ]
        server.enqueue(Reply.text("Nothing was found."))
        turn = await chat.take_turn(conversation, tools=[SEARCH], seconds=5)
        assert turn.text == "Nothing was found."
        assert turn.tool_calls == ()
        assert server.requests[0]["messages"][2:] == [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{}"}}],
            },
            {"role": "tool", "content": '{"count": 0}', "tool_call_id": "call_1"},
        ]


class TestStreams:
    @pytest.mark.parametrize(
        ("reply", "error", "pieces"),
        [
            (Reply.refusal(), ModelRefused, []),
            (Reply.text("The elm", finish_reason="content_filter"), ModelRefused, ["The", " elm"]),
            (Reply.text("The elm", finish_reason="length"), ModelOutputInvalid, ["The", " elm"]),
            (Reply.text(""), ModelOutputInvalid, []),
            (Reply.truncated_stream(["The ", "elm "]), ModelUnavailable, ["The ", "elm "]),
        ],
    )
    async def test_a_stream_without_its_end_is_an_error_behind_its_pieces(
        self, server: FakeOpenAI, chat: OpenAIChat, reply: Reply, error: type[ModelError], pieces: list[str]
    ) -> None:
        server.enqueue(reply)
        assert await pieces_until(error, chat) == pieces


class TestEmbeddings:
    async def test_vectors_come_in_order_with_unit_length(self, server: FakeOpenAI, embedder: OpenAIEmbedding) -> None:
        texts = ["the oldest bridge", "an elm", "the oldest bridge in town"]
        vectors = await embedder.embed(texts)
        assert vectors == [pytest.approx(embedding(text, 64)) for text in texts]
        assert [math.hypot(*vector) for vector in vectors] == pytest.approx([1.0] * 3)
        (request,) = server.requests
        assert request == {
            "model": "text-embedding-3-small",
            "input": texts,
            "dimensions": 64,
            "encoding_format": "float",
        }

    @pytest.mark.parametrize(
        "body",
        [
            {"data": []},
            {"data": [{"index": 0, "embedding": [1, 0]}]},
            {"data": [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}]},
            {"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [0, 0]}]},
            {"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [0, float("nan")]}]},
            {"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": "AACAPw=="}]},
            {"data": [{"index": 0, "embedding": [1, 0]}, {"index": 1}]},
            {},
            [],
            "no JSON",
        ],
    )
    async def test_unusable_vectors_are_unavailable(self, server: FakeOpenAI, body: object) -> None:
        server.enqueue_embeddings(Reply.raw(body))
        embedder = make_embedder(server.url, dimensions=2)
        with pytest.raises(ModelUnavailable):
            await embedder.embed(["a", "b"])
        await embedder.close()


class TestWindows:
    model: EmbeddingModel = make_embedder("http://unused.invalid/v1")

    @settings(max_examples=40, deadline=None)
    @given(st.integers(1, 6000), st.text(st.characters(categories=["L", "N"]), max_size=40))
    def test_every_word_is_in_some_window_in_order(self, count: int, ending: str) -> None:
        words = [f"{number}-{ending}" for number in range(count)]
        windows = [window.split() for window in self.model.windows(" ".join(words))]
        spans = [(words.index(window[0]), words.index(window[-1]) + 1) for window in windows]
        assert windows == [words[first:last] for first, last in spans]
        assert (spans[0][0], spans[-1][1]) == (0, count)
        assert all(before[0] < after[0] < before[1] < after[1] for before, after in pairwise(spans))
        assert max(last - first for first, last in spans) <= 2000


class TestConnections:
    async def test_the_key_authorises_every_request(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        await read(chat)
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"

    @pytest.mark.parametrize(
        ("key", "url", "named"),
        [
            (None, None, "OPENAI_API_KEY"),
            ("", "", "OPENAI_API_KEY"),
            ("sk-with-a-line-break\n", None, "OPENAI_API_KEY"),
            ("sk-ключ", None, "OPENAI_API_KEY"),
            (None, "localhost:11434/v1", "OPENAI_BASE_URL"),
            (None, "http://[bad", "OPENAI_BASE_URL"),
            (None, "http://localhost:99999/v1", "OPENAI_BASE_URL"),
            (None, "ftp://localhost/v1", "OPENAI_BASE_URL"),
        ],
    )
    def test_what_cannot_be_used_is_a_wrong_configuration(self, key: str | None, url: str | None, named: str) -> None:
        with pytest.raises(ConfigurationError, match=named):
            OpenAIChat(api_key=key, base_url=url, model="m", max_retries=0, timeout_seconds=1)
        with pytest.raises(ConfigurationError, match=named):
            OpenAIEmbedding(api_key=key, base_url=url, model="m", dimensions=2, max_retries=0, timeout_seconds=1)
