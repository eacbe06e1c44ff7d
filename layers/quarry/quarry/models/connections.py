"""Connections to model servers, of OpenAI's form and of Bedrock's: each its SDK's client, and the translation of its errors. The
SDKs connect and retry. They are imported on first use, which takes half a second of processor time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
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
_OPENAI_MESSAGES = {
    400: "The model's server finds the request invalid; check the model's name and what it supports.",
    401: "The model's server does not accept the key; check OPENAI_API_KEY.",
    403: "The key may not use this model; check OPENAI_API_KEY and the model's name.",
    404: "The model's server does not know the model; check its name and OPENAI_BASE_URL.",
    429: "The model's rate limit or quota is used up; try again shortly.",
}


class OpenAIConnection:
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
        import_openai()
        import openai

        timeout = openai.Timeout(self.timeout_seconds, connect=CONNECT_SECONDS)
        return openai.AsyncOpenAI(
            api_key=self._read_key if isinstance(self._api_key, Secret) else self._api_key or "local",
            # explicit, so that the SDK does not read the environment
            base_url=self.base_url or OPENAI_BASE_URL,
            max_retries=self._max_retries,
            timeout=timeout,
            http_client=openai.DefaultAsyncHttpx2Client(
                timeout=timeout, event_hooks={"response": [self._limit_response]}
            ),
        )

    async def _read_key(self) -> str:
        """The current key from its secret. The SDK calls this for each request."""
        assert isinstance(self._api_key, Secret)
        try:
            return await self._api_key.read()
        except QuarryError as error:
            raise ModelUnavailable("The model's key cannot be read.") from error

    async def _limit_response(self, response: httpx2.Response) -> None:
        """Limit a response to `max_bytes`, be it an answer, an error or a stream."""
        import httpx2

        class Bounded(httpx2.AsyncByteStream):
            def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
                self._stream, self._remaining = stream, max_bytes

            async def __aiter__(self) -> AsyncIterator[bytes]:
                parts = aiter(self._stream)
                try:
                    async for part in parts:
                        self._remaining -= len(part)
                        if self._remaining < 0:
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


def import_openai() -> None:
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
def openai_errors() -> Iterator[None]:
    """Translate errors of the SDK, the network and the wire format. Cancellation passes through."""
    import openai

    try:
        yield
    except TimeoutError as error:
        raise ModelTimedOut(TOOK_TOO_LONG) from error
    except openai.OpenAIError as error:
        raise _openai_error(error) from error
    except (ValidationError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelUnavailable(_NOT_OPENAI) from error


def _openai_error(error: OpenAIError) -> ModelError:
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
        return kind(_OPENAI_MESSAGES.get(status, f"The model's server failed (HTTP {status})."))
    return ModelUnavailable("The model's server reported an error.")


CALLS_MAX = 16
"""Calls of one process at the same time; others wait."""

_NOT_BEDROCK = "The model's server sent an answer that is not in Bedrock's format."
_BEDROCK_MESSAGES = {
    "ValidationException": "Bedrock finds the request invalid; check the model's name and what it supports.",
    "AccessDeniedException": "The role may not use this model; check the policy, and the account's access to the model.",
    "ResourceNotFoundException": "Bedrock does not know the model in this region; check its name and BEDROCK_REGION.",
    "ThrottlingException": "The model's rate limit or quota is used up; try again shortly.",
    "ServiceQuotaExceededException": "The model's rate limit or quota is used up; try again shortly.",
}

Result = TypeVar("Result")


class BedrockConnection:
    """boto3's client, made on first use. A call is tried `max_retries` times more after a 429, a 5xx or a broken connection."""

    def __init__(self, region: str | None, url: str | None, max_retries: int, timeout_seconds: float) -> None:
        self._region = region
        self._url = url
        self._max_retries = max_retries
        self.timeout_seconds = timeout_seconds
        self._client: Any = None
        self._opening = asyncio.Lock()
        self._threads = ThreadPoolExecutor(CALLS_MAX, thread_name_prefix="bedrock")

    async def open(self) -> Any:
        """The client. The first call makes it in a thread, so as not to block the event loop. Raises ModelUnavailable."""
        async with self._opening:
            if self._client is None:
                await self.in_thread(import_boto)
                with bedrock_errors():
                    self._client = await self.in_thread(self._make_client)
        return self._client

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Run blocking `work` in a thread; return its result."""
        return await asyncio.wrap_future(self._submit(work))

    async def open_stream(self, **request: Any) -> EventStream:
        """The events of a streaming Converse call. The caller closes them."""
        client = await self.open()
        opening = self._submit(lambda: EventStream(client.converse_stream(**request)["stream"], self._submit))
        try:
            return await asyncio.wrap_future(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_close_what_came)
            raise

    def _submit(self, work: Callable[[], Result]) -> Future[Result]:
        try:
            return self._threads.submit(work)
        except RuntimeError as error:
            raise ModelUnavailable("The model is closed: the service is stopping.") from error

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()
        self._threads.shutdown(wait=False)

    def _make_client(self) -> Any:
        import boto3
        from botocore.config import Config

        config = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=self.timeout_seconds,
            retries={"mode": "standard", "total_max_attempts": self._max_retries + 1},
            max_pool_connections=CALLS_MAX,
        )
        session = boto3.session.Session(region_name=self._region)
        return session.client("bedrock-runtime", endpoint_url=self._url, config=config)


class EventStream:
    """The events of one response, each read by a thread."""

    def __init__(self, stream: Any, submit: Callable[[Callable[[], Any]], Future[Any]]) -> None:
        self._stream = stream
        self._events = iter(stream)
        self._submit = submit
        self._reading: Future[Any] | None = None

    async def next(self) -> Any:
        """The next event, None at the end."""
        self._reading = self._submit(lambda: next(self._events, None))
        return await asyncio.wrap_future(self._reading)

    def close(self) -> None:
        """Close the connection: at once, or when the thread that still reads it is done."""
        if self._reading is None:
            self._stream.close()
        else:
            self._reading.add_done_callback(lambda _: self._stream.close())


def _close_what_came(opening: Future[EventStream]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def import_boto() -> None:
    """Import what the first call would import."""
    import botocore.eventstream  # noqa: F401


@contextmanager
def bedrock_errors() -> Iterator[None]:
    """Translate errors of the SDK, the network and the wire format. Cancellation passes through."""
    import botocore.eventstream
    import botocore.exceptions
    import botocore.parsers
    import urllib3.exceptions

    try:
        yield
    except (
        TimeoutError,
        botocore.exceptions.ReadTimeoutError,
        botocore.exceptions.ConnectTimeoutError,
        urllib3.exceptions.TimeoutError,
    ) as error:
        raise ModelTimedOut(TOOK_TOO_LONG) from error
    except botocore.exceptions.ClientError as error:
        raise _bedrock_error(error.response) from error
    except (botocore.exceptions.NoCredentialsError, botocore.exceptions.NoRegionError) as error:
        raise ModelUnavailable("AWS credentials or region are missing; check BEDROCK_REGION.") from error
    except (KeyError, ValidationError, botocore.parsers.ResponseParserError, botocore.eventstream.ParserError) as error:
        raise ModelUnavailable(_NOT_BEDROCK) from error
    except (botocore.exceptions.BotoCoreError, urllib3.exceptions.HTTPError, OSError) as error:
        raise ModelUnavailable("The model's server cannot be reached, or broke the connection.") from error


def _bedrock_error(response: Any) -> ModelError:
    """Our error for one of Bedrock's, without its message, which may quote the request."""
    # in a stream the names begin with a small letter
    code = str(response.get("Error", {}).get("Code", ""))
    code = code[:1].upper() + code[1:]
    if code == "ModelTimeoutException":
        return ModelTimedOut(TOOK_TOO_LONG)
    kind = ModelRequestRejected if code == "ValidationException" else ModelUnavailable
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", "?")
    return kind(_BEDROCK_MESSAGES.get(code, f"The model's server failed (HTTP {status})."))
