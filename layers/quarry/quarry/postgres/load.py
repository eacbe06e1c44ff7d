"""Loading a table from a file of records: every row validated, all of a file or nothing, in bounded memory.

Rows are streamed into a temporary table, checked there against each other and against what they refer to, and upserted by id
in the same transaction. A row that has not changed is not written again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

from psycopg.sql import SQL, Composed, Identifier
from psycopg.types.json import Jsonb
from pydantic import ValidationError

from quarry.files.reading import open_records
from quarry.files.records import RecordFile, Unit, UnreadableFile
from quarry.platform.contract import plain_words
from quarry.platform.errors import QuarryError
from quarry.platform.settings import DEFAULT_SCHEMA
from quarry.platform.tables import LoadableTable, Row
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection

REPORTED_PROBLEMS_MAX = 20
RECOUNTED_SHARE = 0.05
"""If a smaller share of the rows is new, the next cleanup counts the words."""
LIST_SEPARATOR = ";"


@dataclass(frozen=True)
class RowProblem:
    """A problem with one field of a line, or of a record if the format has no lines; both count from 1.

    `file` is set if there may be several.
    """

    line: int
    field: str
    message: str
    unit: Unit = "line"
    file: str = ""

    def __str__(self) -> str:
        place = f"{self.file}, " if self.file else ""
        return f"{place}{self.unit} {self.line}, {self.field}: {self.message}"


@dataclass
class Loaded:
    """The result of a load: rows in the file, new or changed rows, and skipped rows with the reason."""

    rows: int = 0
    changed: int = 0
    problems: list[RowProblem] = field(default_factory=list)
    skipped: int = 0


class LoadError(QuarryError):
    """The file was not loaded. `problems` describes the first wrong lines, `count` is the number of wrong rows."""

    status = 422
    title = "Not loaded"

    def __init__(self, name: str, problems: list[RowProblem], count: int) -> None:
        self.problems = problems
        self.count = count
        reported = problems[:REPORTED_PROBLEMS_MAX]
        more = f" (and {count - len(reported)} more)" if count > len(reported) else ""
        super().__init__(f"{name}: nothing was loaded; " + "; ".join(map(str, reported)) + more)


def load_file(
    url: str,
    table: LoadableTable,
    path: Path,
    *,
    schema: str = DEFAULT_SCHEMA,
    skip_invalid: bool = False,
    check: Callable[[SyncConnection], None] = lambda connection: None,
) -> Loaded:
    """Load one file of any format that `open_records` knows into its table. Raises as `load_records`, and OSError."""
    with open_records(path) as file:
        return load_records(url, table, file, schema=schema, skip_invalid=skip_invalid, check=check)


def load_records(
    url: str,
    table: LoadableTable,
    file: RecordFile,
    *,
    schema: str = DEFAULT_SCHEMA,
    skip_invalid: bool = False,
    on_progress: Callable[[int], None] = lambda bytes_read: None,
    check: Callable[[SyncConnection], None] = lambda connection: None,
) -> Loaded:
    """Load the records of an open file into its table.

    `on_progress` gets the number of bytes read so far. `check` is called at the end of the transaction.
    Raises LoadError if a row is invalid (unless `skip_invalid`),
    UnreadableFile, also if the file has columns that the table lacks, and DatabaseUnavailable.
    """
    _check_columns(table, file)
    loaded = Loaded()
    with connect(url, schema) as connection, connection.transaction():
        _stage(connection, table, file, loaded, on_progress)
        _drop_duplicates(connection, file.unit, loaded)
        _inherit(connection, table)
        _drop_dangling(connection, table, file.unit, loaded)
        if loaded.skipped and not skip_invalid:
            raise LoadError(file.name, loaded.problems, loaded.skipped)
        loaded.changed = _upsert(connection, table)
        check(connection)
    return loaded


def analyze(url: str, table: str, *, schema: str = DEFAULT_SCHEMA) -> None:
    """Refresh the statistics of the planner, and those of ranking by words if many rows are new or gone."""
    with connect(url, schema) as connection:
        connection.execute(SQL("analyze {}").format(Identifier(table)))
        connection.execute("select count_lexemes(%s, %s)", [table, RECOUNTED_SHARE])


def _check_columns(table: LoadableTable, file: RecordFile) -> None:
    """Refuse columns that the table lacks, which would make every row invalid."""
    unknown = [name for name in file.columns if name not in table.columns]
    if unknown:
        columns = ", ".join(unknown[:REPORTED_PROBLEMS_MAX])
        raise UnreadableFile(f"{file.name}: {table.name} has no field {columns}; it has {', '.join(table.columns)}")


def _stage(
    connection: SyncConnection,
    table: LoadableTable,
    file: RecordFile,
    loaded: Loaded,
    on_progress: Callable[[int], None],
) -> None:
    columns = identifiers(table.columns)
    read_times_as_utc(connection)
    connection.execute(
        SQL("create temporary table pg_temp.staged on commit drop as select 0 as line, {} from {} limit 0").format(
            columns, Identifier(table.name)
        )
    )
    with (
        connection.cursor() as cursor,
        cursor.copy(SQL("copy pg_temp.staged (line, {}) from stdin").format(columns)) as copy,
    ):
        for number, row in _valid_rows(table, file, loaded, on_progress):
            values = (getattr(row, column) for column in table.columns)
            copy.write_row((number, *(Jsonb(value) if isinstance(value, dict) else value for value in values)))


def _valid_rows(
    table: LoadableTable, file: RecordFile, loaded: Loaded, on_progress: Callable[[int], None]
) -> Iterator[tuple[int, Row]]:
    for record in file.records:
        on_progress(file.bytes_read())
        loaded.rows += 1
        if record.problem:
            note_problems(loaded, [RowProblem(record.number, file.unit, record.problem, file.unit)])
            continue
        fields = record.fields
        if file.cells_are_text and isinstance(fields, dict):
            fields = read_cells(table.row, fields)
        try:
            yield record.number, table.row.model_validate(fields)
        except ValidationError as error:
            details = error.errors(include_input=False, include_url=False)
            note_problems(loaded, [_row_problem(record.number, file.unit, detail) for detail in details])


def _row_problem(number: int, unit: Unit, detail: Mapping[str, Any]) -> RowProblem:
    location = detail["loc"]
    name = ".".join(str(part) for part in location) if isinstance(location, tuple) else ""
    return RowProblem(number, name or unit, plain_words(detail), unit)


def read_times_as_utc(connection: SyncConnection) -> None:
    """Read times without a zone as UTC until the end of the transaction."""
    connection.execute("set local timezone = 'UTC'")


def note_problems(loaded: Loaded, problems: list[RowProblem], rows: int = 1) -> None:
    """Count skipped rows, and keep the first reasons."""
    loaded.skipped += rows
    loaded.problems += problems[: max(0, 1000 - len(loaded.problems))]


def _drop_duplicates(connection: SyncConnection, unit: Unit, loaded: Loaded) -> None:
    rows = connection.execute(
        """delete from pg_temp.staged s
           using (select id, min(line) as first_line from pg_temp.staged group by id having count(*) > 1) d
           where s.id = d.id and s.line > d.first_line returning s.line, d.first_line"""
    ).fetchall()
    also = "is also on line" if unit == "line" else f"is also in {unit}"
    problems = [RowProblem(line, "id", f"{also} {first}", unit) for line, first in sorted(rows)]
    note_problems(loaded, problems, len(rows))


def _inherit(connection: SyncConnection, table: LoadableTable) -> None:
    for column, (reference, source, source_column) in table.inherits.items():
        connection.execute(
            SQL("update pg_temp.staged s set {c} = r.{sc} from {r} r where r.id = s.{f} and s.{c} is null").format(
                c=Identifier(column), sc=Identifier(source_column), r=Identifier(source), f=Identifier(reference)
            )
        )


def _drop_dangling(connection: SyncConnection, table: LoadableTable, unit: Unit, loaded: Loaded) -> None:
    for column, target in table.references.items():
        rows = connection.execute(
            SQL(
                """delete from pg_temp.staged s where s.{c} is not null and not exists (select from {t} r where r.id = s.{c})
                   returning s.line, s.{c}"""
            ).format(c=Identifier(column), t=Identifier(target))
        ).fetchall()
        problems = [
            RowProblem(line, column, f"{target} has no id {value!r}; load it first", unit)
            for line, value in sorted(rows)
        ]
        note_problems(loaded, problems, len(rows))


def _upsert(connection: SyncConnection, table: LoadableTable) -> int:
    columns = identifiers(table.columns)
    return connection.execute(
        SQL("insert into {} as t ({}) select {} from pg_temp.staged order by line on conflict (id) do {}").format(
            Identifier(table.name), columns, columns, update_if_changed(each for each in table.columns if each != "id")
        )
    ).rowcount


def update_if_changed(columns: Iterable[str]) -> Composed:
    """What happens to an existing row `t`: it is written if it changes."""
    names = [*columns]
    return SQL("update set {} where ({}) is distinct from ({})").format(
        SQL(", ").join(SQL("{0} = excluded.{0}").format(Identifier(name)) for name in names),
        SQL(", ").join(Identifier("t", name) for name in names),
        SQL(", ").join(Identifier("excluded", name) for name in names),
    )


def identifiers(names: Iterable[str]) -> Composed:
    """Names in SQL, separated by commas."""
    return SQL(", ").join(map(Identifier, names))


def read_cells(row: type[Row], cells: Mapping[str, object]) -> dict[str, object]:
    """The fields of a row from its cells. A list is a JSON array or texts separated by semicolons; an object is JSON. Numbers
    and dates of a spreadsheet are treated as text.
    """
    lists, objects = _fields_of(row, list), _fields_of(row, dict)
    texts = ((name, str(cell)) for name, cell in cells.items())
    return {
        name: _list(cell) if name in lists else _json(cell, dict) if name in objects else cell for name, cell in texts
    }


def _list(cell: str) -> object:
    value = _json(cell, list)
    if isinstance(value, list):
        return value
    return [item for part in cell.split(LIST_SEPARATOR) if (item := part.strip())]


def _json(cell: str, kind: type) -> object:
    """The JSON value of that kind in a cell; the cell itself where it holds none."""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    return value if isinstance(value, kind) else cell


@cache
def _fields_of(row: type[Row], kind: type) -> frozenset[str]:
    """The fields whose values are of that kind, or null."""
    return frozenset(
        name
        for name, field in row.model_fields.items()
        if kind in (get_origin(field.annotation), *map(get_origin, get_args(field.annotation)))
    )
