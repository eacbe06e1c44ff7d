from __future__ import annotations

import datetime
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.sql import SQL, Identifier

from quarry.core.files.guessing import ColumnType, GuessedTable, guess_table, stored_value
from quarry.core.files.identifiers import IDENTIFIER_MAX_BYTES, RESERVED, SYSTEM_COLUMNS, identifiers
from quarry.core.files.reading import read_records
from quarry.core.files.records import Record, RecordFile, UnreadableFile

NOON = datetime.datetime(2031, 4, 7, 12, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def connection(server_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server_url, autocommit=True, options="-c timezone=UTC") as connection:
        yield connection


def file_of(rows: Sequence[Mapping[str, object]], columns: Sequence[str] = (), *, cells: bool = False) -> RecordFile:
    records = (Record(number, dict(row)) for number, row in enumerate(rows, start=1))
    return RecordFile("rows", "record", records, lambda: 0, columns, cells_are_text=cells)


def guessed(*values: object, cells: bool = False) -> ColumnType:
    """The type of a column with these values."""
    [column] = guess_table(file_of([{"x": value} for value in values], ["x"], cells=cells)).columns
    return column.type


def key(text: str) -> str | None:
    with read_records(io.BytesIO(text.encode()), "rows.csv") as file:
        return guess_table(file).key


class TestTypes:
    @pytest.mark.parametrize(
        ("cells", "type"),
        [
            (["1", "-20", "0", "9223372036854775807"], "bigint"),
            (["1", "9223372036854775808"], "numeric"),
            (["1", "2.50", ".5", "5.", "-1e6"], "numeric"),
            (["1", "007"], "text"),
            (["-0"], "numeric"),
            (["1", "1,000"], "text"),
            (["+49"], "text"),
            (["NaN"], "text"),
            (["٣"], "text"),
            (["yes", "No"], "boolean"),
            (["TRUE"], "boolean"),
            (["t", "F"], "boolean"),
            (["f", "f"], "text"),
            (["yes", "false"], "text"),
            (["no", "se"], "text"),
            (["1", "true"], "text"),
            (["2024-02-29", "1999-12-31"], "date"),
            (["2023-02-29"], "text"),
            (["2024-02-29", "2024-02-29T10:00:00Z"], "timestamptz"),
            (["2024-02-29 10:00", "2024-02-29T10:00:00.25+0530"], "timestamptz"),
            (["2024-02-29T25:00"], "text"),
            (["03/04/2024"], "text"),
            (["20240229"], "bigint"),
            (["one", "2"], "text"),
            ([], "text"),
        ],
    )
    def test_cells_are_what_all_of_them_can_be(self, cells: list[str], type: str) -> None:
        assert guessed(*cells, cells=True) == type

    @pytest.mark.parametrize(
        ("values", "type"),
        [
            ([True, False, None], "boolean"),
            ([1, 2], "bigint"),
            ([1, 2.5], "numeric"),
            ([2**63], "numeric"),
            ([Decimal("1.10")], "numeric"),
            (["1", "2"], "text"),
            (["true"], "text"),
            (["2024-02-29"], "date"),
            ([datetime.date(2024, 2, 29), NOON], "timestamptz"),
            ([["a"], []], "text[]"),
            ([["a"], [1]], "jsonb"),
            ([["a"], "a"], "jsonb"),
            ([{"a": 1}, {}], "jsonb"),
            ([1, "a", True], "text"),
            ([b"\xff"], "text"),
            ([None], "text"),
        ],
    )
    def test_values_of_json_are_what_they_are_written_as(self, values: list[object], type: str) -> None:
        assert guessed(*values) == type

    def test_a_column_is_nullable_where_a_record_lacks_it(self) -> None:
        table = guess_table(file_of([{"a": 1, "b": 1, "c": None}, {"a": 2, "d": 1}], ["e"]))
        assert {column.name: column.nullable for column in table.columns} == {
            "e": True, "a": False, "b": True, "c": True, "d": True,
        }  # fmt: skip

    def test_a_preview_reads_no_further(self) -> None:
        rows: list[dict[str, object]] = [{"a": 1}, {"a": "one"}]
        assert guess_table(file_of(rows), 1).columns[0].type == "bigint"
        assert guess_table(file_of(rows)).columns[0].type == "text"

    def test_what_is_no_record_is_passed_over(self) -> None:
        with read_records(io.BytesIO(b'{"a": 1}\n[1]\n{\n{"a": 2}\n'), "rows.jsonl") as file:
            table = guess_table(file)
        assert [(column.type, column.nullable) for column in table.columns] == [("bigint", False)]

    def test_more_columns_than_postgres_takes_are_refused(self) -> None:
        with pytest.raises(UnreadableFile, match="rows: has more than 1600 columns"):
            guess_table(file_of([{f"a{n}": 1} for n in range(1601)]))


class TestKey:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("code,ID\nx,1\ny,2\n", "id"),
            ("name,ticket_id\nx,1\ny,2\n", "ticket_id"),
            ("a_id,key\nx,1\ny,2\n", "key"),
            ("a_id,b_id\nx,1\nx,2\n", "b_id"),
            ("name,email\nAnn Lee,a@b.example\nBo,b@b.example\n", "email"),
            ("id,code\n1,x\n1,y\n", "code"),
            ("id,code\n,x\n1,y\n", "code"),
            ("date,amount\n2031-04-07,1.5\n2031-04-08,2.5\n", None),
            ("note\nto do\nall done\n", None),
            (f"id\n{'x' * 65}\n", None),
            ("id\n", None),
        ],
    )
    def test_it_is_named_as_one_or_the_first_whose_values_look_like_codes(
        self, text: str, expected: str | None
    ) -> None:
        assert key(text) == expected


class TestIdentifiers:
    @pytest.mark.parametrize(
        ("names", "expected"),
        [
            (["Ticket No.", "createdAt", "userID"], ["ticket_no", "created_at", "user_id"]),
            (["Prénom", "GRÖSSE", "Straße", "ﬁle"], ["prenom", "grosse", "strasse", "file"]),
            (["日付", "дата", "नाम", "й"], ["日付", "дата", "नाम", "й"]),
            (["", "  ", "%", "2024", "_x_"], ["column_1", "column_2", "column_3", "column_2024", "x"]),
            (["a", "A", "a!", "a_2", "a"], ["a", "a_2", "a_3", "a_2_2", "a_4"]),
            (["order", "User", "ctid", "name"], ["order_", "user_", "ctid_", "name"]),
            (["é" * 80, "x" * 80, "x" * 80], ["e" * 63, "x" * 63, "x" * 61 + "_2"]),
        ],
    )
    def test_names_become_plain(self, names: list[str], expected: list[str]) -> None:
        assert identifiers(names) == expected

    @given(st.lists(st.text(max_size=70) | st.sampled_from(sorted(RESERVED | SYSTEM_COLUMNS)), min_size=1, max_size=8))
    def test_postgres_takes_them_without_quotes(self, connection: psycopg.Connection, names: list[str]) -> None:
        found = identifiers(names)
        assert len(set(found)) == len(names)
        assert all(len(name.encode()) <= IDENTIFIER_MAX_BYTES for name in found)
        with connection.transaction(force_rollback=True):
            connection.execute(
                f"create temporary table guessed ({', '.join(f'{name} int' for name in found)})".encode()
            )
            cursor = connection.execute(f"select {', '.join(found)} from guessed".encode())
            assert cursor.description is not None
            assert [column.name for column in cursor.description] == found

    def test_every_word_that_postgres_reserves_is_known(self, connection: psycopg.Connection) -> None:
        reserved = connection.execute("select word from pg_get_keywords() where catcode in ('R', 'T')").fetchall()
        assert {word for (word,) in reserved} <= RESERVED


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
        table = guess_table(file_of(rows, ["x"], cells=True))
        for cell, stored in zip(column, stored_in(connection, table, rows), strict=True):
            assert stored == (cell and _read(cell, table.columns[0].type))

    @given(st.lists(FEW_KINDS, min_size=1, max_size=2).flatmap(lambda kinds: columns_of(st.one_of(kinds))))
    def test_of_values(self, connection: psycopg.Connection, column: list[Any]) -> None:
        rows = [{"x": value} for value in column]
        table = guess_table(file_of(rows))
        type = table.columns[0].type
        for value, stored in zip(column, stored_in(connection, table, rows), strict=True):
            if value is None or type in ("boolean", "bigint", "text[]"):
                assert stored == value
            elif type == "jsonb":
                assert stored == json.loads(str(stored_value(value, "jsonb")))
            elif type == "text":
                assert stored == stored_value(value, "text")
            else:
                assert stored == _read(str(value), type)


def stored_in(
    connection: psycopg.Connection, table: GuessedTable, rows: Sequence[Mapping[str, object]]
) -> list[object]:
    """What Postgres holds of the one column of a table made as it was guessed."""
    [column] = table.columns
    name = Identifier(column.name)
    with connection.transaction(force_rollback=True):
        connection.execute(
            SQL("create temporary table guessed (n serial, {} {} {})").format(
                name, SQL(column.type), SQL("" if column.nullable else "not null")
            )
        )
        if table.key:
            connection.execute(SQL("alter table guessed add primary key ({})").format(Identifier(table.key)))
        with (
            connection.cursor() as cursor,
            cursor.copy(SQL("copy guessed ({}) from stdin").format(name)) as copy,
        ):
            for row in rows:
                copy.write_row([stored_value(row.get(column.header), column.type)])
        return [value for (value,) in connection.execute(SQL("select {} from guessed order by n").format(name))]


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
