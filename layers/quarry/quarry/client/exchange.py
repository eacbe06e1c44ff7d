"""Making calls, with retries. Written once, in coroutines that wait only at a `Door`."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from quarry import __version__
from quarry.client.errors import ConnectionFailed, NotAuthenticated, QuarryError, error_of
from quarry.client.io import Answer, Door
from quarry.client.wire import Call, Reply

T = TypeVar("T")

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
