"""What the tests of the agent share: the model server and the chat model of core's tests."""

from tests.platform.conftest import chat, server

__all__ = ["chat", "server"]
