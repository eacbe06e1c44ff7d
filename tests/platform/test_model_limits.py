"""How much a model may write, and how much of what a server sends is read."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from quarry.models.answers import TOKEN_CHARACTERS_MAX, OutputLimits
from quarry.models.interface import Message
from quarry.models.openai_model import OpenAIChat
from quarry.platform.errors import ModelOutputInvalid, ModelUnavailable
from tests.fakes.openai_server import FakeOpenAI, Reply

MESSAGES = [Message("user", "Which bridge is the oldest?")]


class Topics(BaseModel):
    topics: list[str]


def make_chat(url: str | None, limits: OutputLimits) -> OpenAIChat:
    return OpenAIChat(api_key="key", base_url=url, model="m", max_retries=0, timeout_seconds=5, limits=limits)


async def decide(chat: OpenAIChat) -> Topics:
    return (await chat.decide(MESSAGES, name="topics", output_type=Topics, seconds=30)).output


async def read(chat: OpenAIChat) -> str:
    return "".join([piece async for piece in chat.stream(MESSAGES, seconds=30).pieces])


async def test_each_kind_of_call_asks_for_no_more_than_its_tokens(server: FakeOpenAI) -> None:
    chat = make_chat(server.url, OutputLimits(decision_tokens=101, turn_tokens=102, answer_tokens=103))
    server.enqueue(Reply.json({"topics": []}), Reply.text("Done."), Reply.text("The elm stays."))
    await decide(chat)
    await chat.take_turn(MESSAGES, tools=[], seconds=5)
    await read(chat)
    assert [body["max_tokens"] for body in server.requests] == [101, 102, 103]
    await chat.close()


async def test_a_stream_that_ignores_the_limit_is_cut_off_after_its_pieces(server: FakeOpenAI) -> None:
    chat = make_chat(server.url, OutputLimits(answer_tokens=100))
    server.enqueue(Reply.flood("elm " * 100))
    stream = chat.stream(MESSAGES, seconds=30)
    written = "".join([await anext(stream.pieces) for _ in range(10)])
    assert len(written) == 100 * TOKEN_CHARACTERS_MAX
    with pytest.raises(ModelOutputInvalid, match="cut off"):
        await anext(stream.pieces)
    await server.wait_for_disconnect()
    await chat.close()


async def test_a_response_without_end_is_not_read_to_its_end(
    server: FakeOpenAI, chat: OpenAIChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat._connection, "_max_bytes", 100_000)
    server.enqueue(Reply.flood(" " * 10_000), Reply.flood(""))
    with pytest.raises(ModelUnavailable, match="without end"):
        await decide(chat)
    await server.wait_for_disconnect()
    with pytest.raises(ModelUnavailable, match="without end"):
        await read(chat)
    assert len(server.requests) == 2
