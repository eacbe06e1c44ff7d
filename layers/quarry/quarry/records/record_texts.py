"""Texts of records: what the caller may see of them, found by their keys."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, LiteralString

from psycopg import DataError
from psycopg.sql import SQL, Composed, Literal

from quarry.platform.errors import NotFound
from quarry.platform.text import shown
from quarry.postgres.pool import Database
from quarry.records.candidates import RecordKey, RecordText
from quarry.records.collections_contract import WholeRecord
from quarry.records.contract import RecordType
from quarry.records.searched_types import RecordTypes, SearchedType

SAID_MAX_CHARACTERS = 2_000
"""So much of what a record says is compared with what others say."""


async def describe(database: Database, keys: Sequence[RecordKey], types: RecordTypes, query: str) -> list[RecordText]:
    """The texts of the named records, in the order of `keys`, with snippets for `query`; without what the caller may not see."""
    of_keys = types.only([name for name, _ in keys])
    if not of_keys:
        return []
    rows = await database.rows(
        texts_query(of_keys),
        {"types": [name for name, _ in keys], "ids": [id for _, id in keys], "query": query},
    )
    return [
        RecordText(
            **_shown(row, ("title", "body", "topic", "author", "snippet")),
            quoting=types[row["type"]].quoting,
            language=types[row["type"]].table.language,
        )
        for row in rows
    ]


def _shown(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """A row whose texts of these names are as readers see them: places that citations tell are counted in those texts. Ids and
    values that clients filter by stay as they are, since they come back.
    """
    return {**row, **{name: shown(row[name]) for name in names if name in row}}


def texts_query(types: Sequence[SearchedType]) -> Composed:
    """Selects the texts of records by the parameters `types` and `ids`, with snippets for `query`."""
    # the query is read once for each language, not for each record
    return _of_keys({each.name: (each.text, each.row_language) for each in types}) + SQL(
        ", asked as materialized (select l.language, (read_query(%(query)s, l.language)).words[:16] as words"
        " from (select distinct s.language from seen s) l)"
        " select s.type, s.id, s.title, s.body, s.topic, s.author, s.date, s.meeting_id, s.url,"
        " record_snippet(s.body, a.words, s.language) as snippet"
        " from seen s join asked a on a.language is not distinct from s.language order by s.place"
    )


async def dates_of(database: Database, keys: Sequence[RecordKey], types: RecordTypes) -> dict[RecordKey, datetime.date]:
    """The dates of the named records, without those that have none and what the caller may not see."""
    of_keys = types.only([name for name, _ in keys])
    if not of_keys:
        return {}
    rows = await database.rows(
        _of_keys({each.name: (each.text, "null") for each in of_keys})
        + SQL(" select s.type, s.id, s.date from seen s where s.date is not null"),
        {"types": [name for name, _ in keys], "ids": [id for _, id in keys]},
    )
    return {(row["type"], row["id"]): row["date"] for row in rows}


async def what_they_say(database: Database, keys: Sequence[RecordKey], types: RecordTypes) -> dict[RecordKey, str]:
    """The title and texts of each of the named records, without what the caller may not see. Of a long one stands the beginning,
    with a digest of the whole behind it: these say the same only if all of it is the same.
    """
    of_keys = types.only([name for name, _ in keys])
    if not of_keys:
        return {}
    rows = await database.rows(
        _of_keys({each.name: (each.said, "null") for each in of_keys})
        + SQL(
            " select s.type, s.id, left(s.said, %(longest)s)"
            " || case when length(s.said) > %(longest)s then ' ' || md5(s.said) else '' end as said from seen s"
        ),
        {"types": [name for name, _ in keys], "ids": [id for _, id in keys], "longest": SAID_MAX_CHARACTERS},
    )
    return {(row["type"], row["id"]): row["said"] for row in rows}


def _of_keys(selects: Mapping[RecordType, tuple[LiteralString, LiteralString]]) -> Composed:
    """The beginning of a statement: `seen` is what these select of the records that the parameters `types` and `ids` name, and
    the language of each.
    """
    seen = [
        SQL(
            "select k.place, r.*, ({})::regconfig as language from keys k cross join lateral ({} offset 0) r"
            " where k.type = any({})"
        ).format(
            SQL(language), SQL(select), Literal([name for name, own in selects.items() if own == (select, language)])
        )
        for select, language in dict.fromkeys(selects.values())
    ]
    return SQL(
        "with keys as materialized ("
        "select * from unnest(%(types)s::text[], %(ids)s::text[]) with ordinality k (type, id, place)), seen as ({})"
    ).format(SQL(" union all ").join(seen))


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
    return WholeRecord(
        type=type.name, id=record_id, texts=list(type.texts), **_shown(row, ("title", "fields", "meeting"))
    )
