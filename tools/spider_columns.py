"""Measures which columns in Spider's gold queries can be asked about if only `quarry map` has declared the tables.

    pip install sqlglot
    python -m tools.spider_columns FOLDER [--database NAME] [--missing] [--apply NUMBER]

FOLDER is that of `tools.spider_queries`. Each database is loaded into an embedded Postgres with the keys that its rows satisfy.
A column can be asked about if the draft declares it as active: as a field of its collection, or as the column of a link. The
draft is applied unedited for as many databases as `--apply` says.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
import sqlglot
from psycopg.sql import SQL, Identifier
from sqlglot import exp

from quarry.collections.catalog_reading import relations_of_schema
from quarry.collections.relations import Relation
from quarry.local.apply import apply_file, drafted_sources
from quarry.local.embedded_postgres import EmbeddedPostgres
from quarry.platform.errors import QuarryError
from quarry.schema.source import Source
from quarry_map.drafting import draft
from tools.spider_database import Database
from tools.spider_queries import FAST, SKIPPED

Used = tuple[str, str]
"""A table and one of its columns, in lower case."""
_COLUMN = re.compile(r'r\."((?:[^"]|"")+)"')


@dataclass
class Measured:
    """The columns in gold queries of a database, how often they are used, and which can be asked about, or why not."""

    name: str
    used: Counter[Used]
    asked: frozenset[Used]
    left_out: Mapping[str, str]
    queries: int
    askable_queries: int

    @property
    def missing(self) -> list[Used]:
        return [each for each in self.used if each not in self.asked]


def used_columns(database: Database, tree: exp.Expression) -> Iterator[Used]:
    """The columns in a statement, each as often as it appears."""
    for column in tree.find_all(exp.Column):
        if isinstance(column.this, exp.Star):
            continue
        tables = _tables_near(column)
        alias = column.table.lower()
        candidates = [tables[alias]] if alias in tables else list(tables.values())
        for name in candidates:
            table = database.tables.get(name)
            if table is not None and column.name.lower() in table.columns:
                yield name, column.name.lower()
                break


def _tables_near(column: exp.Expression) -> dict[str, str]:
    """The tables by alias that a column may belong to: those of its own SELECT before those of outer ones."""
    tables_by_alias: dict[str, str] = {}
    select = column.find_ancestor(exp.Select)
    while select is not None:
        source = select.args.get("from_") or select.args.get("from")
        for each in [*([source] if source else []), *(select.args.get("joins") or ())]:
            if isinstance(each.this, exp.Table):
                tables_by_alias.setdefault(each.this.alias_or_name.lower(), each.this.name.lower())
        select = select.find_ancestor(exp.Select)
    return tables_by_alias


def asked_columns(relations: Sequence[Relation], text: str) -> Iterator[Used]:
    """The columns that a draft declares, as the resulting sources have them."""
    for collection, source in drafted_sources(text, relations).values():
        for column in _columns_of(source):
            yield collection.source[1].lower(), column.lower()


def _columns_of(source: Source) -> Iterator[str]:
    sql: list[str] = [field.sql("r") for field in source.fields.values() if field.related is None]
    sql += [link.on("r", "o") for link in source.links.values()]
    for each in sql:
        yield from (name.replace('""', '"') for name in _COLUMN.findall(each))


def measured(folder: Path, names: Sequence[str], url: str) -> Iterator[Measured]:
    """Measures each database in turn."""
    statements: dict[str, list[str]] = defaultdict(list)
    with (folder / "queries.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            statements[row["database"]].append(row["sql"])
    for name in names or [name for name in statements if name not in SKIPPED]:
        database = Database(folder / "databases" / name)
        with psycopg.connect(url, autocommit=True) as connection:
            database.load_postgres(connection, with_keys=True)
            relations = relations_of_schema(connection, name)
        drafted = draft(name, relations)
        asked = frozenset(asked_columns(relations, drafted.text))
        per_query = [[*used_columns(database, sqlglot.parse_one(sql, read="mysql"))] for sql in statements[name]]
        whole = sum(asked.issuperset(columns) for columns in per_query)
        used = Counter(column for columns in per_query for column in columns)
        yield Measured(name, used, asked, drafted.skipped, len(per_query), whole)


def is_applied(folder: Path, name: str, url: str) -> bool:
    """Whether the draft of a database can be applied unedited, with all its collections in step afterwards."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SQL("create database {}").format(Identifier(name)))
    own = url.rpartition("/")[0] + "/" + name
    with psycopg.connect(own, autocommit=True) as connection:
        Database(folder / "databases" / name).load_postgres(connection, with_keys=True)
        drafted = draft(name, relations_of_schema(connection, name))
    os.environ["DATABASE_URL"] = own
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "quarry.toml")
        file.write_text(drafted.text, encoding="utf-8")
        try:
            return apply_file(file, only_plan=False, embed=False)
        except QuarryError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return False


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--database", action="append", default=[])
    parser.add_argument("--apply", type=int, default=0, help="apply the drafts of this many databases")
    parser.add_argument("--missing", action="store_true", help="list the columns that cannot be asked about")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        with EmbeddedPostgres(Path(directory, "postgres"), parameters=FAST) as server:
            url = server.start()
            every = list(measured(options.folder, options.database, url))
            tried = [each.name for each in every][: options.apply]
            applied = [name for name in tried if is_applied(options.folder, name, url)]
    columns = sum(len(each.used) for each in every)
    answered = columns - sum(len(each.missing) for each in every)
    uses = sum(each.used.total() for each in every)
    uses_answered = uses - sum(each.used[column] for each in every for column in each.missing)
    queries, whole = (sum(numbers) for numbers in zip(*((e.queries, e.askable_queries) for e in every), strict=True))
    print(f"{len(every)} databases" + (f"; drafts applied: {len(applied)} of {len(tried)}" if tried else ""))
    print(f"columns that gold queries use: {answered:,} of {columns:,} can be asked about ({answered / columns:.1%})")
    print(f"each as often as it is used: {uses_answered:,} of {uses:,} ({uses_answered / uses:.1%})")
    print(f"queries all of whose columns can be: {whole:,} of {queries:,} ({whole / queries:.1%})")
    for each in every if options.missing else ():
        for table, column in each.missing:
            left_out = {name.lower(): why for name, why in each.left_out.items()}
            print(f"{each.name}: {table}.{column}: {left_out.get(table, 'its table is drafted')}")


if __name__ == "__main__":
    main()
