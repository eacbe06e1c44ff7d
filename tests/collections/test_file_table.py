"""What files hold is what their table holds, whatever it is, and nothing is kept of what is wrong."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.collections.file_table import FileLoad
from quarry.files.guessing import staged
from quarry.files.records import RecordFile
from quarry.files.value_types import ColumnType
from tests.platform.test_guessing import file_of


@pytest.fixture(scope="module")
def connection(server_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server_url, autocommit=True, options="-c timezone=Asia/Tokyo") as connection:
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
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e6, 1e6) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
FEW_KINDS = st.sampled_from(
    [
        CELLS, TEXTS, JSON, st.booleans(), st.integers(), st.integers(-9, 9), st.floats(allow_nan=False), st.lists(TEXTS),
        st.dates(datetime.date(1000, 1, 1)), st.datetimes(datetime.datetime(1000, 1, 2), timezones=st.just(datetime.UTC)),
        st.decimals(allow_nan=False, allow_infinity=False, places=3),
    ]
)  # fmt: skip


def columns_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.none() | values, min_size=1, max_size=6)


class TestLaw:
    """Every value of a file can be stored in its column, and says there what it said in the file."""

    @given(columns_of(CELLS) | columns_of(TEXTS.map(str.strip).filter(bool)))
    def test_of_cells(self, connection: psycopg.Connection, column: list[str | None]) -> None:
        rows = [{"x": cell} if cell else {} for cell in column]
        type, values = loaded(connection, file_of(rows, ["x"], cells=True))
        for cell, stored in zip(column, values, strict=True):
            assert stored == (cell and _read(cell, type))

    @given(st.lists(FEW_KINDS, min_size=1, max_size=2).flatmap(lambda kinds: columns_of(st.one_of(kinds))))
    def test_of_values(self, connection: psycopg.Connection, column: list[Any]) -> None:
        rows = [{"x": value} for value in column]
        type, values = loaded(connection, file_of(rows))
        for value, stored in zip(column, values, strict=True):
            if value is None or type in ("boolean", "bigint", "text[]"):
                assert stored == value
            elif type == "jsonb":
                assert stored == json.loads(staged({"x": value}))["x"]
            elif type == "text" and isinstance(value, bool):
                assert stored == str(value).lower()
            elif type == "text" and isinstance(value, (int, float)):
                assert float(str(stored)) == value
            elif type == "text":
                assert stored == str(value)
            else:
                assert stored == _read(str(value), type)


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
            return at if at.tzinfo else at.replace(tzinfo=datetime.UTC)
    return cell
