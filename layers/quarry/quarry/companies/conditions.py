"""Conditions on companies: in words, as SQL, and which of them companies meet."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.sql import SQL, Composable

from quarry.companies.sources import SEARCHED
from quarry.postgres.pool import Database
from quarry.query.algebra import Condition
from quarry.query.keys import meeting
from quarry.query.phrases import Phrases

RELAXED_MAX = 10
"""Of more conditions it is not told what each one costs."""

_SOURCE = "companies"


@dataclass(frozen=True)
class Standing:
    """Which conditions a company meets and misses, by their places."""

    meets: tuple[int, ...] = ()
    misses: tuple[int, ...] = ()


@dataclass(frozen=True)
class Relaxation:
    """How many companies there are without one of the conditions."""

    label: str
    rows: int


def labels(conditions: Sequence[Condition]) -> list[str]:
    """The conditions in words that can follow what they are about."""
    # every day is named by a date
    phrases = Phrases(SEARCHED, SEARCHED.sources[_SOURCE], datetime.date.min)
    return [phrases.condition(each) for each in conditions]


def met(conditions: Sequence[Condition], parameters: dict[str, Any] | None = None) -> Composable:
    """True of the rows `t` of companies that meet all conditions. Its values are added to `parameters` or, without these,
    stand in it. Raises InvalidInput for fields and kinds of values that companies do not have.
    """
    today = datetime.datetime.now(datetime.UTC).date()
    return meeting(conditions, _SOURCE, SEARCHED, today, parameters)


async def standings(database: Database, conditions: Sequence[Condition], ids: Sequence[str]) -> Mapping[str, Standing]:
    """Which conditions each of these companies meets by itself. Raises DatabaseUnavailable."""
    if not ids:
        return {}
    parameters: dict[str, Any] = {}
    each = SQL(", ").join(SQL("coalesce({}, false)").format(met([one], parameters)) for one in conditions)
    statement = SQL("select t.id, array[{}]::boolean[] as met from companies t where t.id = any(%(ids)s)").format(each)
    return {
        row["id"]: Standing(
            tuple(place for place, is_met in enumerate(row["met"]) if is_met),
            tuple(place for place, is_met in enumerate(row["met"]) if not is_met),
        )
        for row in await database.rows(statement, parameters | {"ids": list(ids)})
    }


async def relaxations(database: Database, conditions: Sequence[Condition]) -> list[Relaxation]:
    """How many companies there would be without each condition alone; those that bring most first. Nothing of more than
    `RELAXED_MAX` conditions. Raises DatabaseUnavailable.
    """
    if not 0 < len(conditions) <= RELAXED_MAX:
        return []
    parameters: dict[str, Any] = {}
    others = [[*conditions[:place], *conditions[place + 1 :]] for place in range(len(conditions))]
    counts = SQL(", ").join(
        SQL("(select count(*) from companies t where {})").format(met(each, parameters)) for each in others
    )
    row = await database.row(SQL("select array[{}]::bigint[] as rows").format(counts), parameters)
    assert row is not None
    found = [Relaxation(label, rows) for label, rows in zip(labels(conditions), row["rows"], strict=True)]
    return sorted(found, key=lambda each: -each.rows)
