"""Amazon Bedrock over the real wire: every request here goes through boto3 and a socket."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterator

import pytest
from pydantic import BaseModel, Field

from quarry.models.bedrock_model import BedrockChat
from quarry.models.connections import BedrockConnection
from quarry.models.interface import Message, ToolCall, ToolDefinition, Usage
from quarry.models.served_embedding import COHERE_TEXTS, BedrockEmbedding
from quarry.platform.errors import ModelError, ModelOutputInvalid, ModelRefused, ModelRequestRejected, ModelUnavailable
from tests.fakes.bedrock_server import BedrockReply, FakeBedrock

MODEL = "amazon.nova-lite-v1:0"
MESSAGES = [Message("system", "You plan searches."), Message("user", "Which bridge is the oldest?")]
SEARCH = ToolDefinition(
    "search", "Search the records.", {"type": "object", "properties": {"query": {"type": "string"}}}
)


class Plan(BaseModel):
    words: list[str] = Field(max_length=3)


@pytest.fixture(scope="module")
def shared_server() -> Iterator[FakeBedrock]:
    with FakeBedrock() as server:
        yield server


@pytest.fixture
def server(shared_server: FakeBedrock, monkeypatch: pytest.MonkeyPatch) -> FakeBedrock:
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "testing"), ("AWS_SECRET_ACCESS_KEY", "testing"), ("AWS_EC2_METADATA_DISABLED", "true"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    shared_server.requests.clear()
    shared_server.replies.clear()
    return shared_server


@pytest.fixture
async def chat(server: FakeBedrock) -> AsyncIterator[BedrockChat]:
    model = BedrockChat(BedrockConnection("us-east-1", server.url, max_retries=0, timeout_seconds=5), MODEL)
    yield model
    await model.close()


async def test_a_structured_output_is_the_arguments_of_the_tool_that_must_be_called(
    server: FakeBedrock, chat: BedrockChat
) -> None:
    server.enqueue(BedrockReply.tool_use("plan", {"words": ["bridge"]}))
    decided = await chat.decide(MESSAGES, name="plan", output_type=Plan, seconds=5)
    assert (decided.output, decided.usage) == (Plan(words=["bridge"]), Usage(20, 10))
    [request] = server.requests
    assert (request.model, request.operation) == (MODEL, "converse")
    assert request.headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=testing/")
    assert request.body["system"] == [{"text": "You plan searches."}]
    assert request.body["messages"] == [{"role": "user", "content": [{"text": "Which bridge is the oldest?"}]}]
    assert request.body["toolConfig"]["toolChoice"] == {"tool": {"name": "plan"}}
    assert request.body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"]["required"] == ["words"]


async def test_a_turn_calls_tools_and_what_they_found_goes_back_as_one_users_turn(
    server: FakeBedrock, chat: BedrockChat
) -> None:
    server.enqueue(BedrockReply.tool_use("search", {"query": "bridge"}), BedrockReply.text("The old one."))
    usage, calls = [part async for part in chat.stream(MESSAGES, tools=[SEARCH], seconds=5)]
    assert (usage, calls) == (Usage(20, 10), (ToolCall("tooluse_1", "search", '{"query": "bridge"}'),))
    assert isinstance(calls, tuple)
    said = [
        *MESSAGES,
        Message("assistant", "", tool_calls=(*calls, ToolCall("other", "search", "not JSON"))),
        Message("tool", "Two records.", tool_call_id="tooluse_1"),
        Message("tool", "", tool_call_id="other"),
    ]
    text = [part async for part in chat.stream(said, tools=[SEARCH], seconds=5) if isinstance(part, str)]
    assert "".join(text).strip() == "The old one."
    roles = [message["role"] for message in server.requests[1].body["messages"]]
    assert roles == ["user", "assistant", "user"]
    calls, results = (message["content"] for message in server.requests[1].body["messages"][1:])
    assert [call["toolUse"]["input"] for call in calls] == [{"query": "bridge"}, {}]
    assert [result["toolResult"]["content"][0]["text"] for result in results] == ["Two records.", "Nothing."]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (BedrockReply.text("Cut", is_cut=True), ModelUnavailable),
        (BedrockReply.text("Cut", error="throttlingException"), ModelUnavailable),
        (BedrockReply.text("Cut", error="validationException"), ModelRequestRejected),
        (BedrockReply.text("Cut", stop_reason="max_tokens"), ModelOutputInvalid),
        (BedrockReply.text("No.", stop_reason="content_filtered"), ModelRefused),
        (BedrockReply.text(("word" * 100 + " ") * 400), ModelOutputInvalid),
        (BedrockReply(), ModelOutputInvalid),
        (BedrockReply.http_error(429, "ThrottlingException"), ModelUnavailable),
    ],
)
async def test_a_stream_that_does_not_come_to_its_end_fails(
    server: FakeBedrock, chat: BedrockChat, reply: BedrockReply, expected: type[ModelError]
) -> None:
    server.enqueue(reply)
    with pytest.raises(expected) as raised:
        async for _ in chat.stream(MESSAGES, seconds=5):
            pass
    assert "very-secret" not in raised.value.message


@pytest.mark.parametrize(
    ("model", "dimensions", "requests"),
    [
        ("amazon.titan-embed-text-v2:0", 256, COHERE_TEXTS + 1),
        ("cohere.embed-multilingual-v3", 1024, 2),
        ("us.cohere.embed-v4:0", 1536, 2),
    ],
)
async def test_texts_become_unit_vectors_in_their_order(
    server: FakeBedrock, model: str, dimensions: int, requests: int
) -> None:
    embedding = BedrockEmbedding(
        BedrockConnection("us-east-1", server.url, max_retries=0, timeout_seconds=5), model, dimensions
    )
    texts = ["a" * 9 + "1" * number for number in range(COHERE_TEXTS)]
    vectors = await embedding.embed([*texts, ""])
    assert [round(9 * vector[1] / vector[0]) for vector in vectors[:-1]] == list(map(len, texts))
    assert all(math.isclose(math.hypot(*vector), 1) and len(vector) == dimensions for vector in vectors)
    assert len(server.requests) == requests
    assert {request.model for request in server.requests} == {model}
    await embedding.close()
