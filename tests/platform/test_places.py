from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from quarry.web.admission import Places, Ticket

USERS = "abcd"

# a letter: a request of that user arrives; a number: one of those who are here leaves
actions = st.lists(st.sampled_from(USERS) | st.integers(0, 30), max_size=80)
small = st.integers(1, 4)


def make_places(at_work: int = 2, at_work_per_user: int = 1, waiting: int = 4, waiting_per_user: int = 3) -> Places:
    return Places(
        at_work=at_work, at_work_per_user=at_work_per_user, waiting=waiting, waiting_per_user=waiting_per_user
    )


def enter(places: Places, users: Sequence[str]) -> list[Ticket]:
    tickets = [places.enter(user) for user in users]
    assert None not in tickets
    return [ticket for ticket in tickets if ticket is not None]


@given(actions, small, small, small, small)
def test_whatever_comes_and_goes_the_bounds_hold_and_nobody_waits_beside_a_free_place(
    actions: list[str | int], at_work: int, at_work_per_user: int, waiting: int, waiting_per_user: int
) -> None:
    places = make_places(at_work, at_work_per_user, waiting, waiting_per_user)
    here: list[Ticket] = []
    for action in actions:
        queue = [ticket for ticket in here if not ticket.at_work]
        if isinstance(action, str):
            ticket = places.enter(action)
            own = sum(waiter.user == action for waiter in queue)
            if ticket is None:
                assert len(queue) == waiting or own == waiting_per_user
            else:
                here.append(ticket)
        elif here:
            leaving = here.pop(action % len(here))
            following = places.leave(leaving)
            # exactly the one that is named has begun, and it was the first of its user
            assert [waiter for waiter in queue if waiter.at_work] == ([following] if following else [])
            if following:
                assert following == next(waiter for waiter in queue if waiter.user == following.user)
        working = Counter(ticket.user for ticket in here if ticket.at_work)
        waiters = Counter(ticket.user for ticket in here if not ticket.at_work)
        assert places.at_work == working.total() <= at_work
        assert places.waiting == waiters.total() <= waiting
        assert max(working.values(), default=0) <= at_work_per_user
        assert max(waiters.values(), default=0) <= waiting_per_user
        assert working.total() == at_work or all(working[user] == at_work_per_user for user in waiters)
