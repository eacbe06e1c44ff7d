"""Measures the share of BIRD's gold statements that can be written as one Query.

    pip install sqlglot
    python -m tools.bird_statements FOLDER [--failures FILE]

FOLDER holds `statements.jsonl` (`db_id`, `SQL` …), `schemas/NAME.sql` (tables and types) and `keys.tsv` (primary keys, and for
columns the other ends of their foreign keys). There are no rows: a statement counts if the conversion writes a Query of it that
compiles against the schema. What only rounds, casts or names what is shown is not part of the Query; rows without a value come
last in any order.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import sqlglot
from pydantic import ValidationError
from sqlglot import exp
from sqlglot.errors import SqlglotError

from quarry.platform.errors import InvalidInput
from quarry.query.execute import compile_query
from quarry.schema.algebra import Query
from quarry.schema.source import Kind
from tools.number_conversion import Unwritable
from tools.spider_conversion import written
from tools.spider_database import Column, Database, Join, Table, plain

TODAY = datetime.date(2026, 1, 1)
WAYS_MAX = 12
"""How many ways to write one statement to try."""


@dataclass
class DeclaredColumn(Column):
    """A column without rows, of which the keys say whether it identifies a row."""

    is_key: bool = False

    @property
    def is_unique(self) -> bool:
        return self.is_key

    @property
    def sql_type(self) -> LiteralString:
        types: dict[Kind, LiteralString] = {"number": "numeric", "date": "date", "datetime": "timestamp"}
        return types.get(self.kind, "text")


class DeclaredDatabase(Database):
    """A database of which only tables, types and keys are known."""

    def __init__(self, schema: Path, keys: Iterable[Sequence[str]]) -> None:
        self.name = schema.stem
        self.tables: dict[str, Table] = {}
        self.undeclared = 0
        self._joins: dict[tuple[str, tuple[str, ...], str, tuple[str, ...]], Join] = {}
        self._ends: dict[tuple[str, str, str], bool] = {}
        """Whether the other end of a column's key has many rows."""
        for tree in sqlglot.parse(schema.read_text(encoding="utf-8"), read="postgres"):
            if isinstance(tree, exp.Create):
                table = _table(tree)
                self.tables[table.name.lower()] = table
        for name, column, key in keys:
            self._declare(self.tables[name.lower()], column, key)

    def _declare(self, table: Table, column: str, key: str) -> None:
        if column == "primary":
            table.primary = [each.strip() for each in key.split(",")]
            key_column = table.columns.get(table.primary[0].lower())
            if len(table.primary) == 1 and isinstance(key_column, DeclaredColumn):
                key_column.is_key = True
        for end in key.split(", ") if "(" in key else ():
            there, _, how = end.partition(" (")
            name, _, other = there.partition(".")
            self._ends[table.name.lower(), column.strip('"').lower(), there.replace('"', "").lower()] = (
                how == "one-to-many)"
            )
            target = self.tables[name.strip('"').lower()].columns.get(other.strip('"').lower())
            if how in ("many-to-one)", "one-to-one)") and isinstance(target, DeclaredColumn):
                target.is_key = True

    def _multiplicity(
        self, one: Table, here: Sequence[Column], two: Table, there: Sequence[Column]
    ) -> tuple[bool, bool]:
        end = one.name.lower(), here[0].name.lower(), f"{two.name}.{there[0].name}".lower()
        return self._ends.get(end, not any(each.is_unique for each in there)), False


def _table(tree: exp.Create) -> Table:
    name = tree.this.this.name
    table = Table(name, plain(name.lower()), {})
    for column in tree.this.expressions:
        names = {each.field for each in table.columns.values()}
        kind = _kind(column.args["kind"].sql().lower())
        table.columns[column.name.lower()] = DeclaredColumn(column.name, plain(column.name, names), kind, [])
    return table


def _kind(declared: str) -> Kind:
    if declared.startswith(("timestamp", "datetime")):
        return "datetime"
    if declared == "date":
        return "date"
    return "text" if declared.startswith(("text", "varchar", "char", "time")) else "number"


def tried(database: Database, statement: str) -> str:
    """ "written", or why no query says it."""
    why = "nothing to try"
    try:
        tree = sqlglot.parse_one(statement, read="postgres")
        for place, way in enumerate(written(database, tree)):
            try:
                compile_query(Query.model_validate(way.query), database.schema, TODAY)
                return "written"
            except (InvalidInput, ValidationError) as error:
                why = f"refused: {_first(error)}"
            if place == WAYS_MAX:
                break
    except (Unwritable, SqlglotError) as error:
        why = why if why.startswith("refused") else str(error)
    return why


def _first(error: InvalidInput | ValidationError) -> str:
    details: Any = error.errors if isinstance(error, InvalidInput) else error.errors()
    return str(details[0].message if isinstance(error, InvalidInput) else details[0]["msg"])


def verdicts(folder: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Each statement, and what became of it."""
    with (folder / "keys.tsv").open(encoding="utf-8") as lines:
        keys = list(csv.reader(lines, delimiter="\t"))[1:]
    databases: dict[str, Database] = {}
    for line in (folder / "statements.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        name = item["db_id"]
        if name not in databases:
            own = [[each.strip('"') for each in row[1:]] for row in keys if row[0] == name]
            databases[name] = DeclaredDatabase(folder / "schemas" / f"{name}.sql", own)
        yield item, tried(databases[name], item["SQL"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, and prints the share with the reasons of the rest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--failures", type=Path)
    options = parser.parse_args(arguments)
    results = list(verdicts(options.folder))
    reasons = Counter(why for _, why in results)
    done = reasons.pop("written", 0)
    print(f"{done} of {len(results)} statements ({done / max(len(results), 1):.1%}) are one Query.\n")
    for reason, number in reasons.most_common(20):
        print(f"{number:5} {reason}")
    if options.failures:
        rows = [{**statement, "why": why} for statement, why in results if why != "written"]
        options.failures.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
