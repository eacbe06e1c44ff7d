"""Who is at work, who waits and who is refused: the bookkeeping of admission, without a clock and without waiting itself."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass


@dataclass(eq=False)
class Ticket:
    """One request of `user`, from its arrival until it leaves."""

    user: str
    at_work: bool = False


class Places:
    """So many requests at work, so many waiting, and of both only a share for one user.

    Waiting users take turns, whatever the number of their requests; those of one user go in order. A request never waits while
    there is a place for it: none is free, or its user's share is taken.
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
        """A ticket that is at work, or waits; None where there is no place to wait either."""
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
        """Take out a ticket, at work or waiting, exactly once; the one that is at work in its place, if any."""
        if not ticket.at_work:
            self._stop_waiting(ticket)
            return None
        ticket.at_work = False
        self._at_work[ticket.user] -= 1
        if not self._at_work[ticket.user]:
            del self._at_work[ticket.user]
        return self._next()

    def rounds_until_work(self, user: str) -> float:
        """How many requests' durations pass, about, before one more request of `user` would be at work."""
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
