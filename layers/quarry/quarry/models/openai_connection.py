"""The SDK's client, and the translation of its errors. The SDK connects and retries. It is imported on first use, which takes
half a second of processor time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import ValidationError

from quarry.models.answers import DECLINED, TOOK_TOO_LONG
from quarry.platform.errors import (
    ConfigurationError,
    ModelError,
    ModelRefused,
    ModelRequestRejected,
    ModelTimedOut,
    ModelUnavailable,
    QuarryError,
)
from quarry.platform.secrets import Secret

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI, OpenAIError

OPENAI_BASE_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 3.0
ANSWER_BYTES_MAX = 8_000_000

_NOT_OPENAI = "The model's server sent an answer that is not in OpenAI's format."
_STATUSES_OF_ONE_REQUEST = frozenset({400, 413, 422})
_STATUS_MESSAGES = {
    400: "The model's server finds the request invalid; check the model's name and what it supports.",
    401: "The model's server does not accept the key; check OPENAI_API_KEY.",
    403: "The key may not use this model; check OPENAI_API_KEY and the model's name.",
    404: "The model's server does not know the model; check its name and OPENAI_BASE_URL.",
    429: "The model's rate limit or quota is used up; try again shortly.",
}


class Connection:
    """The SDK's client, made on first use. A key that is a secret is read for each request.

    A response of more than `max_bytes` raises ModelUnavailable.
    """

    def __init__(
        self,
        api_key: str | Secret | None,
        base_url: str | None,
        max_retries: int,
        timeout_seconds: float,
        *,
        max_bytes: int = ANSWER_BYTES_MAX,
    ) -> None:
        if not api_key and not base_url:
            raise ConfigurationError("Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.")
        if isinstance(api_key, str) and not (api_key.isascii() and api_key.isprintable()):
            raise ConfigurationError("OPENAI_API_KEY contains a line break or another invalid character.")
        if base_url and not _is_http_url(base_url):
            raise ConfigurationError("OPENAI_BASE_URL is not a URL such as http://localhost:11434/v1.")
        self._api_key = api_key
        self.base_url = base_url
        self._max_retries = max_retries
        self.timeout_seconds = timeout_seconds
        self._max_bytes = max_bytes
        self._client: AsyncOpenAI | None = None
        self._opening = asyncio.Lock()

    async def open(self) -> AsyncOpenAI:
        """The client. The first call makes it in a thread, so as not to block the event loop."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make_client)
        return self._client

    def _make_client(self) -> AsyncOpenAI:
        import_sdk()
        import openai

        timeout = openai.Timeout(self.timeout_seconds, connect=CONNECT_SECONDS)
        return openai.AsyncOpenAI(
            api_key=self._read_key if isinstance(self._api_key, Secret) else self._api_key or "local",
            # explicit, so that the SDK does not read the environment
            base_url=self.base_url or OPENAI_BASE_URL,
            max_retries=self._max_retries,
            timeout=timeout,
            http_client=openai.DefaultAsyncHttpx2Client(timeout=timeout, event_hooks={"response": [self._bound]}),
        )

    async def _read_key(self) -> str:
        """The current key from its secret. The SDK calls this for each request."""
        assert isinstance(self._api_key, Secret)
        try:
            return await self._api_key.read()
        except QuarryError as error:
            raise ModelUnavailable("The model's key cannot be read.") from error

    async def _bound(self, response: httpx2.Response) -> None:
        """Limit a response to `max_bytes`, be it an answer, an error or a stream."""
        import httpx2

        class Bounded(httpx2.AsyncByteStream):
            def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
                self._stream, self._left = stream, max_bytes

            async def __aiter__(self) -> AsyncIterator[bytes]:
                parts = aiter(self._stream)
                try:
                    async for part in parts:
                        self._left -= len(part)
                        if self._left < 0:
                            raise ModelUnavailable("The model's server sends an endless response.")
                        yield part
                finally:
                    if isinstance(parts, AsyncGenerator):
                        await parts.aclose()

            async def aclose(self) -> None:
                await self._stream.aclose()

        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = Bounded(response.stream, self._max_bytes)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def import_sdk() -> None:
    """Import the SDK, with what its first call would import."""
    import openai.resources.chat
    import openai.resources.embeddings  # noqa: F401


def _is_http_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


@contextmanager
def translated() -> Iterator[None]:
    """Translate errors of the SDK, the network and the wire format. Cancellation passes through."""
    import openai

    try:
        yield
    except TimeoutError as error:
        raise ModelTimedOut(TOOK_TOO_LONG) from error
    except openai.OpenAIError as error:
        raise _translate(error) from error
    except (ValidationError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelUnavailable(_NOT_OPENAI) from error


def _translate(error: OpenAIError) -> ModelError:
    """Our error for one of the SDK's, without its message, which may quote the request."""
    import openai

    if isinstance(error, openai.APIError) and error.code == "content_filter":
        return ModelRefused(DECLINED)
    if isinstance(error, openai.APITimeoutError):
        return ModelTimedOut(TOOK_TOO_LONG)
    if isinstance(error, openai.APIConnectionError):
        return ModelUnavailable("The model's server cannot be reached, or broke the connection.")
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        kind = ModelRequestRejected if status in _STATUSES_OF_ONE_REQUEST else ModelUnavailable
        return kind(_STATUS_MESSAGES.get(status, f"The model's server failed (HTTP {status})."))
    return ModelUnavailable("The model's server reported an error.")
