"""The OpenAI models over the real wire: every request here goes through the SDK and a socket."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import logging
import math
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from quarry.models.interface import ChatModel, EmbeddingModel, Message, ToolCall, ToolDefinition, Usage
from quarry.models.openai_embedding import BATCH_CHARACTERS, BATCH_TEXTS, OpenAIEmbedding
from quarry.models.openai_model import OpenAIChat
from quarry.platform.errors import (
    ConfigurationError,
    EmptyEmbedding,
    ModelError,
    ModelOutputInvalid,
    ModelRefused,
    ModelUnavailable,
)
from tests.fakes.openai_server import Body, FakeOpenAI, Reply, embedding, schema_name
from tests.waiting import PATIENCE_SECONDS, wait_until

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


def unfinished_iterators_of(*packages: str) -> list[str]:
    """The asynchronous generators of these packages that have begun and not ended."""
    return [
        each.ag_code.co_qualname
        for each in gc.get_objects()
        if inspect.isasyncgen(each)
        and each.ag_frame is not None
        and any(f"/{package}/" in each.ag_code.co_filename for package in packages)
    ]


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


def parts(schema: object) -> Iterator[dict[str, Any]]:
    """Every schema inside a JSON schema, itself included, but not the mappings from names to schemas."""
    if isinstance(schema, list):
        for part in schema:
            yield from parts(part)
    elif isinstance(schema, dict):
        yield schema
        for keyword, value in schema.items():
            yield from parts(list(value.values()) if keyword in ("properties", "$defs") else value)


@pytest.fixture
def refusing_url() -> Iterator[str]:
    """A URL whose port is taken but not listened to: every connection is refused."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


class TestDecisions:
    async def test_a_valid_answer_comes_back_typed_with_its_usage(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.json(PLAN))
        decision = await chat.decide(MESSAGES, name="company_plan", output_type=Plan, seconds=5)
        assert decision.output == Plan.model_validate(PLAN)
        assert decision.usage == Usage(prompt_tokens=20, completion_tokens=10)

    async def test_the_request_names_the_model_the_messages_and_the_schema(
        self, server: FakeOpenAI, chat: OpenAIChat
    ) -> None:
        server.enqueue(Reply.json(PLAN))
        await plan(chat)
        (request,) = server.requests
        assert request["model"] == chat.name == "gpt-4o-mini"
        assert request["messages"] == [
            {"role": "system", "content": "You plan searches."},
            {"role": "user", "content": PROMPT},
        ]
        assert schema_name(request) == "company_plan"
        assert request["response_format"]["type"] == "json_schema"
        assert request["response_format"]["json_schema"]["strict"] is True

    async def test_the_schema_holds_no_keyword_that_openai_refuses(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.json(PLAN))
        await plan(chat)
        schema = server.requests[0]["response_format"]["json_schema"]["schema"]
        refused = {"default", "title", "minLength", "maxLength", "oneOf", "discriminator"}
        assert not [part for part in parts(schema) if refused & part.keys()]
        assert not [part for part in parts(schema) if "$ref" in part and len(part) > 1]
        assert schema["properties"]["limit"] == {"type": "integer", "minimum": 1, "maximum": 10}
        assert schema["properties"]["best"]["description"] == "The wording to try first."

    @pytest.mark.parametrize(
        "wrapped",
        [
            "```json\n{}\n```",
            "```\n{}\n```",
            "Here is the plan:\n```json\n{}\n```\nAnything else?",
            "\n {}\n",
            "```json\n{}```",
        ],
    )
    async def test_json_in_a_code_fence_is_read(self, server: FakeOpenAI, chat: OpenAIChat, wrapped: str) -> None:
        server.enqueue(Reply.text(wrapped.replace("{}", Plan.model_validate(PLAN).model_dump_json(indent=2))))
        assert await plan(chat) == Plan.model_validate(PLAN)

    async def test_a_code_fence_inside_a_value_is_left_alone(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        fenced = {**PLAN, "title": "```\n{}\n```"}
        server.enqueue(Reply.json(fenced))
        assert (await plan(chat)).title == "```\n{}\n```"

    @pytest.mark.parametrize(
        "text", ["", "Sure! I would search for bridges.", '{"variants": [', "null", "[]", '{"a": "\ud800"}']
    )
    async def test_text_that_is_not_the_json_is_invalid_output(
        self, server: FakeOpenAI, chat: OpenAIChat, text: str
    ) -> None:
        server.enqueue(Reply.text(text.encode("ascii", "backslashreplace").decode()))
        with pytest.raises(ModelOutputInvalid, match="not a valid company_plan"):
            await plan(chat)

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

    async def test_the_list_of_problems_is_bounded(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.json({**PLAN, "variants": [{"w": n} for n in range(500)]}))
        with pytest.raises(ModelOutputInvalid) as raised:
            await plan(chat)
        assert len(raised.value.message) < 2000

    @pytest.mark.parametrize(
        ("reply", "error", "told"),
        [
            (Reply.refusal("I will not talk about bridges."), ModelRefused, "^((?!bridges).)*$"),
            (Reply.text("", finish_reason="content_filter"), ModelRefused, "."),
            (Reply.http_error(400, code="content_filter"), ModelRefused, "."),
            (Reply.text('{"variants": [', finish_reason="length"), ModelOutputInvalid, "length"),
            (Reply.raw({"choices": []}), ModelOutputInvalid, "empty"),
            (Reply.raw({"choices": None}), ModelOutputInvalid, "empty"),
        ],
    )
    async def test_no_answer_is_an_error_that_says_why(
        self, server: FakeOpenAI, chat: OpenAIChat, reply: Reply, error: type[ModelError], told: str
    ) -> None:
        server.enqueue(reply)
        with pytest.raises(error, match=told):
            await plan(chat)

    async def test_a_server_that_does_not_count_tokens_gives_no_usage(
        self, server: FakeOpenAI, chat: OpenAIChat
    ) -> None:
        server.enqueue(Reply.text("Hello.", usage=None))
        assert (await chat.take_turn(MESSAGES, tools=[], seconds=5)).usage == Usage()


class TestFailures:
    async def test_a_429_is_retried(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.http_error(429, retry_after=0.01), Reply.json(PLAN))
        assert await plan(chat) == Plan.model_validate(PLAN)
        assert len(server.requests) == 2

    async def test_a_broken_connection_is_retried(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.drop_connection(), Reply.json(PLAN))
        assert await plan(chat) == Plan.model_validate(PLAN)

    async def test_retries_end_at_their_number(self, server: FakeOpenAI) -> None:
        server.respond = lambda body: Reply.http_error(503, retry_after=0.01)
        chat = make_chat(server.url, max_retries=3)
        with pytest.raises(ModelUnavailable, match="503"):
            await plan(chat)
        assert len(server.requests) == 4
        await chat.close()

    async def test_an_endless_500_ends_with_the_seconds(self, server: FakeOpenAI) -> None:
        server.respond = lambda body: Reply.http_error(500)
        chat = make_chat(server.url, max_retries=10)
        with within(PATIENCE_SECONDS), pytest.raises(ModelUnavailable, match="too long"):
            await plan(chat, seconds=0.2)
        await chat.close()

    async def test_a_retry_after_past_the_end_ends_with_the_seconds(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.http_error(429, retry_after=60))
        with within(PATIENCE_SECONDS), pytest.raises(ModelUnavailable):
            await plan(chat, seconds=0.2)

    async def test_a_slow_server_ends_with_the_seconds(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.hang(2 * PATIENCE_SECONDS))
        with within(PATIENCE_SECONDS), pytest.raises(ModelUnavailable, match="too long"):
            await plan(chat, seconds=1)
        await server.wait_for_disconnect()

    async def test_no_call_outlasts_the_models_own_timeout(self, server: FakeOpenAI) -> None:
        server.respond = lambda body: Reply.http_error(500)
        chat = make_chat(server.url, timeout_seconds=0.2, max_retries=10)
        for call in (plan, read):
            with within(PATIENCE_SECONDS), pytest.raises(ModelUnavailable, match="too long"):
                await call(chat, seconds=2 * PATIENCE_SECONDS)
        await chat.close()

    async def test_a_stream_may_outlast_the_models_timeout_while_pieces_come(self, server: FakeOpenAI) -> None:
        server.enqueue(Reply.text("", pieces=["drip "] * 8, delay=0.4))
        chat = make_chat(server.url, timeout_seconds=3.0)
        assert await read(chat, seconds=2 * PATIENCE_SECONDS) == "drip " * 8
        await chat.close()

    async def test_a_stream_that_falls_silent_is_given_up(self, server: FakeOpenAI) -> None:
        server.enqueue(Reply.hang(2 * PATIENCE_SECONDS, after_pieces=["one "]))
        chat = make_chat(server.url, timeout_seconds=0.2)
        with within(PATIENCE_SECONDS), pytest.raises(ModelUnavailable, match="too long"):
            await read(chat, seconds=2 * PATIENCE_SECONDS)
        await chat.close()

    async def test_a_refused_connection_is_unavailable(self, refusing_url: str) -> None:
        chat = make_chat(refusing_url, max_retries=0)
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            await plan(chat)
        with pytest.raises(ModelUnavailable, match="cannot be reached"):
            await read(chat)
        await chat.close()

    @pytest.mark.parametrize(
        "reply",
        [
            Reply.malformed(),
            Reply.raw("<html>Bad gateway</html>"),
            Reply.raw({}),
            Reply.raw([]),
            Reply.raw({"choices": [None]}),
            Reply.raw({"choices": [{"message": {"content": ["a"]}}]}),
            Reply.raw({"choices": [{"delta": {"content": 5}, "message": "?"}]}),
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

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 418, 422])
    async def test_a_wrong_request_is_not_repeated(self, server: FakeOpenAI, chat: OpenAIChat, status: int) -> None:
        server.enqueue(Reply.http_error(status))
        with pytest.raises(ModelUnavailable):
            await plan(chat)
        assert len(server.requests) == 1

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

    async def test_a_model_serves_again_after_a_failure(self, server: FakeOpenAI) -> None:
        chat = make_chat(server.url, max_retries=0)
        server.enqueue(Reply.hang(2 * PATIENCE_SECONDS), Reply.drop_connection(), Reply.json(PLAN))
        for _ in range(2):
            with pytest.raises(ModelUnavailable):
                await plan(chat, seconds=1)
        assert await plan(chat) == Plan.model_validate(PLAN)
        await chat.close()


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

    async def test_without_tools_the_request_names_none(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        await chat.take_turn(MESSAGES, tools=[], seconds=5)
        assert "tools" not in server.requests[0]

    async def test_a_streamed_turn_may_write_and_then_call_several_tools(
        self, server: FakeOpenAI, chat: OpenAIChat
    ) -> None:
        asked = [("search", {"query": "bridge over the river"}), ("search", {"query": "elm"})]
        server.enqueue(Reply.tool_calls(asked, content="Let me look."))
        stream = chat.stream(MESSAGES, tools=[SEARCH], seconds=5)
        assert "".join([piece async for piece in stream.pieces]) == "Let me look."
        assert [(call.id, call.name, json.loads(call.arguments)) for call in stream.tool_calls] == [
            ("call_1", *asked[0]),
            ("call_2", *asked[1]),
        ]
        assert server.requests[0]["tools"][0]["function"]["name"] == "search"
        assert stream.usage == Usage(20, 10)

    async def test_calls_without_id_or_arguments_get_them(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        calls = [{"function": {"name": "list", "arguments": None}}, {"id": "", "function": {"name": "list"}}]
        server.enqueue(Reply.raw({"choices": [{"message": {"tool_calls": calls}}]}))
        turn = await chat.take_turn(MESSAGES, tools=[SEARCH], seconds=5)
        assert turn.tool_calls == (ToolCall("call_1", "list", "{}"), ToolCall("call_2", "list", "{}"))

    async def test_a_turn_with_neither_text_nor_calls_is_invalid_output(
        self, server: FakeOpenAI, chat: OpenAIChat
    ) -> None:
        server.enqueue(Reply.text(""))
        with pytest.raises(ModelOutputInvalid, match="empty"):
            await chat.take_turn(MESSAGES, tools=[SEARCH], seconds=5)


class TestStreams:
    async def test_pieces_arrive_one_by_one_in_time(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.hang(2 * PATIENCE_SECONDS, after_pieces=["one ", "two "]))
        pieces = chat.stream(MESSAGES, seconds=PATIENCE_SECONDS).pieces
        assert [await anext(pieces), await anext(pieces)] == ["one ", "two "]
        await pieces.aclose()

    async def test_nul_in_a_text_is_dropped(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.text("The\0 elm", pieces=["The\0", "\0", " elm"]), Reply.text("The\0 elm"))
        assert await read(chat) == "The elm"
        assert (await chat.take_turn(MESSAGES, tools=[], seconds=5)).text == "The elm"

    async def test_usage_is_there_after_the_last_piece(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.text("The elm stays.", usage=(100, 7)))
        stream = chat.stream(MESSAGES, seconds=5)
        assert stream.usage == Usage()
        assert "".join([piece async for piece in stream.pieces]) == "The elm stays."
        assert stream.usage == Usage(prompt_tokens=100, completion_tokens=7)
        assert server.requests[0]["stream_options"] == {"include_usage": True}

    async def test_a_server_that_sends_no_usage_gives_zero(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.text("The elm stays.", usage=None))
        stream = chat.stream(MESSAGES, seconds=5)
        assert [piece async for piece in stream.pieces] == ["The", " elm", " stays."]
        assert stream.usage == Usage()

    async def test_chunks_of_lax_servers_are_read(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(
            Reply.raw(
                {"choices": None},
                {"choices": [{"delta": None, "finish_reason": ""}]},
                {"choices": [{"delta": {"content": "Yes."}}], "usage": {"prompt_tokens": 3}},
                {"choices": [{"finish_reason": "stop"}]},
            )
        )
        stream = chat.stream(MESSAGES, seconds=5)
        assert [piece async for piece in stream.pieces] == ["Yes."]
        assert stream.usage == Usage(prompt_tokens=3)

    async def test_nothing_is_sent_before_the_first_piece_is_asked_for(
        self, server: FakeOpenAI, chat: OpenAIChat
    ) -> None:
        chat.stream(MESSAGES, seconds=5)
        await asyncio.sleep(0.02)
        assert server.requests == []

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

    async def test_a_connection_that_breaks_in_a_stream_is_unavailable(
        self, server: FakeOpenAI, chat: OpenAIChat
    ) -> None:
        server.enqueue(Reply.drop_connection(after_pieces=["The "]))
        assert await pieces_until(ModelUnavailable, chat) == ["The "]
        assert len(server.requests) == 1, "a stream that has begun is not repeated"

    async def test_a_stream_that_stalls_ends_with_the_seconds(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.hang(2 * PATIENCE_SECONDS, after_pieces=["The "]))
        with within(PATIENCE_SECONDS):
            assert await pieces_until(ModelUnavailable, chat, seconds=2) == ["The "]
        await server.wait_for_disconnect()

    async def test_a_stream_that_trickles_ends_with_the_seconds(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.text("", pieces=["drip "] * 4000, delay=0.05))
        with within(PATIENCE_SECONDS):
            pieces = await pieces_until(ModelUnavailable, chat, seconds=2)
        assert 1 <= len(pieces) < 4000

    async def test_the_seconds_never_cancel_what_the_reader_does(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.hang(2 * PATIENCE_SECONDS, after_pieces=["The "]))
        pieces = chat.stream(MESSAGES, seconds=2).pieces
        assert await anext(pieces) == "The "
        await asyncio.sleep(2.1)
        with pytest.raises(ModelUnavailable):
            await anext(pieces)

    async def test_a_429_before_the_stream_is_retried(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.http_error(429, retry_after=0.01), Reply.text("The elm stays."))
        assert await read(chat) == "The elm stays."

    async def test_closing_the_pieces_early_closes_the_response(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.hang(2 * PATIENCE_SECONDS, after_pieces=["The "]))
        pieces = chat.stream(MESSAGES, seconds=5).pieces
        assert await anext(pieces) == "The "
        await pieces.aclose()
        await server.wait_for_disconnect()

    @pytest.mark.parametrize("is_closed_early", [False, True])
    async def test_a_stream_that_is_left_halfway_leaves_nothing_to_the_garbage_collector(
        self, server: FakeOpenAI, chat: OpenAIChat, is_closed_early: bool
    ) -> None:
        server.enqueue(Reply.text("The elm", pieces=["The "] * 50) if is_closed_early else Reply.refusal())
        gc.collect()
        gc.disable()
        try:
            pieces = chat.stream(MESSAGES, seconds=5).pieces
            if is_closed_early:
                assert await anext(pieces) == "The "
                await pieces.aclose()
            else:
                with pytest.raises(ModelRefused):
                    await anext(pieces)
            # what was let go is closed by tasks of the loop, which wait for the connection
            await asyncio.to_thread(wait_until, lambda: not unfinished_iterators_of("openai", "httpx2", "httpcore2"))
        finally:
            gc.enable()

    async def test_cancelling_the_reader_closes_the_response(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        server.enqueue(Reply.hang(2 * PATIENCE_SECONDS, after_pieces=["The "]))
        task = asyncio.create_task(read(chat))
        await server.wait_for_request()
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.wait_for_disconnect()


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

    async def test_the_order_is_that_of_the_index(self, server: FakeOpenAI) -> None:
        data = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}]
        server.enqueue_embeddings(Reply.raw({"data": data}))
        embedder = make_embedder(server.url, dimensions=2)
        assert await embedder.embed(["a", "b"]) == [pytest.approx([0.6, 0.8]), [0, 1]]
        await embedder.close()

    async def test_no_texts_need_no_request(self, server: FakeOpenAI, embedder: OpenAIEmbedding) -> None:
        assert await embedder.embed([]) == []
        assert server.requests == []

    async def test_empty_texts_are_sent_as_a_space(self, server: FakeOpenAI, embedder: OpenAIEmbedding) -> None:
        assert len(await embedder.embed(["", "elm", "\n"])) == 3
        assert server.requests[0]["input"] == [" ", "elm", " "]

    async def test_many_texts_go_in_batches(self, server: FakeOpenAI, embedder: OpenAIEmbedding) -> None:
        texts = [f"text {number}" for number in range(BATCH_TEXTS * 2 + 1)]
        assert await embedder.embed(texts) == [pytest.approx(embedding(text, 64)) for text in texts]
        assert [len(body["input"]) for body in server.requests] == [256, 256, 1]

    async def test_long_texts_go_in_smaller_batches(self, server: FakeOpenAI, embedder: OpenAIEmbedding) -> None:
        texts = ["x" * (BATCH_CHARACTERS // 2), "y" * (BATCH_CHARACTERS // 2), "z", "w" * (2 * BATCH_CHARACTERS)]
        await embedder.embed(texts)
        assert [[text[0] for text in body["input"]] for body in server.requests] == [["x", "y"], ["z"], ["w"]]

    async def test_a_server_that_ignores_dimensions_is_told_apart(self) -> None:
        with FakeOpenAI(embedding_size=48) as server:
            embedder = make_embedder(server.url)
            with pytest.raises(ModelUnavailable, match=r"ignored dimensions=64.*Set EMBEDDING_DIMENSIONS=48"):
                await embedder.embed(["elm"])
            await embedder.close()

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

    async def test_an_empty_vector_is_told_apart(self, server: FakeOpenAI, embedder: OpenAIEmbedding) -> None:
        server.enqueue_embeddings(Reply.raw({"data": [{"index": 0, "embedding": []}]}))
        with pytest.raises(EmptyEmbedding):
            await embedder.embed(["elm"])

    async def test_a_429_is_retried(self, server: FakeOpenAI, embedder: OpenAIEmbedding) -> None:
        server.enqueue_embeddings(Reply.http_error(429, retry_after=0.01))
        assert len(await embedder.embed(["elm"])) == 1


class TestWindows:
    model: EmbeddingModel = make_embedder("http://unused.invalid/v1")

    def test_a_database_knows_the_vectors_by_the_models_name(self) -> None:
        assert (self.model.name, self.model.dimensions) == ("text-embedding-3-small", 64)

    @pytest.mark.parametrize("text", ["", " ", "elm", " two  words\n", " ".join(["word"] * 2000)])
    def test_a_text_that_fits_is_its_only_window(self, text: str) -> None:
        assert self.model.windows(text) == [text]

    def test_a_longer_text_is_cut_every_1800_words(self) -> None:
        words = [f"w{number}" for number in range(4500)]
        windows = [window.split() for window in self.model.windows(" ".join(words))]
        assert windows == [words[0:2000], words[1800:3800], words[3600:4500]]

    @pytest.mark.parametrize("text", ["桥" * 30_000, "12,345.67 " * 5_000, "x" * 100_000, "🌉 " * 9_000])
    def test_dense_text_is_cut_smaller(self, text: str) -> None:
        windows = self.model.windows(text)
        assert len(windows) > 1
        assert max(len(window.encode()) for window in windows) <= 13_000

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
    def test_importing_the_module_imports_no_sdk(self) -> None:
        code = (
            "import sys, quarry.models.openai_model as m\n"
            "m.OpenAIChat(api_key='k', base_url=None, model='m', max_retries=0, timeout_seconds=1)\n"
            "sys.exit(any(name in sys.modules for name in ('openai', 'httpx2', 'numpy')))"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

    async def test_the_key_authorises_every_request(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        await read(chat)
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"

    async def test_a_server_of_ones_own_needs_no_key(self, server: FakeOpenAI) -> None:
        chat = make_chat(server.url, key=None)
        await read(chat)
        assert server.headers[0]["authorization"] == "Bearer local"
        await chat.close()

    async def test_the_environment_changes_nothing(
        self, server: FakeOpenAI, chat: OpenAIChat, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
        monkeypatch.setenv("OPENAI_BASE_URL", "http://unused.invalid/v1")
        await read(chat)
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
        openai = OpenAIChat(api_key=KEY, base_url=None, model="m", max_retries=0, timeout_seconds=1)
        assert openai._connection._make_client().base_url == "https://api.openai.com/v1/"
        await openai.close()

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

    async def test_one_connection_serves_call_after_call(self, server: FakeOpenAI, chat: OpenAIChat) -> None:
        for _ in range(3):
            await chat.take_turn(MESSAGES, tools=[], seconds=5)
            await read(chat)
        assert server.connections == 1

    async def test_closing_twice_and_unused_is_harmless(self, server: FakeOpenAI) -> None:
        chat = make_chat(server.url)
        await chat.close()
        await read(chat)
        await chat.close()
        await chat.close()


class TestFakeServer:
    """What later tests rely on, beyond what the tests above use."""

    async def test_an_assertion_in_a_handler_reaches_the_test(self, server: FakeOpenAI) -> None:
        def respond(body: Body) -> Reply:
            assert "nonsense" in body["model"]
            return Reply.text("never")

        server.respond = respond
        chat = make_chat(server.url, max_retries=0)
        with pytest.raises(ModelUnavailable):
            await read(chat)
        with pytest.raises(AssertionError, match="nonsense"):
            server.reset()
        await chat.close()
