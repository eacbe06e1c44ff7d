"""Questions with known answers: Spider's, and our own pairs (`tests/pairs`)."""

from __future__ import annotations

import csv
import datetime
import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from typing import Any, Literal

import psycopg
from psycopg.sql import SQL

from tools.fit.results import TODAY, Gold, cell, gold

LEFT_OUT = ("flight_4", "baseball_1", "soccer_1", "wta_1")
"""Databases of Spider with incomplete rows."""
ROWS_MAX = 1_000
SPIDER = "spider"
OWN = "own_"
"""Prefix of the names of our own databases, some of which Spider also uses."""
PINNED = "pinned_"
"""Prefix of the names of databases whose questions are pinned by tests of behaviour."""
Part = Literal["fitted to", "calibrated on", "held out"]
_LIMITED = re.compile(
    r"select\s+(?P<shown>(?:(?!\bfrom\b).)+?)\s+from\s+(?P<rest>(?:(?!\bselect\b|\blimit\b).)+?)\s+order\s+by\s+"
    r"(?P<by>(?:(?!\bselect\b).)+?)\s+limit\s+1\s*;?",
    re.IGNORECASE | re.DOTALL,
)
_DIRECTION = re.compile(r"\b(?:asc|desc)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Pair:
    """A question about a database, and its gold statement or Query as JSON; neither if the data cannot answer. `previous` is
    the one before.
    """

    database: str
    question: str
    sql: str | None
    today: datetime.date = TODAY
    kind: str = SPIDER
    language: str = "en"
    previous: str | None = None
    query: str | None = None


def part_of(pair: Pair) -> Part:
    """The part that a pair's database belongs to, by a hash of its name: fitting, calibration, or held out. Every seventh
    database of Spider is held out, every fourth of our own, and every second of those that tests pin.
    """
    name = pair.database.removeprefix(OWN)
    digest = int(sha1(name.encode(), usedforsecurity=False).hexdigest(), 16)
    if name.startswith(PINNED):
        return "fitted to" if digest % 2 else "held out"
    every = 7 if pair.kind == SPIDER else 4
    return {0: "held out", 1: "calibrated on"}.get(digest % every, "fitted to")  # type: ignore[return-value]


def spider_pairs(folder: Path) -> Iterator[Pair]:
    """The questions of Spider's training split."""
    with (folder / "queries.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["database"] not in LEFT_OUT:
                yield Pair(row["database"], row["question"], row["sql"].replace("`", '"'))


def own_pairs(folder: Path) -> Iterator[Pair]:
    """Our own pairs on databases that exist."""
    for path in sorted(folder.glob("*.jsonl")):
        if not (folder / "databases" / f"{path.stem}.sql").exists():
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield Pair(
                f"{OWN}{path.stem}",
                row["question"],
                row["sql"],
                datetime.date.fromisoformat(row["today"]),
                row["kind"],
                row.get("language", "en"),
                row.get("previous"),
            )


def spider_gold(database: sqlite3.Connection, sql: str) -> Gold | None:
    """The result of a gold statement; None if it fails, is empty, or is too large to compare."""
    try:
        rows = database.execute(sql).fetchmany(ROWS_MAX + 1)
        others = list(_tied(database, sql, rows))
    except (sqlite3.Error, ValueError):
        return None
    if not rows or len(rows) > ROWS_MAX or all(value is None for row in rows for value in row):
        return None
    return gold([tuple(map(cell, row)) for row in rows], [[tuple(map(cell, row))] for row in others])


def _tied(database: sqlite3.Connection, sql: str, rows: list[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
    """The other rows that tie with the first one."""
    found = _LIMITED.fullmatch(sql.strip())
    if found is None or len(rows) != 1:
        return
    keys = _DIRECTION.sub("", found["by"])
    shown = re.sub(r"^distinct\s+", "", found["shown"], flags=re.IGNORECASE)
    everything = f"select {shown}, {keys} from {found['rest']} order by {found['by']}"  # noqa: S608 - a gold statement
    wide = database.execute(everything).fetchmany(ROWS_MAX)
    width = len(rows[0])
    for row in wide[1:]:
        if row[width:] != wide[0][width:]:
            return
        yield row[:width]


def own_gold(connection: psycopg.Connection[Any], schema: str, sql: str) -> Gold | None:
    """The result of a gold statement on one of our own databases; None if it is empty."""
    connection.execute("select set_config('search_path', %s, false)", [f'"{schema}"'])
    try:
        rows = connection.execute(SQL(sql.replace("%", "%%"))).fetchmany(ROWS_MAX + 1)
    finally:
        connection.execute("reset search_path")
    if not rows or len(rows) > ROWS_MAX:
        return None
    return gold([tuple(map(cell, row)) for row in rows])
