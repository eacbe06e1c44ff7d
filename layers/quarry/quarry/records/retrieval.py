"""Records out of Postgres: typed rows in, nothing decided here."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from psycopg import DataError
from psycopg.rows import DictRow
from psycopg.sql import SQL, Composed, Identifier, Literal, Placeholder

from quarry.core.errors import NotFound
from quarry.core.postgres.pool import Database
from quarry.core.postgres.vectors import half_vector
from quarry.core.query.mention import DateRange
from quarry.core.query.question import Clause, Condition
from quarry.core.retrieval.filters import Arguments, where
from quarry.records.candidates import Candidate, RecordKey, RecordText
from quarry.records.contract import RecordType, WholeRecord
from quarry.records.searched_types import RecordTypes, SearchedType

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

    type: SearchedType
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
    values = {"limit": limit} | {f"found_{arm.type.name}": list(found.get(arm.type.name, ())) for arm in arms}
    function = SQL("count_candidates({table}, {words}, {condition}, %(limit)s, {found})")
    rows = await _of_each_arm(database, arms, function, values, is_strict=is_strict)
    return {row["type"]: row["c"] for row in rows}


async def _of_each_arm(
    database: Database, arms: Sequence[Arm], function: SQL, values: dict[str, Any], *, is_strict: bool
) -> list[DictRow]:
    """The rows that a function gives for each arm: of its words as they are weighed over all types, and of its condition."""
    values = values | {"strict": is_strict, "tables": list(dict.fromkeys(arm.type.rows for arm in arms))}
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
        condition = arm.type.condition(arm.clauses)
        if condition is not None:
            values[f"filter_{place}"] = condition.as_string(None)
        called = function.format(
            table=Literal(arm.type.rows),
            embeddings=Literal(arm.type.windows),
            words=Identifier(f"asked_{queries.index(arm.query)}"),
            condition=Placeholder(f"filter_{place}") if condition is not None else SQL("null"),
            found=Placeholder(f"found_{arm.type.name}"),
        )
        calls.append(
            SQL("select {} as arm, {} as type, c.* from asked, ").format(Literal(place), Literal(arm.type.name))
            + called
            + SQL(" c")
        )
    return await database.rows(
        SQL("with asked as materialized (select {}) ").format(asked) + SQL(" union all ").join(calls), values
    )


async def ids_meeting(
    database: Database, clauses: Mapping[SearchedType, Sequence[Clause]], limit: int
) -> dict[RecordType, list[str]]:
    """Records of each type that meet its conditions, latest first, `limit` of a type at most, in one round trip."""
    arguments = Arguments()
    selects = [
        SQL("select {} as type, array(select {} from {} t where {} order by {}{} limit {}) as ids").format(
            Literal(each.name),
            SQL(each.table.key_sql),
            SQL(each.table.rows),
            where(each.table, given, arguments),
            SQL(f"{each.table.facet(each.table.date).sql} desc nulls last, " if each.table.date else ""),
            SQL(each.table.key_sql),
            Literal(limit),
        )
        for each, given in clauses.items()
    ]
    if not selects:
        return {}
    rows = await database.rows(SQL(" union all ").join(selects), arguments.values)
    return {row["type"]: row["ids"] for row in rows}


async def describe(database: Database, keys: Sequence[RecordKey], types: RecordTypes, query: str) -> list[RecordText]:
    """The texts of the named records, in the order of `keys`, with snippets for `query`; without what the caller may not see."""
    of_keys = types.only([name for name, _ in keys])
    if not of_keys:
        return []
    rows = await database.rows(
        texts_query(of_keys),
        {"types": [name for name, _ in keys], "ids": [id for _, id in keys], "query": query},
    )
    return [RecordText(**row, quoting=types[row["type"]].quoting) for row in rows]


def texts_query(types: Sequence[SearchedType]) -> Composed:
    """Selects the texts of records by the parameters `types` and `ids`, with snippets for `query`."""
    seen = [
        SQL("select k.place, r.* from keys k cross join lateral ({} offset 0) r where k.type = any({})").format(
            SQL(text), Literal([each.name for each in types if each.text == text])
        )
        for text in dict.fromkeys(each.text for each in types)
    ]
    return SQL(
        "with keys as materialized ("
        "select * from unnest(%(types)s::text[], %(ids)s::text[]) with ordinality k (type, id, place)),"
        " seen as ({}) select s.type, s.id, s.title, s.body, s.topic, s.author, s.date, s.meeting_id, s.url,"
        " record_snippet(s.body, %(query)s) as snippet from seen s order by s.place"
    ).format(SQL(" union all ").join(seen))


async def latest_records(database: Database, types: RecordTypes, limit: int) -> list[RecordText]:
    """The latest `limit` records of the type whose titles others have for topics; where there is none, of the first."""
    topical = next((each for each in types.values() if each.is_topic), None) or next(iter(types.values()))
    ids = await ids_meeting(database, {topical: []}, limit)
    return await describe(database, [(topical.name, id) for id in ids[topical.name]], types, "")


async def whole_record(database: Database, type: SearchedType, record_id: str) -> WholeRecord:
    """A record with its title, all its columns and what it is part of. Raises NotFound, also for what the caller may not see."""
    query = SQL("select w.* from (select %s::text as id) k cross join lateral ({} offset 0) w").format(SQL(type.whole))
    try:
        row = await database.row(query, [record_id])
    except DataError:
        # of no such key is a row of that table
        row = None
    if row is None:
        raise NotFound(f"There is no {type.name.replace('_', ' ')} with this id.")
    return WholeRecord(type=type.name, id=record_id, texts=list(type.texts), **row)
