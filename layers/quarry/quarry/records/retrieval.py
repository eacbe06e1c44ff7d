"""Records out of Postgres: typed rows in, nothing decided here."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from psycopg.sql import SQL, Identifier, Literal

from quarry.core.errors import NotFound
from quarry.core.postgres.call import call, function_call, vector_literal
from quarry.core.postgres.pool import Database
from quarry.records.contract import SEMANTIC_TYPES, RecordType, WholeRecord
from quarry.records.found import Candidate, RecordKey, RecordText
from quarry.records.tables import TABLES

_TECHNICAL_COLUMNS = ["text_search", "content_hash", "embedded_hash", "refused_hash", "refusals"]


async def find_candidates(
    database: Database,
    *,
    query: str,
    vector: Sequence[float] | None,
    types: Sequence[RecordType],
    depth: int,
    date_from: datetime.date | None = None,
    date_to: datetime.date | None = None,
) -> list[Candidate]:
    """The `depth` best candidates of each type, in one round trip. Without a vector: by their words alone."""
    arms = [_search_arm(name) for name in types]
    rows = await database.rows(
        SQL(" union all ").join(arms),
        {
            "query_text": query,
            "query_embedding": vector_literal(vector) if vector is not None else None,
            "match_count": depth,
            "date_from": date_from,
            "date_to": date_to,
        },
    )
    return [Candidate(row["type"], row["id"], row["text_score"], row["similarity"]) for row in rows]


def _search_arm(name: RecordType) -> Any:
    arguments = ["query_text", "match_count", "date_from", "date_to"]
    if name in SEMANTIC_TYPES:
        function = function_call(f"hybrid_search_{TABLES[name]}", [*arguments, "query_embedding"])
    else:
        function = function_call(f"search_{TABLES[name]}", arguments)
    return SQL("select {}::text as type, id, text_score, similarity from {}").format(Literal(name), function)


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
