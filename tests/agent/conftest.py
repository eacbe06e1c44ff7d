"""What the tests of the agent share: the model server and the chat model of core's tests."""

from tests.core.conftest import chat, server

__all__ = ["chat", "server"]
