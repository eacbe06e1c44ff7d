"""Admission: how many requests a process works on at a time, and how many wait.

A search holds a place until its response was sent, or its client left, which cancels it and its statements. A short queue waits;
any further request gets a 503 with `Retry-After` at once. `without_place` exempts a route.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quarry.platform.errors import NotAuthenticated, Overloaded
from quarry.web import problems
from quarry.web.requests import endpoint_of, verified_caller


@dataclass(eq=False)
class Ticket:
    """One request of `user`, from its arrival until it leaves."""

    user: str
    at_work: bool = False


class Places:
    """Limits of the requests at work and waiting, in all and for each user.

    Waiting users take turns, however many requests each has. A request waits only if no place is free, or its user's share is
    used up.
    """

    def __init__(self, *, at_work: int, at_work_per_user: int, waiting: int, waiting_per_user: int) -> None:
        self.at_work_max = at_work
        self.at_work_per_user = at_work_per_user
        self.waiting_max = waiting
        self.waiting_per_user = waiting_per_user
        self._at_work: Counter[str] = Counter()
        # in the order of their turns
        self._waiting: OrderedDict[str, deque[Ticket]] = OrderedDict()

    @property
    def at_work(self) -> int:
        return self._at_work.total()

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    def enter(self, user: str) -> Ticket | None:
        """A ticket that is at work or waits; None if the queue is full."""
        ticket = Ticket(user)
        if self.at_work < self.at_work_max and self._at_work[user] < self.at_work_per_user:
            self._begin(ticket)
            return ticket
        own = self._waiting.get(user, ())
        if self.waiting >= self.waiting_max or len(own) >= self.waiting_per_user:
            return None
        self._waiting.setdefault(user, deque()).append(ticket)
        return ticket

    def leave(self, ticket: Ticket) -> Ticket | None:
        """Remove a ticket, exactly once; return the waiting one that takes its place, if any."""
        if not ticket.at_work:
            self._stop_waiting(ticket)
            return None
        ticket.at_work = False
        self._at_work[ticket.user] -= 1
        if not self._at_work[ticket.user]:
            del self._at_work[ticket.user]
        return self._next()

    def rounds_until_work(self, user: str) -> float:
        """About how many durations of a request pass before another request of `user` would be at work."""
        own = len(self._waiting.get(user, ()))
        return max((self.waiting + 1) / self.at_work_max, (own + 1) / self.at_work_per_user)

    def _next(self) -> Ticket | None:
        for user, tickets in self._waiting.items():
            if self._at_work[user] < self.at_work_per_user:
                ticket = tickets[0]
                self._stop_waiting(ticket)
                if user in self._waiting:
                    self._waiting.move_to_end(user)
                self._begin(ticket)
                return ticket
        return None

    def _begin(self, ticket: Ticket) -> None:
        ticket.at_work = True
        self._at_work[ticket.user] += 1

    def _stop_waiting(self, ticket: Ticket) -> None:
        tickets = self._waiting[ticket.user]
        tickets.remove(ticket)
        if not tickets:
            del self._waiting[ticket.user]


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
WITHOUT_PLACE = "_quarry_without_place"
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
logger = logging.getLogger(__name__)


def without_place(endpoint: Endpoint) -> Endpoint:
    """Mark a route as public and cheap: it is served without a place."""
    setattr(endpoint, WITHOUT_PLACE, True)
    return endpoint


def is_public(endpoint: object) -> bool:
    """Whether a route is marked so."""
    return bool(getattr(endpoint, WITHOUT_PLACE, False))


class Admission:
    """The places of one process, and the queue for them."""

    def __init__(self, places: Places, clock: Callable[[], float] = time.monotonic) -> None:
        self._places = places
        self._clock = clock
        self._turns: dict[Ticket, asyncio.Future[None]] = {}
        self._mean_seconds = FIRST_MEAN_SECONDS
        self._refused = 0
        self._warned_at = -math.inf

    @classmethod
    def of_pool(cls, connections: int) -> Self:
        """The limits for a pool with this number of connections. No user takes all connections, or all of the queue."""
        return cls(
            Places(
                at_work=PLACES_PER_CONNECTION * connections,
                at_work_per_user=max(1, int(USER_SHARE * connections)),
                waiting=QUEUE_MAX,
                waiting_per_user=int(USER_SHARE * QUEUE_MAX),
            )
        )

    @asynccontextmanager
    async def place(self, user: str) -> AsyncIterator[None]:
        """A place for the duration of the block. Raises Overloaded at once if the queue is full, or after QUEUE_SECONDS in it."""
        ticket = self._places.enter(user)
        if ticket is None:
            raise self._refusal(user)
        try:
            if not ticket.at_work:
                await self._turn_of(ticket)
            began = self._clock()
            try:
                yield
            finally:
                self._mean_seconds += MEAN_WEIGHT * (self._clock() - began - self._mean_seconds)
        finally:
            self._leave(ticket)

    async def _turn_of(self, ticket: Ticket) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._turns[ticket] = turn
        try:
            async with asyncio.timeout(QUEUE_SECONDS):
                await turn
        except TimeoutError:
            raise self._refusal(ticket.user) from None
        finally:
            del self._turns[ticket]

    def _leave(self, ticket: Ticket) -> None:
        following = self._places.leave(ticket)
        # one that has just stopped waiting leaves by itself
        if following is not None and not self._turns[following].done():
            self._turns[following].set_result(None)

    def _refusal(self, user: str) -> Overloaded:
        expected_seconds = self._places.rounds_until_work(user) * self._mean_seconds
        seconds = min(max(1, math.ceil(expected_seconds)), RETRY_AFTER_MAX_SECONDS)
        self._note_refusal()
        return Overloaded(
            f"The service is overloaded; try again in {seconds} s.",
            retry_after_seconds=seconds,
        )

    def _note_refusal(self) -> None:
        """Log refusals at intervals: a line for each would cost more than refusing it."""
        self._refused += 1
        now = self._clock()
        if now - self._warned_at >= WARNING_INTERVAL_SECONDS:
            logger.warning(
                "overloaded: %d requests refused since the last message, %d at work, %d waiting",
                self._refused, self._places.at_work, self._places.waiting,
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
    """The user; callers who are not signed in count as one, and their routes refuse them."""
    try:
        return verified_caller(Request(scope)).user_id
    except NotAuthenticated:
        return ""


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
