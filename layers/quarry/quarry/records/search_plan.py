"""Where a search looks: in every record of its types, and apart from these in the records that meet the question's conditions."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from quarry.core.postgres.pool import Database
from quarry.core.query.mention import DateRange
from quarry.core.query.question import Clause
from quarry.records.candidates import RecordKey
from quarry.records.intent import words_to_look_up
from quarry.records.reading import RecordsReading
from quarry.records.retrieval import EVERYTHING, Arm, Scope, ids_meeting
from quarry.records.types import SEARCHED_BY_TYPE, RecordType

IDS_MAX = 5_000
"""Where no more records of a type meet the conditions, only these are ranked; else those that were ranked are checked."""

LISTED_MAX = 100
"""So many records of a type are listed that are found by nothing but the conditions."""


@dataclass(frozen=True)
class SearchPlan:
    """The searches to make. `unchecked` are conditions that they do not see to; `must_hold`: nothing else is found. `listed` are
    records that are found for meeting the conditions, however far from the question in their words.
    """

    arms: Sequence[Arm]
    unchecked: Mapping[RecordType, Sequence[Clause]] = field(default_factory=dict)
    must_hold: bool = False
    listed: Sequence[RecordKey] = ()


async def plan_search(
    database: Database, query: str, types: Sequence[RecordType], given: Scope, reading: RecordsReading | None
) -> SearchPlan:
    """The searches for `query` among `types`. `given` holds above what the question says; without `reading` that is nothing.

    Where the conditions must hold, types that cannot tell one are left out, and so are others than those asked for by name.
    """
    everything = [Arm(name, words_to_look_up(query), given) for name in types]
    if reading is None or not reading.clauses:
        return SearchPlan(everything)
    scopes = {
        name: _dated(clauses, given)
        for name in types
        if (clauses := reading.clauses_for(SEARCHED_BY_TYPE[name])) is not None
    }
    others = {name: clauses for name, (_, clauses) in scopes.items() if clauses}
    ids = await ids_meeting(database, others, IDS_MAX + 1)
    unchecked = {name: others[name] for name, met in ids.items() if len(met) > IDS_MAX}
    words = words_to_look_up(reading.words or query)
    arms = [
        Arm(name, words, replace(scope, ids=None if name in unchecked else ids.get(name)), is_apart=True)
        for name, (scope, _) in scopes.items()
        if ids.get(name) != []
    ]
    if reading.must_hold and arms:
        asked_for = [arm for arm in arms if arm.type in reading.named] or arms
        held = [replace(arm, is_apart=False) for arm in asked_for]
        listed = [] if reading.question.topic else await _list(database, held, reading, given)
        return SearchPlan(held, unchecked, must_hold=True, listed=listed)
    return SearchPlan([*everything, *arms], unchecked)


async def _list(database: Database, arms: Sequence[Arm], reading: RecordsReading, given: Scope) -> list[RecordKey]:
    """The records of the arms that meet the conditions, where nothing else is said that they could be ranked by."""
    if given != EVERYTHING:
        return []
    clauses = {arm.type: reading.clauses_for(SEARCHED_BY_TYPE[arm.type]) or [] for arm in arms}
    ids = await ids_meeting(database, clauses, LISTED_MAX)
    return [(name, id) for name, met in ids.items() for id in met]


def _dated(clauses: Sequence[Clause], given: Scope) -> tuple[Scope, list[Clause]]:
    """The dates that the clauses ask for, and the clauses that are left. Dates that are given stand instead of any."""
    is_given = given.date_from is not None or given.date_to is not None
    scope, others = given, []
    for clause in clauses:
        days = _days(clause)
        if days is None:
            others.append(clause)
        elif not is_given:
            scope = Scope(_later(scope.date_from, days.first), _earlier(scope.date_to, days.last))
    return scope, others


def _days(clause: Clause) -> DateRange | None:
    """The dates of a clause that asks for nothing but a span of them."""
    if len(clause) != 1 or clause[0].facet != "date" or clause[0].is_negated:
        return None
    days = clause[0].range
    return days if isinstance(days, DateRange) and not days.months else None


def _later(one: datetime.date | None, other: datetime.date | None) -> datetime.date | None:
    return max(one, other) if one and other else one or other


def _earlier(one: datetime.date | None, other: datetime.date | None) -> datetime.date | None:
    return min(one, other) if one and other else one or other
