"""Measures the share of Spider's gold queries that can be written as a Query and return the gold result.

    pip install sqlglot
    python -m tools.spider_queries FOLDER [--database NAME] [--failures FILE]

FOLDER holds `queries.csv` (database, question, sql) and `databases/NAME/{schema.sql,data/*.csv}`. The gold SQL runs in SQLite,
the queries in an embedded Postgres, over the same rows. Results are compared as multisets of rows, and in order if the gold has
one. Numbers may differ in the eleventh digit, texts in case and surrounding spaces, dates in their format. Any of the rows that
tie at a limit is accepted. Rows without a value come last in any order, not first.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
import sqlite3
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, takewhile
from pathlib import Path
from typing import Any

import psycopg
import sqlglot
from psycopg.rows import dict_row
from sqlglot import exp

from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.platform.errors import InvalidInput
from quarry.query.execute import compile_query, result_of
from quarry.schema.algebra import LIMIT_MAX, Query
from quarry.schema.source import Schema
from tools.number_conversion import Unwritable
from tools.select_conversion import Written
from tools.spider_conversion import written
from tools.spider_database import Database

TODAY = datetime.date(2026, 1, 1)
SKIPPED = ("flight_4", "baseball_1", "soccer_1")
"""Databases with incomplete rows."""
WAYS_MAX = 12
"""How many ways to write one statement to try."""
CLASSES = ("one table", "joins", "groups", "having", "nested", "set operations")
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}
"""Safe because the server's data is temporary."""
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Gold:
    """The rows of a gold statement. `runs` are groups of rows in order, with any order within a group; the rest are any of
    `tied`.
    """

    rows: list[Row]
    runs: list[list[Row]]
    tied: list[Row]


def kind_of(tree: exp.Expression) -> str:
    """The class of a statement."""
    if tree.find(exp.SetOperation):
        return "set operations"
    if len(list(tree.find_all(exp.Select))) > 1:
        return "nested"
    if tree.find(exp.Having):
        return "having"
    if tree.args.get("group"):
        return "groups"
    return "joins" if tree.args.get("joins") else "one table"


def gold_of(database: sqlite3.Connection, tree: exp.Expression) -> Gold:
    """The result of the gold SQL."""
    rows, order = _result_of(database, tree), tree.args.get("order")
    wide = tree.copy()
    wide.set("limit", None)
    if not isinstance(wide, exp.Select) or not order or wide.args.get("distinct"):
        return Gold(rows, [], _result_of(database, wide) if tree.args.get("limit") else [])
    width = len(rows[0]) if rows else 0
    wide.set("expressions", [*wide.expressions, *(each.this.copy() for each in order.expressions)])
    every = _result_of(database, wide)
    last = every[len(rows) - 1][width:] if len(rows) < len(every) else None
    tied = [row[:width] for row in every if row[width:] == last]
    before = list(takewhile(lambda row: row[width:] != last, every))
    if any(None in row[width:] for row in before):
        return Gold(rows, [], tied)
    return Gold(rows, [[row[:width] for row in run] for _, run in groupby(before, lambda row: row[width:])], tied)


def _result_of(database: sqlite3.Connection, tree: exp.Expression) -> list[Row]:
    return [_canonical(row) for row in database.execute(tree.sql(dialect="sqlite")).fetchall()]


def _canonical(row: Sequence[Any]) -> Row:
    return tuple(_cell(value) for value in row)


def _cell(value: Any) -> str | float | None:
    """A value in comparable form."""
    if value is None:
        return None
    if isinstance(value, int | float):
        return float(f"{value:.10g}")
    text = str(value).strip()
    try:
        return datetime.datetime.fromisoformat(text).replace(tzinfo=None).isoformat()
    except ValueError:
        pass
    try:
        return float(f"{float(text):.10g}")
    except ValueError:
        return text.casefold() or None


def is_gold(gold: Gold, rows: list[Row]) -> bool:
    """Whether rows are those of the gold result."""
    rest = Counter(rows)
    if gold.tied:
        fixed = [row for run in gold.runs for row in run]
        rest.subtract(fixed)
        return len(rows) == len(gold.rows) and min(rest.values(), default=0) >= 0 and not rest - Counter(gold.tied)
    return rest == Counter(gold.rows)


def is_in_order(gold: Gold, rows: list[Row]) -> bool:
    """Whether they are in the order of the gold result."""
    remaining = iter(rows)
    return all(Counter(islice(remaining, len(run))) == Counter(run) for run in gold.runs)


def rows_of(connection: psycopg.Connection[Any], schema: Schema, way: Written) -> list[Row]:
    """The result of a query, in the columns of the gold result: all pages of it."""
    limit = way.query.get("limit")
    listing: list[Row] = []
    while True:
        query = Query.model_validate({**way.query, "limit": limit or LIMIT_MAX, "offset": len(listing)})
        query = Query.model_validate_json(query.model_dump_json(by_alias=True, exclude_defaults=True))
        statement = compile_query(query, schema, TODAY)
        with connection.cursor(row_factory=dict_row) as cursor:
            result = result_of(statement, cursor.execute(statement.sql, statement.parameters).fetchall())
        listing += [_canonical([row[place] for place in way.places]) for row in result.rows]
        if limit or not result.truncated:
            return listing


def verdict(
    database: Database, connection: psycopg.Connection[Any], schema: Schema, gold: Gold, tree: exp.Expression
) -> str:
    """`gold` if some way to write the statement returns its result, with its peculiarities; otherwise the reason why not."""
    why, undeclared = "", database.undeclared
    try:
        for way in islice(written(database, tree), WAYS_MAX):
            try:
                rows = rows_of(connection, schema, way)
                if is_gold(gold, rows) and is_in_order(gold, rows):
                    links = ", undeclared link" if database.undeclared > undeclared else ""
                    return f"gold{', keys' if way.shows_keys else ''}{links}"
                why = why or f"another {'order' if is_gold(gold, rows) else 'result'}: {json.dumps(way.query)}"
            except InvalidInput as error:
                why = why or f"refused: {error.message}"
            except psycopg.errors.QueryCanceled:
                why = why or "too slow"
    except Unwritable as error:
        why = why or str(error)
    return why


def measured(folder: Path, names: Sequence[str], url: str) -> Iterator[tuple[str, str, str, str]]:
    """Database, gold SQL, class and verdict of each gold query. Queries that SQLite cannot run are left out."""
    questions = defaultdict(list)
    with (folder / "queries.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            questions[row["database"]].append(row["sql"])
    for name in names or [name for name in questions if name not in SKIPPED]:
        database = Database(folder / "databases" / name)
        plain = database.load_sqlite()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("set statement_timeout = '10s'; set timezone = 'UTC'")
            database.load_postgres(connection)
            seen_queries: dict[str, tuple[str, str]] = {}
            for sql in questions[name]:
                if sql not in seen_queries:
                    seen_queries[sql] = _measured(database, connection, plain, sql)
                yield name, sql, *seen_queries[sql]
        plain.close()
        print(f"{name}: {len(questions[name])}", file=sys.stderr)


def _measured(
    database: Database, connection: psycopg.Connection[Any], plain: sqlite3.Connection, sql: str
) -> tuple[str, str]:
    tree = sqlglot.parse_one(sql, read="mysql")
    try:
        gold = gold_of(plain, tree)
    except sqlite3.Error as error:
        return kind_of(tree), f"no gold: {error}"
    return kind_of(tree), verdict(database, connection, database.schema, gold, tree)


def table(verdicts: Sequence[tuple[str, str, str, str]]) -> str:
    """The shares, as Markdown."""
    lines = [
        "| class | queries | gold result | with the key of groups beside | by a link that no foreign key declares | share |",
        "|---|---|---|---|---|---|",
    ]
    for name in (*CLASSES, "all"):
        of_class = [verdict for _, _, kind, verdict in verdicts if name in (kind, "all")]
        right = [verdict for verdict in of_class if verdict.startswith("gold")]
        keys, links = (sum(part in verdict for verdict in right) for part in ("keys", "link"))
        share = f"{len(right) / len(of_class):.1%}" if of_class else ""
        lines.append(f"| {name} | {len(of_class)} | {len(right)} | {keys} | {links} | {share} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--database", action="append", default=[])
    parser.add_argument("--failures", type=Path)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        with EmbeddedPostgres(Path(directory, "postgres"), parameters=FAST) as server:
            verdicts = list(measured(options.folder, options.database, server.start()))
    without_gold = [each for each in verdicts if each[3].startswith("no gold")]
    verdicts = [each for each in verdicts if not each[3].startswith("no gold")]
    print(f"{table(verdicts)}\n\nLeft out, since SQLite cannot run them: {len(without_gold)}.\n")
    reasons = Counter(each[3].partition(": ")[0] for each in verdicts if not each[3].startswith("gold"))
    for reason, number in reasons.most_common(20):
        print(f"{number:5} {reason}")
    if options.failures:
        rows = [each for each in (*verdicts, *without_gold) if not each[3].startswith("gold")]
        options.failures.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
