"""Searches as they are kept: what was asked, how it was read, and whom it found. A search opens its results to its caller until
it expires.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from psycopg.types.json import Jsonb

from quarry.people.candidates import RankedPerson
from quarry.people.contract import Constraints
from quarry.people.filters import CardFilters
from quarry.platform.errors import Gone, NotFound
from quarry.postgres.pool import Connection

NO_SUCH_RESULT = "None of your searches with this id found this person."
EXPIRED = "This search has expired; search again."


@dataclass(frozen=True)
class OpenedResult:
    """A result that its caller may open. `reachable`: the person is open to work or to contact."""

    why_matched: list[str]
    reachable: bool


async def hold_people(connection: Connection, person_ids: Sequence[str]) -> set[str]:
    """Those of the people who are still there, and stay until the end of the transaction: who was forgotten meanwhile is not."""
    cursor = await connection.execute("select hold_people(%s) as id", [list(person_ids)])
    return {row["id"] async for row in cursor}


async def store_search(
    connection: Connection,
    *,
    search_id: uuid.UUID,
    user_id: str,
    constraints: Constraints,
    filters: CardFilters,
    fallback_tier: int,
    ranked: Sequence[RankedPerson],
    reasons: Mapping[str, Sequence[str]],
    lifetime_hours: float,
) -> None:
    """Keep a search and whom it found, best first, with the reasons for each by id."""
    await connection.execute(
        """insert into people_searches (id, user_id, query_text, parsed_constraints, filters, fallback_tier, expires_at)
           values (%s, %s, %s, %s, %s, %s, now() + make_interval(secs => %s))""",
        [
            search_id,
            user_id,
            constraints.query_original,
            Jsonb(constraints.model_dump(mode="json")),
            Jsonb({name: _plain(value) for name, value in asdict(filters).items()}),
            fallback_tier,
            lifetime_hours * 3600,
        ],
    )
    if ranked:
        await connection.execute(
            """insert into people_search_results (search_id, person_id, rank, score, extra)
               select %s, r.* from unnest(%s::text[], %s::int[], %s::float8[], %s::jsonb[]) r""",
            [
                search_id,
                [each.person_id for each in ranked],
                list(range(1, len(ranked) + 1)),
                [each.score for each in ranked],
                [Jsonb(_extra(each, reasons[each.person_id])) for each in ranked],
            ],
        )


async def open_result(connection: Connection, user_id: str, search_id: str, person_id: str) -> OpenedResult:
    """The result of a search of this user's. Raises NotFound where there is none, Gone where the search has expired."""
    cursor = await connection.execute(
        """select s.expires_at <= now() as expired, r.extra -> 'why_matched' as why_matched,
             p.open_to_work or p.open_to_contact as reachable
           from people_searches s join people_search_results r on r.search_id = s.id join people p on p.id = r.person_id
           where s.id = %s and s.user_id = %s and r.person_id = %s""",
        [as_uuid(search_id), user_id, person_id],
    )
    row = await cursor.fetchone()
    if row is None:
        raise NotFound(NO_SUCH_RESULT)
    if row["expired"]:
        raise Gone(EXPIRED)
    return OpenedResult(row["why_matched"], row["reachable"])


def as_uuid(text: str) -> uuid.UUID | None:
    """The id that `text` spells, or None, which is no search's."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _extra(person: RankedPerson, reasons: Sequence[str]) -> dict[str, Sequence[str]]:
    return {
        "matched_parent_ids": person.matched_card_ids,
        "matched_child_ids": person.matched_child_ids,
        "why_matched": reasons,
    }


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime.date) else value
