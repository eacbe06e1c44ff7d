"""Whom a search shows where few or none meet all that is asked: who misses least of it, the nearest first."""

from __future__ import annotations

import pytest

from quarry.people.filters import FALLBACK_TIER_LOCATION_SOFT, CardFilters
from quarry.people.finding import Finding, Wanted, find_people
from quarry.people.retrieval import NOBODY
from quarry.platform.budget import Budget
from quarry.postgres.pool import Database
from quarry.runs.run_log import Run
from tests.people.cards import Connection, add_card, add_person
from tests.vectors import direction

BAKERS_IN_PUNE = CardFilters(roles=("baker",), places=("pune",))


@pytest.fixture
def connection(connection: Connection) -> Connection:
    """Twenty welders in Pune, far from whatever is asked about."""
    for number in range(20):
        add_card(connection, f"welder{number:02}", degrees=80, title="Welder", city="Pune")
    return connection


async def find(database: Database, filters: CardFilters) -> Finding:
    run = Run("people", "u1", "", Budget(max_turns=0, max_calls=0, max_seconds=30, max_tokens=0), None)
    return await find_people(Wanted(filters, "baker", direction(0), NOBODY), database, run)


def shown(finding: Finding) -> list[tuple[str, tuple[str, ...]]]:
    return [(person.id, tuple(person.misses)) for person in finding.people]


async def test_who_is_what_is_asked_for_elsewhere_stands_before_others_who_are_there(
    connection: Connection, database: Database
) -> None:
    add_card(connection, "baker", title="Baker", city="Goa")
    finding = await find(database, BAKERS_IN_PUNE)
    assert shown(finding)[0] == ("baker", ("in Pune",))
    assert all(misses == ("baker",) for _, misses in shown(finding)[1:])
    assert finding.tier == FALLBACK_TIER_LOCATION_SOFT


async def test_who_meets_all_by_several_experiences_stands_before_who_misses_something(
    connection: Connection, database: Database
) -> None:
    add_card(connection, "both", degrees=60, title="Baker", city="Pune")
    add_card(connection, "apart-1", add_somebody(connection, "apart"), degrees=70, title="Baker", city="Goa")
    add_card(connection, "apart-2", "apart", degrees=70, title="Welder", city="Pune")
    add_card(connection, "near", degrees=0, title="Baker", city="Goa")
    assert shown(await find(database, BAKERS_IN_PUNE))[:3] == [
        ("both", ()),
        ("apart", ("all in one experience",)),
        ("near", ("in Pune",)),
    ]


def add_somebody(connection: Connection, id: str) -> str:
    add_person(connection, id)
    return id
