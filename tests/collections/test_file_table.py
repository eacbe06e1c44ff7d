"""What files hold is what their table holds, whatever it is, and nothing is kept of what is wrong."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from zoneinfo import ZoneInfo

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.collections.file_table import FileLoad
from quarry.files.forms import ColumnType
from quarry.files.records import RecordFile
from tests.files.test_guessing import file_of

ZONE = ZoneInfo("Asia/Tokyo")
"""That of the database: times without a zone are local."""


@pytest.fixture(scope="module")
def connection(server_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server_url, autocommit=True, options=f"-c timezone={ZONE}") as connection:
        yield connection


CELLS = st.sampled_from(
    (
        "0|-0|00|1|-5|9223372036854775807|9223372036854775808|-9223372036854775808|1.5|.5|5.|.|-|1e5|1e99|1e999|٣|NaN|Infinity"
        "|true|False|yes|no|T|f|y|N|on|today|now|2024-02-29|2023-02-29|0001-01-01|2024-02-29T10:00Z|2024-02-29T10:00:60Z"
        "|2024-02-29T10:00:00.123456+14:59|2024-02-29T24:00|2024-02-29T10:00-15:00|2024-02-29 10:00:00|2024-02-29  10:00"
        "|{}|{a}|[]|null|NULL|a b|\\N"
    ).split("|")
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


def columns_of(values: st.SearchStrategy[str]) -> st.SearchStrategy[list[str | None]]:
    return st.lists(st.none() | values, min_size=1, max_size=6)


@given(columns_of(CELLS) | columns_of(TEXTS.map(str.strip).filter(bool)))
def test_every_cell_is_stored_and_says_what_it_said_in_the_file(
    connection: psycopg.Connection, column: list[str | None]
) -> None:
    rows = [{"x": cell} if cell else {} for cell in column]
    type, values = loaded(connection, file_of(rows, ["x"], cells=True))
    for cell, stored in zip(column, values, strict=True):
        assert stored == (cell and _read(cell, type))


def loaded(connection: psycopg.Connection, file: RecordFile) -> tuple[ColumnType, list[object]]:
    """The type of the one column of a table that is made of a file, and what it holds."""
    with connection.transaction(force_rollback=True):
        load = FileLoad(connection, ("public", "rows"))
        load.stage(file)
        load.finish(skip_invalid=False)
        type = load.guesser.guessed().columns[0].type
        return type, [value for (value,) in connection.execute("select x from public.rows order by id")]


def _read(cell: str, type: ColumnType) -> object:
    match type:
        case "boolean":
            return cell.lower() in ("true", "yes", "t", "y")
        case "bigint":
            return int(cell)
        case "numeric":
            return Decimal(cell)
        case "date":
            return datetime.date.fromisoformat(cell)
        case "timestamptz":
            at = datetime.datetime.fromisoformat(cell)
            return at if at.tzinfo else at.replace(tzinfo=ZONE)
    return cell
