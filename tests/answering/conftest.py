"""What the tests of answering share: the model server and the chat model of core's tests."""

from tests.platform.conftest import chat, server

__all__ = ["chat", "server"]
