"""Records out of Postgres: typed rows in, nothing decided here."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psycopg.rows import DictRow
from psycopg.sql import SQL, Composed, Identifier, Literal, Placeholder

from quarry.core.errors import NotFound
from quarry.core.postgres.call import call
from quarry.core.postgres.pool import Database
from quarry.core.postgres.vectors import half_vector
from quarry.core.query.mention import DateRange
from quarry.core.query.question import Clause, Condition
from quarry.core.retrieval.filters import Arguments, Literals, where
from quarry.records.candidates import Candidate, RecordKey, RecordText
from quarry.records.contract import WholeRecord
from quarry.records.types import SEARCHED_BY_TYPE, TABLES, RecordType

_TECHNICAL_COLUMNS = ["text_search", "content_hash", "embedded_hash", "refused_hash", "refusals"]


ROWS_RANKED = 4_000
"""So many rows are ranked by their words in one search, shared by its arms; of a query of few words more (text_candidates)."""
ROWS_RANKED_MIN = 500
"""So many of each arm at least: of judged collections these hold 99 % of what ranking all rows finds in its first hundred."""


@dataclass(frozen=True)
class Scope:
    """Which records are searched: of these dates and facets, and where the search `is_strict`, with the phrases in quotes."""

    date_from: datetime.date | None = None
    date_to: datetime.date | None = None
    is_strict: bool = False
    facets: Sequence[Clause] = ()

    @property
    def dated(self) -> list[Clause]:
        """The condition of the dates, if there are any."""
        if self.date_from is None and self.date_to is None:
            return []
        return [(Condition("date", range=DateRange(self.date_from, self.date_to)),)]

    def within(self, date_from: datetime.date | None, date_to: datetime.date | None) -> Scope:
        """What of it is of these dates too."""
        first = [day for day in (self.date_from, date_from) if day is not None]
        last = [day for day in (self.date_to, date_to) if day is not None]
        return replace(self, date_from=max(first, default=None), date_to=min(last, default=None))


EVERYTHING = Scope()


@dataclass(frozen=True)
class Arm:
    """One type searched for some words, among the records that meet the clauses. `is_apart`: they are those of the question."""

    type: RecordType
    query: str
    clauses: Sequence[Clause] = ()
    is_apart: bool = False


async def find_candidates(
    database: Database, arms: Sequence[Arm], *, vector: Sequence[float] | None, depth: int, is_strict: bool = False
) -> list[Candidate]:
    """Of each arm the `depth` best candidates by words and as many by meaning, in one round trip. Without a vector: by words
    alone. Phrases in quotes must hold where the search `is_strict`. What a word says is reckoned over all types that are
    searched, so that scores of all arms are of one scale.
    """
    if not arms:
        return []
    values = {
        "embedding": half_vector(vector) if vector is not None else None,
        "depth": depth,
        "rows": max(ROWS_RANKED_MIN, ROWS_RANKED // len(arms)),
    }
    rows = await _of_each_arm(
        database,
        arms,
        SQL(
            "hybrid_candidates({table}, {embeddings}, {words}, %(embedding)s::halfvec, %(depth)s, {condition}, %(rows)s)"
        ),
        values,
        is_strict=is_strict,
    )
    return [
        Candidate(
            row["type"],
            row["id"],
            row["text_score"],
            row["similarity"],
            arms[row["arm"]].is_apart,
            row["coverage"],
        )
        for row in rows
    ]


async def count_found(
    database: Database,
    arms: Sequence[Arm],
    found: Mapping[RecordType, Sequence[str]],
    limit: int,
    *,
    is_strict: bool = False,
) -> dict[RecordType, int]:
    """How many records the arms find by their words, and those of `found`, by type; each is counted once, and of a type at most
    `limit` + 1.
    """
    if not arms:
        return {}
    values = {"limit": limit} | {f"found_{arm.type}": list(found.get(arm.type, ())) for arm in arms}
    function = SQL("count_candidates({table}, {words}, {condition}, %(limit)s, {found})")
    rows = await _of_each_arm(database, arms, function, values, is_strict=is_strict)
    return {row["type"]: row["c"] for row in rows}


async def _of_each_arm(
    database: Database, arms: Sequence[Arm], function: SQL, values: dict[str, Any], *, is_strict: bool
) -> list[DictRow]:
    """The rows that a function gives for each arm: of its words as they are weighed over all types, and of its condition."""
    values = values | {"strict": is_strict, "tables": list(dict.fromkeys(TABLES[arm.type] for arm in arms))}
    queries = list(dict.fromkeys(arm.query for arm in arms))
    values |= {f"query_{place}": query for place, query in enumerate(queries)}
    asked = SQL(", ").join(
        SQL("weigh_query(%(tables)s, {}, %(strict)s) as {}").format(
            Placeholder(f"query_{place}"), Identifier(f"asked_{place}")
        )
        for place in range(len(queries))
    )
    calls: list[Composed] = []
    for place, arm in enumerate(arms):
        if arm.clauses:
            condition = where(SEARCHED_BY_TYPE[arm.type], arm.clauses, Literals())
            values[f"filter_{place}"] = condition.as_string(None)
        called = function.format(
            table=Literal(TABLES[arm.type]),
            embeddings=Literal(f"{arm.type}_embeddings"),
            words=Identifier(f"asked_{queries.index(arm.query)}"),
            condition=Placeholder(f"filter_{place}") if arm.clauses else SQL("null"),
            found=Placeholder(f"found_{arm.type}"),
        )
        calls.append(
            SQL("select {} as arm, {} as type, c.* from asked, ").format(Literal(place), Literal(arm.type))
            + called
            + SQL(" c")
        )
    return await database.rows(
        SQL("with asked as materialized (select {}) ").format(asked) + SQL(" union all ").join(calls), values
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
