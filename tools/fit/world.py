"""The databases that pairs ask about, each loaded once, with their values and the results of queries."""

from __future__ import annotations

import datetime
import json
import pickle
import sqlite3
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg

from quarry.reader.compose import Composed
from quarry.schema.algebra import Query
from tools.fit.databases import drafted_schema, load_own, load_spider
from tools.fit.pairs import OWN, Pair, own_gold, spider_gold
from tools.fit.results import Denotation, Gold, cell, denotations, gold, run
from tools.fit.values import Values
from tools.spider_database import Database as SpiderDatabase

Given = list[tuple[int, Denotation]]


class Database:
    """One database, in a schema of the same name."""

    def __init__(self, connection: psycopg.Connection[Any], name: str, folder: Path, kept: Path | None) -> None:
        self.name = name
        self._connection = connection
        self._folder = folder
        self._kept = kept / f"{name}.pickle" if kept else None
        self.schema = drafted_schema(connection, name)
        self.values = Values(connection, self.schema)
        self._golds: dict[str, Gold | None] = {}
        self._given: dict[str, Given] = {}
        if self._kept and self._kept.exists():
            self._given = pickle.loads(self._kept.read_bytes())  # noqa: S301 - written by ourselves

    @cached_property
    def _sqlite(self) -> sqlite3.Connection:
        return SpiderDatabase(self._folder).load_sqlite()

    def gold(self, pair: Pair) -> Gold | None:
        """The gold result of a pair; None if it cannot be compared."""
        key = pair.sql or pair.query
        if key is None:
            return None
        if key not in self._golds:
            self._golds[key] = self._gold(pair)
        return self._golds[key]

    def _gold(self, pair: Pair) -> Gold | None:
        if pair.sql is None:
            return gold([tuple(map(cell, row)) for row in self.rows(Query.model_validate_json(pair.query or ""))])
        is_spider = self._folder.is_dir()
        return spider_gold(self._sqlite, pair.sql) if is_spider else own_gold(self._connection, self.name, pair.sql)

    def rows(self, query: Query) -> Sequence[Sequence[Any]]:
        """The rows that a query returns. Raises InvalidInput and psycopg's errors."""
        return run(self._connection, query, self.schema).rows

    def denotations(self, composed: Composed, today: datetime.date) -> Given:
        """The result of a query, run once."""
        key = json.dumps([composed.query, composed.aside, today.isoformat()], sort_keys=True)
        if key not in self._given:
            self._given[key] = denotations(self._connection, composed, self.schema, today)
        return self._given[key]

    def keep(self) -> None:
        """Saves the results of queries for the next fit."""
        if self._kept:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            self._kept.write_bytes(pickle.dumps(self._given))


class World:
    """All databases: Spider's in `spider/databases/NAME/`, our own in `own/databases/NAME.sql`."""

    def __init__(self, connection: psycopg.Connection[Any], spider: Path, own: Path, kept: Path | None = None) -> None:
        self._connection = connection
        self._spider, self.own, self._keep = spider, own, kept
        self._databases: dict[str, Database] = {}
        connection.execute("set timezone = 'UTC'")
        rows = connection.execute("select nspname::text from pg_namespace").fetchall()
        self._loaded = {name for (name,) in rows}

    def database(self, name: str) -> Database:
        """A database by name, loaded on first use."""
        if name not in self._databases:
            is_own = name.startswith(OWN)
            own = self.own / "databases" / f"{name.removeprefix(OWN)}.sql"
            source = own if is_own else self._spider / "databases" / name
            self._connection.execute("set statement_timeout = 0")
            if name not in self._loaded:
                (load_own if is_own else load_spider)(self._connection, source)
            self._databases[name] = Database(self._connection, name, source, self._keep)
            self._connection.execute("set statement_timeout = '1s'")
        return self._databases[name]

    def keep(self) -> None:
        """Saves the results of queries."""
        for each in self._databases.values():
            each.keep()
