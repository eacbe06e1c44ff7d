"""The two doors to the network: one that is awaited, and one whose coroutines never wait, since what they call returns when it
is done.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx2

from quarry.client.errors import ConnectionFailed
from quarry.client.exchange import Answer

T = TypeVar("T")

_NOT_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.InvalidURL,
)


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("it waited")


@contextmanager
def _failures(url: str) -> Iterator[None]:
    """Have what is lost on the way raise ConnectionFailed."""
    try:
        yield
    except (httpx2.TransportError, httpx2.InvalidURL) as error:
        was_sent = not isinstance(error, _NOT_SENT)
        what = "did not answer in time" if isinstance(error, httpx2.TimeoutException) else "cannot be reached"
        if was_sent and not isinstance(error, httpx2.TimeoutException):
            what = "broke off"
        address = url.partition("?")[0]
        reason = f": {error}" if str(error) else ""
        raise ConnectionFailed(f"{address} {what}{reason}", was_sent=was_sent) from error


class BlockingAnswer:
    def __init__(self, response: httpx2.Response) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = dict(response.headers)
        self._response = response
        self._chunks: Iterator[bytes] | None = None

    async def read(self) -> bytes:
        with _failures(str(self._response.url)):
            return self._response.read()

    async def next_chunk(self) -> bytes:
        with _failures(str(self._response.url)):
            self._chunks = self._chunks or self._response.iter_bytes()
            return next(self._chunks, b"")

    async def close(self) -> None:
        self._response.close()


class BlockingDoor:
    def __init__(self, http: httpx2.Client) -> None:
        self._http = http

    async def send(self, method: str, url: str, **parts: Any) -> Answer:
        with _failures(url):
            request = self._http.build_request(method, url, **parts)
            return BlockingAnswer(self._http.send(request, stream=True))

    async def pause(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 -- awaited by `finished` alone


class AwaitedAnswer:
    def __init__(self, response: httpx2.Response) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = dict(response.headers)
        self._response = response
        self._chunks: AsyncIterator[bytes] | None = None

    async def read(self) -> bytes:
        with _failures(str(self._response.url)):
            return await self._response.aread()

    async def next_chunk(self) -> bytes:
        with _failures(str(self._response.url)):
            self._chunks = self._chunks or self._response.aiter_bytes()
            return await anext(self._chunks, b"")

    async def close(self) -> None:
        await self._response.aclose()


class AwaitedDoor:
    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http

    async def send(self, method: str, url: str, **parts: Any) -> Answer:
        with _failures(url):
            request = self._http.build_request(method, url, **parts)
            return AwaitedAnswer(await self._http.send(request, stream=True))

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
