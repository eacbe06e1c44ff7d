"""Access to the network, for the asynchronous client and for the blocking one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import httpx2

from quarry.client.errors import ConnectionFailed

T = TypeVar("T")

_NOT_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.InvalidURL,
)


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("it waited")


@contextmanager
def _failures(url: str) -> Iterator[None]:
    """Turn transport errors into ConnectionFailed."""
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


class Answer:
    """An answer before its body has come. Transport errors raise ConnectionFailed."""

    def __init__(self, response: httpx2.Response, *, is_awaited: bool) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = dict(response.headers)
        self._response, self._is_awaited = response, is_awaited
        self._chunks: Any = None

    async def read(self) -> bytes:
        """The whole body."""
        with _failures(str(self._response.url)):
            return await self._response.aread() if self._is_awaited else self._response.read()

    async def next_chunk(self) -> bytes:
        """The next bytes of the body; empty at its end."""
        with _failures(str(self._response.url)):
            if self._chunks is None:
                self._chunks = self._response.aiter_bytes() if self._is_awaited else self._response.iter_bytes()
            chunk: bytes = await anext(self._chunks, b"") if self._is_awaited else next(self._chunks, b"")
            return chunk

    async def close(self) -> None:
        if self._is_awaited:
            await self._response.aclose()
        else:
            self._response.close()


class Door:
    """Everything that waits, for the network or for time to pass. With a blocking client it never awaits, so that `finished` can
    run coroutines that wait only here.
    """

    def __init__(self, http: httpx2.Client | httpx2.AsyncClient) -> None:
        self._http = http

    async def send(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None,
        content: bytes | None,
        headers: Mapping[str, str],
    ) -> Answer:
        """Raises ConnectionFailed."""
        with _failures(url):
            request = self._http.build_request(method, url, params=params, content=content, headers=headers)
            if isinstance(self._http, httpx2.AsyncClient):
                return Answer(await self._http.send(request, stream=True), is_awaited=True)
            return Answer(self._http.send(request, stream=True), is_awaited=False)

    async def pause(self, seconds: float) -> None:
        if isinstance(self._http, httpx2.AsyncClient):
            await asyncio.sleep(seconds)
        else:
            time.sleep(seconds)  # noqa: ASYNC251 -- only `finished` awaits it
