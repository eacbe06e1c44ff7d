"""Results of queries and of gold statements in comparable form: sets of rows whose cells may be in any order."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import psycopg
from psycopg.rows import dict_row
from pydantic import ValidationError

from quarry.platform.errors import InvalidInput
from quarry.query.execute import compile_query, result_of
from quarry.query.values import interval_of
from quarry.reader.compose import Composed
from quarry.schema.algebra import LIMIT_MAX, Query, Result
from quarry.schema.source import Schema

TODAY = datetime.date(2026, 1, 1)
Cell = str | float | None
Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Denotation:
    """A result as hashes: as a set of rows, and with the number of each row."""

    as_set: bytes
    as_list: bytes


@dataclass(frozen=True)
class Gold:
    """The right results: the gold's own, and others with rows that tie at a limit. `width` is its number of columns."""

    width: int
    own: Denotation
    sets: frozenset[bytes]


def run(connection: psycopg.Connection[Any], query: Query, schema: Schema, today: datetime.date = TODAY) -> Result:
    """The result of a query. Raises InvalidInput and psycopg's errors."""
    statement = compile_query(query, schema, today)
    with connection.cursor(row_factory=dict_row) as cursor:
        return result_of(statement, cursor.execute(statement.sql, statement.parameters).fetchall())


def denotations(
    connection: psycopg.Connection[Any], composed: Composed, schema: Schema, today: datetime.date = TODAY
) -> list[tuple[int, Denotation]]:
    """The result of a query with all columns, and without those that only explain the rows, by width; empty if it fails."""
    try:
        query = Query.model_validate({**composed.query, "limit": composed.query.get("limit", LIMIT_MAX)})
        result = run(connection, query, schema, today)
    except (InvalidInput, ValidationError, psycopg.Error):
        return []
    rows = [tuple(map(cell, row)) for row in _without_empty_periods(result.rows, query)]
    width = len(result.columns)
    found = [(width, denotation(rows))]
    if composed.aside:
        kept = [place for place in range(width) if place not in composed.aside]
        found.append((len(kept), denotation([tuple(row[place] for place in kept) for row in rows])))
    return found


def _without_empty_periods(rows: Sequence[Sequence[Any]], query: Query) -> Iterator[Sequence[Any]]:
    """The rows, with periods by their first day, without empty periods, which a plain statement does not return."""
    period = query.group[0].period if query.group else None
    if period is None:
        yield from rows
        return
    for first, *others in rows:
        if first is not None and any(others[len(query.group) - 1 :]):
            yield [first if period == "year" else interval_of(first, "date", TODAY, "").start, *others]


def denotation(rows: Iterable[Row]) -> Denotation:
    """Rows as hashes."""
    lines = sorted(json.dumps(sorted(row, key=repr)) for row in rows if any(value is not None for value in row))
    return Denotation(_digest(dict.fromkeys(lines)), _digest(lines))


def _digest(lines: Iterable[str]) -> bytes:
    return blake2b("\n".join(lines).encode(), digest_size=8).digest()


def gold(rows: Sequence[Row], others: Sequence[Sequence[Row]] = ()) -> Gold:
    """The gold result of rows; `others` are equally right."""
    own = denotation(rows)
    sets = frozenset((own.as_set, *(denotation(each).as_set for each in others)))
    return Gold(len(rows[0]) if rows else 0, own, sets)


def cell(value: Any) -> Cell:
    """A value in comparable form: times become days."""
    match value:
        case None | "":
            return None
        case bool():
            return float(value)
        case list():
            return ", ".join(sorted(str(cell(each)) for each in value))
        case datetime.datetime():
            return value.date().isoformat()
        case datetime.date():
            return value.isoformat()
    try:
        return float(f"{float(value):.6g}")
    except (TypeError, ValueError):
        pass
    text = str(value).strip()
    try:
        return datetime.datetime.fromisoformat(text).date().isoformat()
    except ValueError:
        return text.casefold()
