"""Admission: how many requests a process works on at a time, and how many wait.

A search holds a place until its response was sent, or its client left, which cancels it and its statements. A short queue waits;
any further request gets a 503 with `Retry-After` at once. `unmetered` exempts a route.

And what a local server refuses because nobody signs in to it; deployed, every request carries a verified token. A page whose name
resolves to this machine (DNS rebinding) could read answers: `Host` and `Origin` give it away. Another site's image or redirect
could send a `GET` that spends money: `Sec-Fetch-Site` gives that away.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import math
import re
import time
from abc import abstractmethod
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, ClassVar, TypeVar

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.platform.errors import Forbidden, MisdirectedRequest, NotAuthenticated, Overloaded, QuarryError
from quarry.platform.settings import Settings
from quarry.web import problems
from quarry.web.problems import HttpMiddleware
from quarry.web.requests import endpoint_of, installation_of, verified_caller

PLACES_PER_CONNECTION = 2
"""A request holds a connection only for part of its time: the rest is reading, embedding, ranking and waiting for models."""
USER_SHARE = 3 / 4
"""The share of connections and of the queue that one user can take."""
QUEUE_MAX = 64
QUEUE_SECONDS = 10.0
"""The longest that a request waits for a place."""
FIRST_MEAN_SECONDS = 1.0
"""The assumed duration of a request before any has ended."""
MEAN_WEIGHT = 0.1
"""The weight of the latest request in the mean duration."""
RETRY_AFTER_MAX_SECONDS = 30
WARNING_INTERVAL_SECONDS = 60.0
MESSAGES_AHEAD = 8
"""Messages of a request that are read ahead of the route."""
UNMETERED = "_quarry_unmetered"
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
logger = logging.getLogger(__name__)


def unmetered(endpoint: Endpoint) -> Endpoint:
    """Mark a route as public and cheap: it is served without a place."""
    setattr(endpoint, UNMETERED, True)
    return endpoint


def is_public(endpoint: object) -> bool:
    """Whether a route is marked so."""
    return bool(getattr(endpoint, UNMETERED, False))


class Admission:
    """The places of one process, and the queue for them.

    Waiting users take turns, however many requests each has. A request waits only if no place is free, or its user's share is
    used up.
    """

    def __init__(self, connections: int) -> None:
        """The places for a pool with this number of connections. No user takes all connections, or all of the queue."""
        self._places = PLACES_PER_CONNECTION * connections
        self._places_per_user = max(1, int(USER_SHARE * connections))
        self._at_work: Counter[str] = Counter()
        # users in the order of their turns
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._mean_seconds = FIRST_MEAN_SECONDS
        self._refused = 0
        self._warned_at = -math.inf

    @asynccontextmanager
    async def place(self, user: str) -> AsyncIterator[None]:
        """A place for the duration of the block. Raises Overloaded at once if the queue is full, or after QUEUE_SECONDS in it."""
        if self._has_place(user):
            self._at_work[user] += 1
        else:
            await self._wait(user)
        began = time.monotonic()
        try:
            yield
        finally:
            self._mean_seconds += MEAN_WEIGHT * (time.monotonic() - began - self._mean_seconds)
            self._leave(user)

    def _has_place(self, user: str) -> bool:
        return self._at_work.total() < self._places and self._at_work[user] < self._places_per_user

    async def _wait(self, user: str) -> None:
        """Wait until `_leave` gives `user` a place."""
        if self._queued() >= QUEUE_MAX or len(self._waiting.get(user, ())) >= int(USER_SHARE * QUEUE_MAX):
            raise self._refusal(user)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        try:
            async with asyncio.timeout(QUEUE_SECONDS):
                await turn
        except BaseException as error:
            if turn.cancelled():
                self._stop_waiting(user, turn)
            else:  # it got its place at the same moment
                self._leave(user)
            if isinstance(error, TimeoutError):
                raise self._refusal(user) from None
            raise

    def _leave(self, user: str) -> None:
        """Give up a place of `user`, and give it to the next user who waits."""
        self._at_work[user] -= 1
        if not self._at_work[user]:
            del self._at_work[user]
        for each, turns in self._waiting.items():
            # a cancelled turn is removed by the request that waited
            turn = next((turn for turn in turns if not turn.done()), None)
            if turn is not None and self._has_place(each):
                self._stop_waiting(each, turn)
                if each in self._waiting:
                    self._waiting.move_to_end(each)
                self._at_work[each] += 1
                turn.set_result(None)
                return

    def _stop_waiting(self, user: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting[user]
        turns.remove(turn)
        if not turns:
            del self._waiting[user]

    def _queued(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _refusal(self, user: str) -> Overloaded:
        own = len(self._waiting.get(user, ()))
        rounds = max((self._queued() + 1) / self._places, (own + 1) / self._places_per_user)
        seconds = min(max(1, math.ceil(rounds * self._mean_seconds)), RETRY_AFTER_MAX_SECONDS)
        self._note_refusal()
        return Overloaded(f"The service is overloaded; try again in {seconds} s.", retry_after_seconds=seconds)

    def _note_refusal(self) -> None:
        """Log refusals at intervals: a line for each would cost more than refusing it."""
        self._refused += 1
        now = time.monotonic()
        if now - self._warned_at >= WARNING_INTERVAL_SECONDS:
            logger.warning(
                "overloaded: %d requests refused since the last message, %d at work, %d waiting",
                self._refused, self._at_work.total(), self._queued(),
            )  # fmt: skip
            self._refused, self._warned_at = 0, now


class Admitted(problems.HttpMiddleware):
    """Gives requests places, and cancels them when their client leaves."""

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        super().__init__(app)
        self._admission = admission

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_public(endpoint_of(scope)):
            await self.app(scope, receive, send)
            return
        client = _Client(receive, send)
        try:
            async with client.present(), self._admission.place(_user_of(scope)):
                await self.app(scope, client.receive, client.send)
        except Overloaded as refusal:
            await problems.response_to(refusal, scope, is_logged=False)(scope, receive, send)


def _user_of(scope: Scope) -> str:
    """The user, or with TENANT_CLAIM the tenant: none takes all places from the others. Callers who are not signed in count as
    one, and their routes refuse them.
    """
    request = Request(scope)
    try:
        caller = verified_caller(request)
    except NotAuthenticated:
        return ""
    tenants = installation_of(request).tenants
    return caller.user_id if tenants is None else tenants.name_of(caller)


class _Client:
    """The client's end of one request."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._messages: asyncio.Queue[Message | Exception] = asyncio.Queue(MESSAGES_AHEAD)
        self._answered = False

    @asynccontextmanager
    async def present(self) -> AsyncIterator[None]:
        """Cancel the block when the client leaves before it was answered; this then ends without an error."""
        leaving = asyncio.timeout(None)
        try:
            async with leaving:
                watching = asyncio.create_task(self._watch(leaving))
                try:
                    yield
                finally:
                    watching.cancel()
        except Exception as error:
            if not leaving.expired():
                raise
            if not isinstance(error, TimeoutError):
                logger.warning("a request failed after its client had left: %s", type(error).__name__)

    async def receive(self) -> Message:
        """The next message of the request."""
        message = await self._messages.get()
        if isinstance(message, Exception):
            raise message
        return message

    async def send(self, message: Message) -> None:
        # before sending: after the last piece of a response the server reports a disconnect
        self._answered = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def _watch(self, leaving: asyncio.Timeout) -> None:
        try:
            while (message := await self._receive())["type"] != "http.disconnect":
                await self._messages.put(message)
        except Exception as error:
            await self._messages.put(error)
            return
        if not self._answered:
            leaving.reschedule(asyncio.get_running_loop().time())


_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?", re.ASCII)
_OWN_SITES = frozenset(("same-origin", "none"))
"""What browsers put into `Sec-Fetch-Site` for the server's own pages, and for an address that the user typed or opened from
another program. `same-site` is not enough: it covers every other port of localhost."""


class _Gate(HttpMiddleware):
    """Answers a request that it does not admit with its `refusal`."""

    refusal: ClassVar[QuarryError]

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        super().__init__(app)
        self._names = settings.allowed_hosts
        self._origin = settings.allowed_origin

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._admits(scope, Headers(scope=scope)):
            await self.app(scope, receive, send)
        else:
            await self.refuse(self.refusal, scope, receive, send)

    @abstractmethod
    def _admits(self, scope: Scope, headers: Headers) -> bool: ...

    def _is_listed_origin(self, origin: str) -> bool:
        """Whether the settings name the origin of a page, or its host."""
        return self._origin in ("*", origin) or _host_of(origin) in self._names


class HostGate(_Gate):
    """Refuses a request whose `Host`, or whose `Origin`, is none of the server's names."""

    refusal = MisdirectedRequest(
        "This server answers to loopback names, such as localhost and 127.0.0.1, and to those in QUARRY_ALLOWED_HOSTS."
    )

    def _admits(self, scope: Scope, headers: Headers) -> bool:
        names = [_host_name(host) for host in headers.getlist("host")]
        is_ours = len(names) == 1 and (names[0] in self._names or is_loopback(names[0]))
        return is_ours and all(
            self._is_listed_origin(origin) or is_loopback(_host_of(origin)) for origin in headers.getlist("origin")
        )


class SiteGate(_Gate):
    """Refuses what a page of another site sends, except to public routes. Pages that the settings name may call all routes."""

    refusal = Forbidden(
        "A page of another site or port sent this request, and a local server has no sign-in that would protect it. Open "
        "Quarry's own page, or name the other page's origin in ALLOWED_ORIGIN, or its host in QUARRY_ALLOWED_HOSTS."
    )

    def _admits(self, scope: Scope, headers: Headers) -> bool:
        if is_public(endpoint_of(scope)) or _OWN_SITES.issuperset(headers.getlist("sec-fetch-site")):
            return True
        origins = headers.getlist("origin")
        return bool(origins) and all(map(self._is_listed_origin, origins))


def _host_of(origin: str) -> str:
    """The host of a web page's origin, as `_host_name` returns it."""
    scheme, _, host = origin.partition("://")
    return _host_name(host) if scheme in ("http", "https") else ""


def _host_name(host: str) -> str:
    """The name in a `Host` header, in lower case, without port, brackets and final dot; empty if it is malformed."""
    match = _HOST.fullmatch(host)
    return match["name"].lower().strip("[]").removesuffix(".") if match else ""


def is_loopback(name: str) -> bool:
    """Whether a host name always means this machine."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
