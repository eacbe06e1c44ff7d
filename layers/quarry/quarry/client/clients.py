"""The two clients: the same methods, called or awaited."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

import httpx2
from pydantic import BaseModel

from quarry.client.calls import AsyncCalls, BlockingCalls
from quarry.client.exchange import Call, Door, EventTypes, Exchange, Patience, Reply, finished
from quarry.client.routes import Routes
from quarry.client.streams import AsyncStream, Reading, Stream

T = TypeVar("T")
E = TypeVar("E", bound=BaseModel)
H = TypeVar("H", httpx2.Client, httpx2.AsyncClient)

Token = str | Callable[[], str] | None

TIMEOUT = httpx2.Timeout(90.0, connect=10.0)
"""Streams send something every ten seconds; a search may take a minute."""
RETRIES = 3
WAIT_SECONDS_MAX = 30.0


class _Client(Routes, Generic[H]):
    _http_of_own: Callable[..., H]

    def __init__(
        self,
        url: str,
        *,
        token: Token = None,
        retries: int = RETRIES,
        wait_seconds_max: float = WAIT_SECONDS_MAX,
        http: H | None = None,
    ) -> None:
        self._http: H = http or type(self)._http_of_own(timeout=TIMEOUT)
        self._is_own = http is None
        get_token = token if callable(token) else lambda: token
        self._exchange = Exchange(url, get_token, Patience(retries, wait_seconds_max), Door(self._http))


class Client(_Client[httpx2.Client], BlockingCalls):
    """A client of the Quarry at `url`, which may have a path prefix. Methods take and return the types of the contracts.

    `token` is sent as a bearer token: one from the identity provider or, for a local server, any name. A function is called for
    each request. If a server is busy or unreachable, a call is retried up to `retries` times, after the time that the server asks
    for, if that is at most `wait_seconds_max`. `http` is your own client, with your proxies and certificates; you close it.
    Threads may share a client.
    """

    _http_of_own = httpx2.Client

    def perform(self, call: Call, reply: Reply[T]) -> T:
        return finished(self._exchange.perform(call, reply))

    def stream(self, call: Call, events: EventTypes[E]) -> Stream[E]:
        return Stream(Reading(self._exchange, call, events), finished)

    def close(self) -> None:
        """Close the connections."""
        if self._is_own:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(_Client[httpx2.AsyncClient], AsyncCalls):
    """The same client with methods to await, and streams for `async for`."""

    _http_of_own = httpx2.AsyncClient

    async def perform(self, call: Call, reply: Reply[T]) -> T:
        return await self._exchange.perform(call, reply)

    def stream(self, call: Call, events: EventTypes[E]) -> AsyncStream[E]:
        return AsyncStream(Reading(self._exchange, call, events))

    async def aclose(self) -> None:
        """Close the connections."""
        if self._is_own:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
