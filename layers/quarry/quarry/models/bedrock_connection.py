"""The client of Amazon Bedrock, and the translation of its errors.

boto3 signs with the process's role, and is imported on first use. It blocks, so it runs in threads; an abandoned call ends with
its own time limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import ValidationError

from quarry.models.answers import TOOK_TOO_LONG
from quarry.platform.errors import ModelError, ModelRequestRejected, ModelTimedOut, ModelUnavailable

CONNECT_SECONDS = 3.0
CALLS_MAX = 16
"""Calls of one process at the same time; others wait."""

_NOT_BEDROCK = "The model's server sent an answer that is not in Bedrock's format."
_MESSAGES = {
    "ValidationException": "Bedrock finds the request invalid; check the model's name and what it supports.",
    "AccessDeniedException": "The role may not use this model; check the policy, and the account's access to the model.",
    "ResourceNotFoundException": "Bedrock does not know the model in this region; check its name and BEDROCK_REGION.",
    "ThrottlingException": "The model's rate limit or quota is used up; try again shortly.",
    "ServiceQuotaExceededException": "The model's rate limit or quota is used up; try again shortly.",
}

Result = TypeVar("Result")


class Connection:
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
                await self.in_thread(import_sdk)
                with translated():
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


def import_sdk() -> None:
    """Import what the first call would import."""
    import botocore.eventstream  # noqa: F401


@contextmanager
def translated() -> Iterator[None]:
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
        raise _translate(error.response) from error
    except (botocore.exceptions.NoCredentialsError, botocore.exceptions.NoRegionError) as error:
        raise ModelUnavailable("AWS credentials or region are missing; check BEDROCK_REGION.") from error
    except (KeyError, ValidationError, botocore.parsers.ResponseParserError, botocore.eventstream.ParserError) as error:
        raise ModelUnavailable(_NOT_BEDROCK) from error
    except (botocore.exceptions.BotoCoreError, urllib3.exceptions.HTTPError, OSError) as error:
        raise ModelUnavailable("The model's server cannot be reached, or broke the connection.") from error


def _translate(response: Any) -> ModelError:
    """Our error for one of Bedrock's, without its message, which may quote the request."""
    # in a stream the names begin with a small letter
    code = str(response.get("Error", {}).get("Code", ""))
    code = code[:1].upper() + code[1:]
    if code == "ModelTimeoutException":
        return ModelTimedOut(TOOK_TOO_LONG)
    kind = ModelRequestRejected if code == "ValidationException" else ModelUnavailable
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", "?")
    return kind(_MESSAGES.get(code, f"The model's server failed (HTTP {status})."))
