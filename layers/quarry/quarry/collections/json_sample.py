"""The keys that JSON columns hold in many rows of a sample, with the types of their values; and
which columns of text hold HTML, since statistics leave out long values.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from psycopg.errors import Error as PostgresError
from psycopg.rows import dict_row
from psycopg.sql import SQL, Composed, Identifier, Literal

from quarry.collections.guessing import is_text
from quarry.collections.relations import (
    CATEGORIES,
    JSON_TYPES,
    MOMENT,
    NUMBER,
    TEXT,
    TRUTH,
    Column,
    PathType,
    Relation,
    seen_of,
)
from quarry.postgres.schema import SyncConnection

ROWS_MAX = 500
"""How many rows of a table are sampled."""
BYTES_MAX = 65_536
"""Larger documents are skipped."""
DEPTH_MAX = 3
KEYS_MAX = 40
"""How many keys of a column are kept, the most frequent first."""
SHARE_MIN = 0.02
"""Rarer keys are values that were used as keys: names of people, days."""
SAMPLE_SECONDS = 5
"""The time limit of a sample. Slower relations, which may be views, are skipped."""
VALUES_KEPT = 40
CHARACTERS_KEPT = 300
KEY_CHARACTERS_MAX = 60

_SAMPLE = """
with recursive sampled as (
  select row_number() over () as number, s.value from (
    select d.value from (select {column}::jsonb as value from {table}{sample} where {column} is not null limit {rows}) d
    where pg_column_size(d.value) <= {bytes}
  ) s
), at as (
  select s.number, array[k.key] as path, k.value
  from sampled s, jsonb_each(case jsonb_typeof(s.value) when 'object' then s.value else '{{}}' end) k
  union all
  select a.number, a.path || k.key, k.value
  from at a, jsonb_each(case jsonb_typeof(a.value) when 'object' then a.value else '{{}}' end) k
  where cardinality(a.path) < {depth}
), typed as (
  select a.path, a.value, a.value #>> '{{}}' as said, case jsonb_typeof(a.value)
      when 'array' then case when jsonb_path_exists(a.value, 'strict $[*] ? (@.type() == "object" || @.type() == "array")')
        then 'objects' when a.value = '[]' then 'null' else 'array' end
      else jsonb_typeof(a.value) end as type
  from at a
)
select t.path, array_agg(distinct t.type) filter (where t.type <> 'null') as types, count(*) as held,
  count(distinct t.said) as different, avg(length(t.said))::int as width,
  (array_agg(left(t.said, {characters})) filter (where t.type = 'string'))[:{kept}] as texts,
  min(case t.type when 'number' then t.said::numeric end)::float8 as least,
  max(case t.type when 'number' then t.said::numeric end)::float8 as most,
  (select count(*) from sampled) as sampled
from typed t group by t.path order by held desc, t.path
"""


def with_documents(connection: SyncConnection, relations: Iterable[Relation]) -> list[Relation]:
    """The tables and views, with the keys that a sample of their JSON columns holds. None where they cannot be read."""
    return [replace(each, documents=tuple(_documents(connection, each))) for each in relations]


def _documents(connection: SyncConnection, relation: Relation) -> Iterator[Column]:
    if not relation.may_select or relation.is_row_security_active:
        return
    for column in relation.columns:
        if column.base in JSON_TYPES and not column.is_array and not {*column.name} & {*"{}."}:
            yield from _keys(column, _sampled(connection, relation, column))


def _sampled(connection: SyncConnection, relation: Relation, column: Column) -> list[Mapping[str, Any]]:
    # whoever reads a broken view later reports the error; the rollback also resets the timeout
    with (
        suppress(PostgresError),
        connection.transaction(force_rollback=True),
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        cursor.execute(SQL("set local statement_timeout = {}").format(Literal(SAMPLE_SECONDS * 1000)))
        return [*cursor.execute(_query(relation, column)).fetchall()]
    return []


def _query(relation: Relation, column: Column) -> Composed:
    return SQL(_SAMPLE).format(
        column=Identifier(column.name),
        table=Identifier(*relation.qualified),
        sample=spread(relation),
        rows=Literal(ROWS_MAX),
        bytes=Literal(BYTES_MAX),
        depth=Literal(DEPTH_MAX),
        characters=Literal(CHARACTERS_KEPT),
        kept=Literal(VALUES_KEPT),
    )


def spread(relation: Relation) -> Composed:
    """Spreads the sample over a large table: its first rows may date from before a key was written."""
    if relation.kind not in ("table", "partitioned table") or (relation.rows or 0) < 10 * ROWS_MAX:
        return SQL("").format()
    # sampled by pages of many rows: twice as many as needed
    share = min(100.0, max(0.01, 200 * ROWS_MAX / (relation.rows or 1)))
    return SQL(" tablesample system ({})").format(Literal(share))


def _keys(column: Column, rows: Sequence[Mapping[str, Any]]) -> Iterator[Column]:
    """The keys of a column that can be fields."""
    usual = [
        row for row in rows if row["held"] >= max(1, SHARE_MIN * row["sampled"]) and all(map(_is_plain, row["path"]))
    ]
    typed = [(row, type) for row in usual if (type := _type(row)) is not None]
    for row, type in typed[:KEYS_MAX]:
        share = row["different"] / row["held"]
        yield Column(
            ".".join((column.name, *row["path"])),
            column.number,
            type.base,
            type.base,
            CATEGORIES[type.base],
            type.is_array,
            True,
            row["width"],
            row["different"] if share <= 1 / 2 else -share,
            None,
            row["least"],
            row["most"],
            None if type.base != TEXT or type.is_array else seen_of(row["texts"] or []),
        )


def _is_plain(key: str) -> bool:
    """Whether a path can name the key, and it is not a value used as a key."""
    is_name = key.replace("_", "").replace("-", "").replace(" ", "").isalnum() and not key[:1].isdigit()
    return is_name and key == key.strip() and len(key) <= KEY_CHARACTERS_MAX


def _type(row: Mapping[str, Any]) -> PathType | None:
    """The one type of all values at a path; None for objects, and for arrays of them."""
    types = {*(row["types"] or ())}
    if not types or types & {"object", "objects"}:
        return None
    if "array" in types:
        return PathType(TEXT, is_array=True)
    if types == {"number"}:
        return PathType(NUMBER)
    if types == {"boolean"}:
        return PathType(TRUTH)
    texts = row["texts"] or []
    return PathType(MOMENT if types == {"string"} and texts and all(map(_is_moment, texts)) else TEXT)


def _is_moment(text: str) -> bool:
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return "-" in text[:8]


CHARACTERS_MAX = 4_000
"""How many characters of each text are looked at."""
WIDTH_MIN = 8
"""Columns that are narrower on average hold no element: `<b>x</b>`."""

_ELEMENT = (
    r"</(a|b|body|br|code|div|em|h[1-6]|head|html|i|li|ol|p|pre|script|span|strong|style|table|td|tr|u|ul)\s*>"
    r"|<br\s*/?>|<!doctype html|<!--.*?-->"
)
"""What ends an element of HTML, or stands alone."""


def with_markup(connection: SyncConnection, relations: Iterable[Relation]) -> list[Relation]:
    """The tables and views, with the columns of text marked that hold HTML. None where they cannot be read."""
    return [_marked(connection, each) for each in relations]


def _marked(connection: SyncConnection, relation: Relation) -> Relation:
    texts = [each.name for each in relation.columns if is_text(each) and (each.width or WIDTH_MIN) >= WIDTH_MIN]
    if not texts or not relation.may_select or relation.is_row_security_active:
        return relation
    marked = _holding_html(connection, relation, texts)
    columns = tuple(replace(each, is_html=each.name in marked) for each in relation.columns)
    return replace(relation, columns=columns) if marked else relation


def _holding_html(connection: SyncConnection, relation: Relation, texts: list[str]) -> set[str]:
    holds = SQL("bool_or(left({}::text, {}) ~* {})")
    query = SQL("select {} from (select {} from {}{} limit {}) s").format(
        SQL(", ").join(holds.format(Identifier(name), Literal(CHARACTERS_MAX), Literal(_ELEMENT)) for name in texts),
        SQL(", ").join(map(Identifier, texts)),
        Identifier(*relation.qualified),
        spread(relation),
        Literal(ROWS_MAX),
    )
    # whoever reads a broken view later reports the error; the rollback also resets the timeout
    with suppress(PostgresError), connection.transaction(force_rollback=True):
        connection.execute(SQL("set local statement_timeout = {}").format(Literal(SAMPLE_SECONDS * 1000)))
        row = connection.execute(query).fetchone()
        return {name for name, holds_it in zip(texts, row or (), strict=True) if holds_it}
    return set()
