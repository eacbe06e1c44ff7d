"""The OpenAI models over the real wire: every request here goes through the SDK and a socket."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from pydantic import BaseModel

from quarry.models.answers import TOKEN_CHARACTERS_MAX, OutputLimits
from quarry.models.connections import OpenAIConnection
from quarry.models.interface import ChatModel, Message, ToolCall, ToolDefinition, Usage
from quarry.models.openai_model import OpenAIChat
from quarry.models.served_embedding import OpenAIEmbedding
from quarry.platform.errors import ConfigurationError, ModelError, ModelOutputInvalid, ModelRefused, ModelUnavailable
from tests.fakes.openai_server import FakeOpenAI, Reply, embedding
from tests.waiting import PATIENCE_SECONDS

KEY = "sk-very-secret"
PROMPT = "Which bridge is the oldest?"
MESSAGES = [Message("system", "You plan searches."), Message("user", PROMPT)]
PARAMETERS = {"type": "object", "properties": {"query": {"type": "string"}}}
SEARCH = ToolDefinition("search", "Search the records.", PARAMETERS)
LIMITS = OutputLimits(decision_tokens=101, answer_tokens=103)


class Plan(BaseModel):
    variants: list[str]


PLAN = {"variants": ["oldest bridge"]}


@pytest.fixture
async def chat(model: FakeOpenAI) -> AsyncIterator[OpenAIChat]:
    chat = OpenAIChat(OpenAIConnection(KEY, model.url, max_retries=1, timeout_seconds=5), "gpt-4o-mini", LIMITS)
    yield chat
    await chat.close()


@pytest.fixture
async def embedder(model: FakeOpenAI) -> AsyncIterator[OpenAIEmbedding]:
    embedder = OpenAIEmbedding(OpenAIConnection(KEY, model.url, max_retries=0, timeout_seconds=5), "small", 64)
    yield embedder
    await embedder.close()


async def plan(chat: ChatModel) -> Plan:
    return (await chat.decide(MESSAGES, name="company_plan", output_type=Plan, seconds=30)).output


async def read(chat: ChatModel) -> str:
    return "".join([part async for part in chat.stream(MESSAGES, seconds=30) if isinstance(part, str)])


async def test_a_valid_answer_comes_back_typed_with_its_usage(model: FakeOpenAI, chat: OpenAIChat) -> None:
    model.enqueue(Reply.json(PLAN))
    decision = await chat.decide(MESSAGES, name="company_plan", output_type=Plan, seconds=5)
    assert (decision.output, decision.usage) == (Plan(**PLAN), Usage(prompt_tokens=20, completion_tokens=10))


async def test_json_in_a_code_fence_is_read(model: FakeOpenAI, chat: OpenAIChat) -> None:
    model.enqueue(Reply.text('Here is the plan:\n```json\n{"variants": ["oldest bridge"]}\n```\nAnything else?'))
    assert await plan(chat) == Plan(**PLAN)


async def test_a_429_is_tried_again_and_nothing_secret_is_logged(
    model: FakeOpenAI, chat: OpenAIChat, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    model.enqueue(Reply.http_error(429, retry_after=0.01), Reply.json(PLAN))
    assert await plan(chat) == Plan(**PLAN)
    assert len(model.requests) == 2
    assert KEY not in caplog.text
    assert PROMPT not in caplog.text


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_messages_hold_neither_key_nor_prompt_nor_url(model: FakeOpenAI, chat: OpenAIChat, status: int) -> None:
    echo = f"{KEY} {PROMPT} {model.url}"
    model.enqueue(Reply.http_error(status, message=echo), Reply.raw({"error": {"message": echo}}))
    for call in (plan, read):
        with pytest.raises(ModelError) as raised:
            await call(chat)
        for secret in (KEY, PROMPT, model.url, "127.0.0.1"):
            assert secret not in raised.value.message


async def test_a_cancelled_call_closes_its_connection(model: FakeOpenAI, chat: OpenAIChat) -> None:
    model.enqueue(Reply.hang(2 * PATIENCE_SECONDS))
    task = asyncio.create_task(plan(chat))
    await model.wait_for_request()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await model.wait_for_disconnect()


async def test_tools_go_out_as_functions_and_calls_come_back(model: FakeOpenAI, chat: OpenAIChat) -> None:
    model.enqueue(Reply.tool_calls([("search", {"query": "elm"}), ("search", '{"query": ')], content="Let me look."))
    *text, usage, calls = [part async for part in chat.stream(MESSAGES, tools=[SEARCH], seconds=5)]
    assert ("".join(map(str, text)), usage) == ("Let me look.", Usage(20, 10))
    assert calls == (ToolCall("call_1", "search", '{"query": "elm"}'), ToolCall("call_2", "search", '{"query": '))
    function = {"name": "search", "description": "Search the records.", "parameters": PARAMETERS}
    assert model.requests[0]["tools"] == [{"type": "function", "function": function}]


@pytest.mark.parametrize(
    ("reply", "error", "expected"),
    [
        (Reply.refusal(), ModelRefused, []),
        (Reply.text("The elm", finish_reason="content_filter"), ModelRefused, ["The", " elm"]),
        (Reply.text("The elm", finish_reason="length"), ModelOutputInvalid, ["The", " elm"]),
        (Reply.text(""), ModelOutputInvalid, []),
        (Reply.truncated_stream(["The ", "elm "]), ModelUnavailable, ["The ", "elm "]),
    ],
)
async def test_a_stream_without_its_end_is_an_error_behind_its_pieces(
    model: FakeOpenAI, chat: OpenAIChat, reply: Reply, error: type[ModelError], expected: list[str]
) -> None:
    model.enqueue(reply)
    pieces: list[str] = []

    async def read_on() -> None:
        async for part in chat.stream(MESSAGES, seconds=5):
            if isinstance(part, str):
                pieces.append(part)

    with pytest.raises(error):
        await read_on()
    assert pieces == expected


async def test_each_kind_of_call_asks_for_no_more_than_its_tokens(model: FakeOpenAI, chat: OpenAIChat) -> None:
    model.enqueue(Reply.json(PLAN), Reply.text("The elm stays."))
    await plan(chat)
    await read(chat)
    assert [body["max_tokens"] for body in model.requests] == [101, 103]


async def test_what_ignores_the_limit_is_cut_off(
    model: FakeOpenAI, chat: OpenAIChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.enqueue(Reply.flood("elm " * 103), Reply.flood(" " * 10_000))
    stream = chat.stream(MESSAGES, seconds=30)
    written = "".join([str(await anext(stream)) for _ in range(10)])
    assert len(written) == 103 * TOKEN_CHARACTERS_MAX
    with pytest.raises(ModelOutputInvalid, match="cut off"):
        await anext(stream)
    await model.wait_for_disconnect()
    monkeypatch.setattr(chat._connection, "_max_bytes", 100_000)
    with pytest.raises(ModelUnavailable, match="endless"):
        await plan(chat)


async def test_vectors_come_in_order_with_unit_length(model: FakeOpenAI, embedder: OpenAIEmbedding) -> None:
    texts = ["the oldest bridge", "an elm", "the oldest bridge in town"]
    assert await embedder.embed(texts) == [pytest.approx(embedding(text, 64)) for text in texts]
    assert model.requests == [{"model": "small", "input": texts, "dimensions": 64, "encoding_format": "float"}]


@pytest.mark.parametrize("second", [None, [1.0], [0.0] * 64, [float("nan")] * 64, "AACAPw=="])
async def test_unusable_vectors_are_unavailable(model: FakeOpenAI, embedder: OpenAIEmbedding, second: object) -> None:
    first = {"index": 0, "embedding": embedding("a", 64)}
    model.enqueue_embeddings(Reply.raw({"data": [first, {"index": 1, "embedding": second}]}))
    with pytest.raises(ModelUnavailable):
        await embedder.embed(["a", "b"])


@pytest.mark.parametrize(
    ("key", "url", "named"),
    [
        (None, None, "OPENAI_API_KEY"),
        ("sk-with-a-line-break\n", None, "OPENAI_API_KEY"),
        ("sk-ключ", None, "OPENAI_API_KEY"),
        (None, "localhost:11434/v1", "OPENAI_BASE_URL"),
        (None, "http://localhost:99999/v1", "OPENAI_BASE_URL"),
    ],
)
def test_what_cannot_be_used_is_a_wrong_configuration(key: str | None, url: str | None, named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        OpenAIConnection(key, url, max_retries=0, timeout_seconds=1)
