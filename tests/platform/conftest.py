"""What the tests of core share: a server that speaks OpenAI's wire format, as new for each test, and a chat model on it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from quarry.models.connections import OpenAIConnection
from quarry.models.openai_model import OpenAIChat
from tests.fakes.openai_server import FakeOpenAI


@pytest.fixture
def server(shared_model: FakeOpenAI) -> FakeOpenAI:
    shared_model.reset()
    return shared_model


@pytest.fixture
async def chat(server: FakeOpenAI) -> AsyncIterator[OpenAIChat]:
    model = OpenAIChat(OpenAIConnection("key", server.url, max_retries=0, timeout_seconds=5), "gpt-4o-mini")
    yield model
    await model.close()
