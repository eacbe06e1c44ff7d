"""Databases of Spider, from their folder of text files: in Postgres for queries, in SQLite for the gold SQL, and as a schema."""

from __future__ import annotations

import csv
import datetime
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg.sql import SQL

from quarry.schema.algebra import Condition
from quarry.schema.source import Field, Kind, Link, Schema, Source, SqlOf

_TABLE = re.compile(r"CREATE TABLE `[^`]+`\.`([^`]+)` \(\n(.*?)\n\);", re.DOTALL)
_COLUMN = re.compile(r"`([^`]+)`\s+(\w+)")
_NAMES = re.compile(r"`([^`]+)`")
_NUMBERS = ("INT", "DEC", "NUM", "FLOAT", "DOUBLE", "REAL", "BOOL", "BIT", "YEAR")
Value = str | int | Decimal | None


@dataclass
class Column:
    """A column with its values. `field` is its name in queries."""

    name: str
    field: str
    kind: Kind
    values: list[Value]
    is_whole: bool = False
    """Whether it was declared as integer and contains only integers."""

    @property
    def written(self) -> Sequence[Value]:
        """The values in the form for Postgres."""
        return (
            [int(each) if isinstance(each, Decimal) else each for each in self.values] if self.is_whole else self.values
        )

    @property
    def is_unique(self) -> bool:
        return None not in self.values and len(set(self.values)) == len(self.values)

    @property
    def sql_type(self) -> LiteralString:
        types: dict[Kind, LiteralString] = {"number": "numeric", "date": "date", "datetime": "timestamp"}
        return types.get(self.kind, "text")


@dataclass
class Table:
    """A table; its columns by lower-case name. `source` is its name in queries."""

    name: str
    source: str
    columns: dict[str, Column]
    foreign: list[tuple[list[str], str, list[str]]] = field(default_factory=list)
    primary: list[str] = field(default_factory=list)
    links: dict[str, Link] = field(default_factory=dict)
    predicates: dict[str, Sequence[Condition]] = field(default_factory=dict)
    """Conditions that are declared by name, for a value that is one of two."""

    @property
    def key(self) -> Column | None:
        """A column that identifies a row."""
        return next((column for column in self.columns.values() if column.values and column.is_unique), None)


@dataclass(frozen=True)
class Join:
    """A link between two tables over the columns that join them. `is_total`: every row has a row on the other side."""

    name: str
    is_many: bool
    is_total: bool
    is_declared: bool


class Database:
    """One database of Spider."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.tables: dict[str, Table] = {}
        self.undeclared = 0
        """How many requested joins no foreign key declares."""
        self._joins: dict[tuple[str, tuple[str, ...], str, tuple[str, ...]], Join] = {}
        text = (folder / "schema.sql").read_text(encoding="utf-8", errors="replace")
        for name, body in _TABLE.findall(text):
            self.tables[name.lower()] = _table(folder, name, body)
        for table in self.tables.values():
            for mine, other, theirs in table.foreign:
                target = self.tables.get(other.lower())
                if target is not None and {each.lower() for each in theirs} <= target.columns.keys():
                    self.join(table.name, mine, other, theirs, is_declared=True)

    def join(
        self, table: str, mine: Sequence[str], other: str, theirs: Sequence[str], *, is_declared: bool = False
    ) -> Join:
        """The link from one table to another; also adds the one back. If no foreign key declares it, it is created."""
        pairs = sorted(zip((each.lower() for each in mine), (each.lower() for each in theirs), strict=True))
        here, there = tuple(one for one, _ in pairs), tuple(two for _, two in pairs)
        name, back = (table.lower(), here, other.lower(), there), (other.lower(), there, table.lower(), here)
        if name not in self._joins:
            self._joins[name] = self._linked(*name, is_declared)
            self._joins.setdefault(back, self._joins[name] if back == name else self._linked(*back, is_declared))
        self.undeclared += not self._joins[name].is_declared
        return self._joins[name]

    def _linked(
        self, table: str, mine: tuple[str, ...], other: str, theirs: tuple[str, ...], is_declared: bool
    ) -> Join:
        one, two = self.tables[table], self.tables[other]
        here, there = [one.columns[each] for each in mine], [two.columns[each] for each in theirs]
        name = two.source
        while name in one.links or name in {column.field for column in one.columns.values()}:
            name += f"_by_{here[0].field}"
        pairs = [_comparable(left, right) for left, right in zip(here, there, strict=True)]

        def on(row: LiteralString, other: LiteralString) -> LiteralString:
            return " and ".join(f"{other}.{right} = {row}.{left}" for left, right in pairs)

        is_many, is_total = self._multiplicity(one, here, two, there)
        one.links[name] = Link(name, name.replace("_", " "), on, is_many, two.source)
        return Join(name, is_many, is_total, is_declared)

    def _multiplicity(
        self, one: Table, here: Sequence[Column], two: Table, there: Sequence[Column]
    ) -> tuple[bool, bool]:
        """Whether a row of `one` may join several rows of `two`, and whether each joins at least one."""
        ours, others = _joined_values(here), _joined_values(there)
        return len(set(others)) < len(others), all(value is not None for value in ours) and set(ours) <= set(others)

    @property
    def schema(self) -> Schema:
        """Every table as a source, every column as a field."""
        return Schema({table.source: _source(self.name, table) for table in self.tables.values()})

    def load_postgres(self, connection: psycopg.Connection[Any], *, with_keys: bool = False) -> None:
        """Loads it into its own schema. `with_keys`: with integer types, and the keys that the rows satisfy."""
        at = _quoted(self.name)
        connection.execute(SQL(f"create schema {at}"))
        for table in self.tables.values():
            columns = list(table.columns.values())
            types: list[LiteralString] = [
                "bigint" if with_keys and each.is_whole else each.sql_type for each in columns
            ]
            declared = ", ".join(f"{_quoted(each.name)} {type}" for each, type in zip(columns, types, strict=True))
            name = f"{at}.{_quoted(table.name)}"
            connection.execute(SQL(f"create table {name} ({declared})".replace("%%", "%")))
            with connection.cursor().copy(SQL(f"copy {name} from stdin".replace("%%", "%"))) as copy:
                for row in zip(*(column.written for column in columns), strict=True):
                    copy.write_row(row)
        for statement in self._keys(at) if with_keys else ():
            with suppress(psycopg.errors.IntegrityError, psycopg.errors.ProgrammingError):
                connection.execute(SQL(statement.replace("%%", "%")))
        connection.execute("analyze")

    def _keys(self, at: LiteralString) -> Iterator[LiteralString]:
        """The statements that add the primary keys, then those that add the foreign keys."""
        tables = [(table, f"alter table {at}.{_quoted(table.name)}") for table in self.tables.values()]
        for table, altered in tables:
            if table.primary:
                yield f"{altered} add primary key ({', '.join(map(_quoted, table.primary))})"
        for table, altered in tables:
            for mine, other, theirs in table.foreign:
                target = self.tables.get(other.lower())
                if target is not None:
                    columns_of_key = [
                        target.columns[each.lower()].name for each in theirs if each.lower() in target.columns
                    ]
                    own, their = ", ".join(map(_quoted, mine)), ", ".join(map(_quoted, columns_of_key))
                    yield f"{altered} add foreign key ({own}) references {at}.{_quoted(target.name)} ({their})"

    def load_sqlite(self) -> sqlite3.Connection:
        """Loads it in memory. Texts compare case-insensitively, as in MySQL, for which the gold SQL was written."""
        database = sqlite3.connect(":memory:")
        for table in self.tables.values():
            columns = list(table.columns.values())
            declared = ", ".join(
                f"{_quoted(each.name)} {'numeric' if each.kind == 'number' else 'text collate nocase'}"
                for each in columns
            )
            name = _quoted(table.name)
            database.execute(f"create table {name} ({declared})".replace("%%", "%"))
            rows = zip(*([_in_sqlite(value) for value in column.values] for column in columns), strict=True)
            places = SQL(", ").join([SQL("?")] * len(columns))
            statement = SQL("insert into {} values ({})").format(SQL(name.replace("%%", "%")), places)
            database.executemany(statement.as_string(), rows)
        return database


def _comparable(one: Column, two: Column) -> tuple[LiteralString, LiteralString]:
    """The two columns in comparable form."""
    cast = "" if one.sql_type == two.sql_type else "::text"
    return f"{_quoted(one.name)}{cast}", f"{_quoted(two.name)}{cast}"


def _joined_values(columns: Sequence[Column]) -> list[tuple[str, ...] | None]:
    """The values that rows are joined by; None for rows without them."""
    rows = zip(*(column.values for column in columns), strict=True)
    return [None if None in row else tuple(str(value) for value in row) for row in rows]


def _in_sqlite(value: Value) -> str | int | float | None:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def _quoted(name: str) -> LiteralString:
    """A name in SQL where `%` marks parameters."""
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'


def plain(name: str, existing: Iterable[str] = ()) -> str:
    """A name that is valid in a field path."""
    identifier = re.sub(r"\W+", "_", name).strip("_") or "field"
    while identifier in existing:
        identifier += "_"
    return identifier


def _table(folder: Path, name: str, body: str) -> Table:
    table = Table(name, plain(name.lower()), {})
    types: dict[str, str] = {}
    for line in (line.strip() for line in body.split("\n")):
        if line.startswith("`") and (column_line := _COLUMN.match(line)):
            types[column_line[1]] = column_line[2].upper()
        elif line.startswith("PRIMARY KEY"):
            table.primary += _NAMES.findall(line)
        elif line.startswith("FOREIGN KEY"):
            mine, other = line.split("REFERENCES")
            _, target, *theirs = _NAMES.findall(other)
            table.foreign.append((_NAMES.findall(mine), target, theirs))
    rows = _rows(folder, name)
    for column, declared in types.items():
        texts = [row.get(column.lower()) for row in rows]
        kind, values = _typed(declared, texts)
        names = {each.field for each in table.columns.values()}
        is_whole = kind == "number" and "INT" in declared and all(_is_whole(value) for value in values)
        table.columns[column.lower()] = Column(column, plain(column, names), kind, values, is_whole)
    return table


def _rows(folder: Path, table: str) -> list[dict[str, str]]:
    files = {path.stem.lower(): path for path in (folder / "data").glob("*.csv")}
    if table.lower() not in files:
        return []
    with files[table.lower()].open(encoding="utf-8", errors="replace", newline="") as lines:
        head, *rows = csv.reader(lines)
    names = [name.lower() for name in head]
    return [dict(zip(names, row, strict=False)) for row in rows if row]


def _typed(declared: str, texts: list[str | None]) -> tuple[Kind, list[Value]]:
    """The values in their declared type, if all of them fit it."""
    is_number = any(part in declared for part in _NUMBERS)
    nothing = ("NULL", "") if is_number or declared in ("DATE", "DATETIME", "TIMESTAMP") else ("NULL",)
    values = [None if text in nothing else text for text in texts]
    try:
        if is_number:
            return "number", [None if text is None else Decimal(text) for text in values]
        if declared == "DATE":
            return "date", [
                None if text is None else datetime.date.fromisoformat(text[:10]).isoformat() for text in values
            ]
        if declared in ("DATETIME", "TIMESTAMP"):
            return "datetime", [None if text is None else str(datetime.datetime.fromisoformat(text)) for text in values]
    except (ValueError, InvalidOperation):
        pass
    if all(text is None or _is_number(text) for text in values) and any(values):
        return "number", [None if text is None else Decimal(text) for text in values]
    return "text", [None if text is None else text.replace("\x00", "") for text in values]


def _is_whole(value: Value) -> bool:
    return value is None or (isinstance(value, Decimal) and value == value.to_integral_value())


def _is_number(text: str) -> bool:
    """Whether a text is a number, and not a code that looks like one."""
    try:
        return str(Decimal(text)) == text
    except InvalidOperation:
        return False


def _source(database: str, table: Table) -> Source:
    def of(name: str) -> SqlOf:
        return lambda row: f"{row}.{name}"

    fields = {
        column.field: Field(column.field, column.kind, of(_quoted(column.name)), column.field, column.field)
        for column in table.columns.values()
    }
    key = of(_quoted(table.key.name) if table.key else "ctid")
    titled = next((column for column in table.columns.values() if column.kind == "text"), None)
    title = of(_quoted(titled.name)) if titled else lambda row: f"({key(row)})::text"
    rows = f"{_quoted(database)}.{_quoted(table.name)}"
    return Source(
        table.source, table.name, (table.source,), rows, key, title, fields, table.links, predicates=table.predicates
    )
