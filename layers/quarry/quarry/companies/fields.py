"""Companies by their own fields: the look-up that makes a search within a place or a funding stage complete."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.sql import SQL, Composable

from quarry.companies.constraints import Constraints
from quarry.companies.places import spellings
from quarry.core.postgres.pool import Database


def can_be_looked_up(constraints: Constraints) -> bool:
    """Whether there is a demand that an index serves: a place or a funding stage."""
    return bool(constraints.countries or constraints.cities or constraints.funding_stages)


async def ids_meeting(
    database: Database, constraints: Constraints, statuses: Sequence[str], limit: int
) -> list[str] | None:
    """The ids of the companies of these statuses that are in the places, and of the funding stages, asked for.

    None where more than `limit` companies meet that: then filtering what was found is enough.
    """
    conditions: list[Composable] = [SQL("status = any(%(statuses)s)")]
    if constraints.countries or constraints.cities:
        conditions.append(SQL("(lower(hq_country) = any(%(countries)s) or lower(hq_city) = any(%(cities)s))"))
    if constraints.funding_stages:
        conditions.append(SQL("funding_stage = any(%(funding_stages)s)"))
    rows = await database.rows(
        SQL("select id from companies where {} limit %(limit)s").format(SQL(" and ").join(conditions)),
        {
            "countries": [spelling for name in constraints.countries for spelling in spellings(name)],
            "cities": list(constraints.cities),
            "funding_stages": list(constraints.funding_stages),
            "statuses": list(statuses),
            "limit": limit + 1,
        },
    )
    return None if len(rows) > limit else [row["id"] for row in rows]
