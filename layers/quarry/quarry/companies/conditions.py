"""Conditions on companies: in words, as SQL, and which of them companies meet."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from psycopg.sql import Composable

from quarry.companies.sources import SEARCHED
from quarry.postgres.pool import Database
from quarry.query import filtered as by_row
from quarry.query.algebra import Condition
from quarry.query.compile import meeting
from quarry.query.phrases import Phrases

_SOURCE = "companies"
# every day is named by a date
_PHRASES = Phrases(SEARCHED, SEARCHED.sources[_SOURCE], datetime.date.min)


def labels(conditions: Sequence[Condition]) -> list[str]:
    """The conditions in words that can follow what they are about."""
    return [_PHRASES.condition(each) for each in conditions]


def met(conditions: Sequence[Condition], parameters: dict[str, Any] | None = None) -> Composable:
    """True of the rows `t` of companies that meet all conditions. Its values are added to `parameters` or, without these,
    stand in it. Raises InvalidInput for fields and kinds of values that companies do not have.
    """
    return meeting(conditions, _SOURCE, SEARCHED, _today(), parameters)


async def standings(database: Database, conditions: Sequence[Condition], ids: Sequence[str]) -> dict[str, list[bool]]:
    """Whether each of these companies meets each condition by itself. Raises DatabaseUnavailable."""
    return await by_row.standings(database, conditions, _SOURCE, SEARCHED, ids, _today())


async def costs(database: Database, conditions: Sequence[Condition]) -> list[tuple[str, int]]:
    """How many companies there would be without each condition alone, most first. Raises DatabaseUnavailable."""
    return await by_row.costs(database, conditions, _PHRASES, _today())


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()
