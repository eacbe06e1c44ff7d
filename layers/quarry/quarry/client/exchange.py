"""Making calls, with retries. Written once, in coroutines that wait only at a `Door`."""

from __future__ import annotations

import asyncio
import functools
import random
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, ValidationError

from quarry import __version__
from quarry.client.errors import ConnectionFailed, NotAuthenticated, QuarryError, UnexpectedAnswer, error_of
from quarry.streaming.events import Form

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


E = TypeVar("E", bound=BaseModel)


@dataclass(frozen=True)
class CallInput:
    """What one call of a route sends: values in its path, its query, its body."""

    path: Mapping[str, str] = field(default_factory=dict)
    query: BaseModel | Mapping[str, str] | None = None
    body: BaseModel | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A request, which can be retried. `is_repeatable`: even if the server may have carried it out."""

    method: str
    path: str
    query: Mapping[str, Any]
    body: bytes | None
    headers: Mapping[str, str]
    is_repeatable: bool = True

    @classmethod
    def of(cls, address: str, input_: CallInput, *, accept: str, is_repeatable: bool = True) -> Call:
        """The call of a route; its `address` is its method and path."""
        method, _, template = address.partition(" ")
        # an owner's id may contain a slash
        path = template.format_map({name: quote(value, safe="/") for name, value in input_.path.items()})
        query, body = input_.query, None
        if isinstance(query, BaseModel):
            query = query.model_dump(mode="json", by_alias=True, exclude_unset=True)
        headers = {**input_.headers, "Accept": accept}
        if input_.body is not None:
            body = input_.body.model_dump_json(by_alias=True, exclude_unset=True).encode()
            headers["Content-Type"] = "application/json"
        return cls(method, path, query or {}, body, headers, is_repeatable)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """How to read the answers to a call. `also` is another status, besides success, whose body is an answer."""

    type: type[T]
    also: int | None = None

    def read(self, body: bytes) -> T:
        """Raises UnexpectedAnswer."""
        if self.type is NoneType:
            return None  # type: ignore[return-value]
        assert issubclass(self.type, BaseModel)
        try:
            return self.type.model_validate_json(body)
        except ValidationError as error:
            raise UnexpectedAnswer(
                f"The server's answer is not a {self.type.__name__}; it may have another version."
            ) from error


@dataclass(frozen=True)
class EventTypes(Generic[E]):
    """The event types of a stream, their format, and the type of the last one."""

    form: Form
    models: tuple[type[E], ...]
    last: str

    @functools.cached_property
    def by_type(self) -> Mapping[str, type[E]]:
        return {model.model_fields["type"].default: model for model in self.models}


FIRST_PAUSE_SECONDS = 0.5
PAUSE_SECONDS_MAX = 8.0
"""Pauses between tries if the server does not say how long to wait."""

_HINDERED = {429, 502, 503, 504}
"""The server or a proxy was busy."""
_NOT_BEGUN = {429}
"""Of these, the statuses of requests that were not carried out."""
_IN_PROGRESS = 409
"""With `Retry-After`: the first call with this idempotency key is still running."""


@dataclass(frozen=True)
class Patience:
    """How often a call is retried, and the longest wait that a server may ask for."""

    retries: int
    wait_seconds_max: float

    def pause_after(self, error: QuarryError, failures: int, *, is_repeatable: bool) -> float | None:
        """Seconds to wait before the next try; None if there is none."""
        if failures > self.retries or not _may_help(error, is_repeatable):
            return None
        if error.retry_after_seconds is not None:
            return error.retry_after_seconds if error.retry_after_seconds <= self.wait_seconds_max else None
        return self.own_pause(failures)

    @staticmethod
    def own_pause(failures: int) -> float:
        """Exponential backoff with jitter, in seconds."""
        longest = min(PAUSE_SECONDS_MAX, FIRST_PAUSE_SECONDS * 2.0 ** (failures - 1))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311


def _may_help(error: QuarryError, is_repeatable: bool) -> bool:
    if isinstance(error, ConnectionFailed):
        return is_repeatable or not error.was_sent
    if error.status == _IN_PROGRESS:
        return error.retry_after_seconds is not None
    return error.status in (_HINDERED if is_repeatable else _NOT_BEGUN)


class Exchange:
    """Calls to one server. `token` is called for each request."""

    def __init__(self, url: str, token: Callable[[], str | None], patience: Patience, door: Door) -> None:
        self.patience = patience
        self.door = door
        self._url = url.rstrip("/")
        self._token = token

    async def perform(self, call: Call, reply: Reply[T]) -> T:
        """The answer to a call. Raises QuarryError."""
        failures = 0
        while True:
            try:
                answer = await self._opened(call, reply.also)
                try:
                    body = await answer.read()
                finally:
                    await answer.close()
            except QuarryError as error:
                failures += 1
                await self._wait_or_raise(error, failures, call)
            else:
                return reply.read(body)

    async def open(self, call: Call) -> Answer:
        """The answer to a streamed call, once it has begun. Raises QuarryError."""
        failures = 0
        while True:
            try:
                return await self._opened(call)
            except QuarryError as error:
                failures += 1
                await self._wait_or_raise(error, failures, call)

    async def _opened(self, call: Call, also: int | None = None) -> Answer:
        answer = await self._send(call)
        if 200 <= answer.status < 300 or answer.status == also:
            return answer
        try:
            body = await answer.read()
        finally:
            await answer.close()
        raise error_of(answer.status, answer.headers, body)

    async def _wait_or_raise(self, error: QuarryError, failures: int, call: Call) -> None:
        pause = self.patience.pause_after(error, failures, is_repeatable=call.is_repeatable)
        if pause is None:
            raise error
        await self.door.pause(pause)

    async def _send(self, call: Call) -> Answer:
        headers = {"User-Agent": f"quarry-client/{__version__}", **call.headers}
        if token := self._token():
            if not (token.isascii() and token.isprintable()):
                raise NotAuthenticated("The token has a character that a header cannot contain.")
            headers["Authorization"] = f"Bearer {token}"
        # an empty query would remove one in the address
        query = call.query or None
        return await self.door.send(
            call.method, self._url + call.path, params=query, content=call.body, headers=headers
        )
