"""Records out of Postgres: typed rows in, nothing decided here."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.sql import SQL, Composed, Identifier, Literal, Placeholder

from quarry.core.errors import NotFound
from quarry.core.postgres.call import call, vector_literal
from quarry.core.postgres.pool import Database
from quarry.core.query.question import Clause
from quarry.core.retrieval.filters import Arguments, where
from quarry.records.candidates import Candidate, RecordKey, RecordText
from quarry.records.contract import WholeRecord
from quarry.records.types import SEARCHED_BY_TYPE, SEMANTIC_TYPES, TABLES, RecordType

_TECHNICAL_COLUMNS = ["text_search", "content_hash", "embedded_hash", "refused_hash", "refusals"]


@dataclass(frozen=True)
class Scope:
    """Which records are searched at all: of these dates, and of `ids` where it is not None."""

    date_from: datetime.date | None = None
    date_to: datetime.date | None = None
    ids: Sequence[str] | None = None


EVERYTHING = Scope()


@dataclass(frozen=True)
class Arm:
    """One type searched for some words. `is_apart`: its candidates are ranked by themselves too."""

    type: RecordType
    query: str
    scope: Scope = EVERYTHING
    is_apart: bool = False


async def find_candidates(
    database: Database, arms: Sequence[Arm], *, vector: Sequence[float] | None, depth: int
) -> list[Candidate]:
    """The `depth` best candidates of each arm, in one round trip. Without a vector: by their words alone."""
    if not arms:
        return []
    values: dict[str, Any] = {
        "query_embedding": vector_literal(vector) if vector is not None else None,
        "match_count": depth,
    }
    searches = [_search_arm(arm, place, values) for place, arm in enumerate(arms)]
    rows = await database.rows(SQL(" union all ").join(searches), values)
    return [
        Candidate(row["type"], row["id"], row["text_score"], row["similarity"], arms[row["arm"]].is_apart)
        for row in rows
    ]


def _search_arm(arm: Arm, place: int, values: dict[str, Any]) -> Composed:
    own = {
        "query_text": arm.query,
        "date_from": arm.scope.date_from,
        "date_to": arm.scope.date_to,
        "ids": None if arm.scope.ids is None else list(arm.scope.ids),
    }
    values |= {f"{name}_{place}": value for name, value in own.items()}
    given = {name: f"{name}_{place}" for name in own} | {"match_count": "match_count"}
    has_vectors = arm.type in SEMANTIC_TYPES
    if has_vectors:
        given["query_embedding"] = "query_embedding"
    function = SQL("{}({})").format(
        Identifier(f"{'hybrid_search' if has_vectors else 'search'}_{TABLES[arm.type]}"),
        SQL(", ").join(SQL("{} => {}").format(Identifier(to), Placeholder(name)) for to, name in given.items()),
    )
    return SQL("select {} as arm, {}::text as type, id, text_score, similarity from {}").format(
        Literal(place), Literal(arm.type), function
    )


async def ids_meeting(
    database: Database, clauses: Mapping[RecordType, Sequence[Clause]], limit: int
) -> dict[RecordType, list[str]]:
    """Records of each type that meet its conditions, latest first, `limit` of a type at most, in one round trip."""
    arguments = Arguments()
    selects = [
        SQL("select {} as type, array(select t.id from {} t where {} order by t.date desc nulls last, t.id").format(
            Literal(name), Identifier(TABLES[name]), where(SEARCHED_BY_TYPE[name], given, arguments)
        )
        + SQL(" limit {}) as ids").format(Literal(limit))
        for name, given in clauses.items()
    ]
    if not selects:
        return {}
    rows = await database.rows(SQL(" union all ").join(selects), arguments.values)
    return {row["type"]: row["ids"] for row in rows}


async def describe(database: Database, keys: Sequence[RecordKey], query: str) -> list[RecordText]:
    """The texts of the named records, in the order of `keys`, with snippets for `query`."""
    if not keys:
        return []
    rows = await call(
        database,
        "describe_records",
        p_types=[name for name, _ in keys],
        p_ids=[record_id for _, record_id in keys],
        p_query=query,
    )
    return [RecordText(**row) for row in rows]


async def latest_topics(database: Database, limit: int) -> list[str]:
    """Titles of the matters that came up last."""
    rows = await database.rows(
        "select title from matters order by coalesce(decided_on, introduced_on, date) desc nulls last, id limit %s",
        [limit],
    )
    return [row["title"] for row in rows]


async def whole_record(database: Database, name: RecordType, record_id: str) -> WholeRecord:
    """A record with its title, all its columns and its meeting. Raises NotFound."""
    row = await database.row(
        SQL(
            """select to_jsonb(r) - %(technical)s::text[] as fields, t.title, t.date, t.url, to_jsonb(m) as meeting
               from {table} r
               join lateral (select * from record_texts t where t.type = {name} and t.id = r.id offset 0) t on true
               left join meetings m on m.id = r.meeting_id
               where r.id = %(id)s"""
        ).format(table=Identifier(TABLES[name]), name=Literal(name)),
        {"technical": _TECHNICAL_COLUMNS, "id": record_id},
    )
    if row is None:
        raise NotFound(f"There is no {name.replace('_', ' ')} with this id.")
    return WholeRecord(type=name, id=record_id, **row)
