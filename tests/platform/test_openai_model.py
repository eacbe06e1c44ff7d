"""The OpenAI models over the real wire: every request here goes through the SDK and a socket."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator

import pytest
from pydantic import BaseModel, Field

from quarry.models.interface import ChatModel, Message, ToolCall, ToolDefinition, Usage
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


class Plan(BaseModel):
    variants: list[str]
    limit: int = Field(default=5, ge=1, le=10)


PLAN = {"variants": ["oldest bridge"], "limit": 3}


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


class TestFailures:
    async def test_a_429_is_retried(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.http_error(429, retry_after=0.01), Reply.json(PLAN))
        assert await plan(chat) == Plan.model_validate(PLAN)
        assert len(server.requests) == 2

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


class TestConnections:
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
