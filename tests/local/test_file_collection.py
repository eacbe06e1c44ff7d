"""`quarry load FILE --as NAME`: a file becomes a table that is searched, whole or not at all."""

from __future__ import annotations

import datetime
import gzip
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, TextIO

import psycopg
import pytest

from quarry.local.cli import main
from tests.collections.support import TICKETS, owner
from tests.conftest import client_of

SHIPS = """\
Ship No;Name;Log;Class;Built;Crew;Berth;Left at;Value
S-01;Marigold;Took on timber and salt.;cutter;1931-05-01;12;007;1931-06-01 08:00;12,50
S-02;Heron;A gale tore the mizzen sail.;cutter;1932-05-01;9;012;1931-07-01 08:00;1.250,00
S-03;Anvil;Coal for the northern stations.;collier;1933-05-01;;;1931-08-01 08:00;9,00
"""


@pytest.fixture
def harbour(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty database; the working directory holds ships.csv."""
    (tmp_path / "ships.csv").write_text(SHIPS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", database_url)
    owner(database_url, "alter database " + database_url.rsplit("/", 1)[1] + " set timezone = 'Asia/Tokyo'")
    return database_url


def rows(url: str, statement: str) -> list[Any]:
    with psycopg.connect(url, options="-c timezone=UTC") as connection:
        return connection.execute(statement.encode()).fetchall()


def tables(url: str) -> list[str]:
    return [name for (name,) in rows(url, "select tablename from pg_tables where schemaname = 'public' order by 1")]


@pytest.fixture
def piped(tmp_path: Path) -> Iterator[TextIO]:
    """A file that stands for standard input."""
    with (tmp_path / "piped").open() as file:
        yield file


Said = Callable[..., tuple[int, list[str], list[str]]]


@pytest.fixture
def load(capsys: pytest.CaptureFixture[str]) -> Said:
    """Runs `quarry load`: its exit status, and the lines that it said on standard output and standard error."""

    def run(*arguments: str) -> tuple[int, list[str], list[str]]:
        capsys.readouterr()
        status = main(["load", *arguments])
        said = capsys.readouterr()
        return status, [line.rstrip() for line in said.out.splitlines()], said.err.splitlines()

    return run


def test_a_file_is_searched_at_the_end_and_its_guess_is_shown(harbour: str, load: Said) -> None:
    status, told, _ = load("ships.csv", "--as", "ships")
    assert status == 0
    assert told == [
        "ships.csv: 3 rows read, 3 loaded, 0 skipped",
        "column   type         of the file",
        "ship_no  text         Ship No",
        "name     text         Name",
        "log      text         Log",
        "class    text         Class",
        "built    date         Built",
        "crew     bigint       Crew",
        "berth    text         Berth",
        "left_at  timestamptz  Left at",
        "value    text         Value: 3 numbers with a decimal comma (first 12,50 in line 2 of ships.csv): --decimal ,"
        " reads them as numbers",
        "key: ship_no",
        "added [collections.ships] to quarry.toml: review it",
        "ships: 3 rows read",
        'try: quarry ask records "How many ships are there?"',
        "     quarry serve",
    ]
    with client_of(harbour) as client:
        found, *_ = client.get("/records/search", params={"q": "mizzen sail"}).json()["results"]
        assert (found["type"], found["id"], found["title"]) == ("ships", "S-02", "Heron")
        counted = client.get("/records/facets", params={"type": "ships", "by": "class"}).json()
        assert {group["value"]: group["count"] for group in counted["groups"]} == {"cutter": 2, "collier": 1}


@pytest.mark.parametrize("form", ["pipe", "folder"])
def test_records_of_a_pipe_or_of_a_folder_of_packed_files_make_one_table(
    harbour: str, load: Said, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    lines = ['{"id": 1, "name": "Marigold", "holds": ["salt"]}', '{"id": 2, "name": "Heron", "log": {"gale": true}}']
    if form == "pipe":
        (tmp_path / "piped").write_text("\n".join(lines))
        monkeypatch.setattr(sys, "stdin", request.getfixturevalue("piped"))
    else:
        (tmp_path / "parts").mkdir()
        for number, line in enumerate(lines):
            (tmp_path / "parts" / f"{number}.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    assert load("-" if form == "pipe" else "parts", "--as", "ships", "--no-embed")[0] == 0
    assert rows(harbour, "select * from ships order by id") == [
        (1, "Marigold", ["salt"], None), (2, "Heron", None, {"gale": True}),
    ]  # fmt: skip


def test_loading_again_updates_by_key_adds_and_keeps_the_rest(harbour: str, load: Said) -> None:
    load("ships.csv", "--as", "ships", "--no-embed")
    declared = Path("quarry.toml").read_text()
    Path("more.csv").write_text("Ship No,Crew,Name\nS-02,9,Heron\nS-03,31,Anvil\nS-04,2,Wren\n")
    status, told, _ = load("more.csv", "--as", "ships", "--no-embed")
    assert (status, told[:2]) == (
        0,
        ["more.csv: 3 rows read, 3 loaded (2 new or changed), 0 skipped", "ships: 2 rows read"],
    )
    assert rows(harbour, "select name, crew, left(log, 4) from ships order by ship_no") == [
        ("Marigold", 12, "Took"), ("Heron", 9, "A ga"), ("Anvil", 31, "Coal"), ("Wren", 2, None),
    ]  # fmt: skip
    assert Path("quarry.toml").read_text() == declared
    Path("ships.csv").write_text(SHIPS.replace("S-03;Anvil", "S-09;Whimbrel"))
    assert load("ships.csv", "--as", "ships", "--replace", "--no-embed")[0] == 0
    assert [row[0] for row in rows(harbour, "select ship_no from ships order by 1")] == ["S-01", "S-02", "S-09"]
    assert load("ships.csv", "--as", "ships", "--key", "name")[0] == 1
    assert load("ships.csv", "--as", "boats", "--key", "class")[2] == [
        "class cannot be the key: Key (class)=(cutter) is duplicated.", "ships.csv: nothing was loaded",
    ]  # fmt: skip


def test_what_does_not_fit_a_table_that_is_there_is_told_by_line_and_column(harbour: str, load: Said) -> None:
    load("ships.csv", "--as", "ships", "--no-embed")
    Path("more.csv").write_text(
        "Ship No,Crew,Left at\nS-05,few,1931-01-01\n,1,\nS-06,1\nS-07,1,01.02.1931\nS-08,1,\nS-08,2,\n"
    )
    status, _, told = load("more.csv", "--as", "ships", "--no-embed")
    wrong = [
        "more.csv, line 2, Crew: 'few' is not a whole number",
        "more.csv, line 3, ship_no: is missing, but it is the key",
        "more.csv, line 4, line: has 2 cells, the header 3",
        "more.csv, line 5, Left at: '01.02.1931' is not a time as YYYY-MM-DDThh:mm:ssZ",
        "more.csv, line 7, Ship No: is also in line 6",
    ]
    assert (status, told[:-1]) == (1, wrong)
    assert len(rows(harbour, "select from ships")) == 3
    status, _, told = load("more.csv", "--as", "ships", "--no-embed", "--skip-invalid")
    assert (status, told) == (0, [f"skipped {each}" for each in wrong])
    assert rows(harbour, "select ship_no, crew from ships where ship_no > 'S-03'") == [("S-08", 1)]
    Path("more.csv").write_text("Ship No,Captain\nS-05,Ann\n")
    assert load("more.csv", "--as", "ships")[2][0].startswith("more.csv: ships has no column captain; it has ship_no, ")


def test_times_without_a_zone_are_those_of_the_database(harbour: str, load: Said) -> None:
    owner(harbour, "alter database " + harbour.rsplit("/", 1)[1] + " set timezone = 'America/New_York'")
    times = (
        "2031-05-31 23:30",
        "2031-03-09T02:30:00",
        "2031-11-02 01:30",
        "2031-11-02 01:30-04:00",
        "2031-06-01 00:30Z",
    )
    Path("gates.csv").write_text("gate,at\n" + "".join(f"{place},{at}\n" for place, at in enumerate(times)))
    _, _, told = load("gates.csv", "--as", "gates", "--no-embed")
    utc = ["2031-06-01 03:30", "2031-03-09 07:30", "2031-11-02 06:30", "2031-11-02 05:30", "2031-06-01 00:30"]
    assert [f"{at:%Y-%m-%d %H:%M}" for (at,) in rows(harbour, "select at from gates order by gate")] == utc
    assert told == [
        "at: 1 local times do not exist in America/New_York (first 2031-03-09T02:30:00): read an hour later",
        "at: 1 local times come twice in America/New_York (first 2031-11-02 01:30): read as the later of both",
    ]


def test_percentages_units_and_times_of_half_days_are_read_when_asked_or_told(harbour: str, load: Said) -> None:
    Path("tills.csv").write_text(
        "till,margin,taken,closed,opened\n1,12.5%,£90,12/31/2030 11:05 PM,1/2/2031 0:00\n"
        "2,-3%,$1200,01/13/2031 12:10 a.m.,1/13/2031 0:00\n"
    )
    _, told, _ = load("tills.csv", "--as", "tills", "--no-embed")
    told = [line.partition(": ")[2] for line in told[2:6]]
    assert "in percent (first 12.5%" in told[1]
    assert "--decimal . reads them as numbers" in told[1]
    assert "amounts in several units, kept as text" in told[2]
    assert told[3].endswith("--dates mdy reads them as dates")
    _, told, _ = load("tills.csv", "--as", "read", "--no-embed", "--decimal", ".", "--dates", "mdy")
    assert "percentages are read as their numbers: '12.5%' in line 2 of tills.csv" in told[3]
    assert "amounts in several units ('£90' in line 2 of tills.csv, '$1200' in line 3 of tills.csv)" in told[4]
    local = "to_char(closed at time zone 'Asia/Tokyo', 'YYYY-MM-DD HH24:MI')"
    shown = f"select margin, taken, {local}, opened from read order by till"
    assert rows(harbour, shown) == [
        (Decimal("12.5"), "£90", "2030-12-31 23:05", datetime.date(2031, 1, 2)),
        (Decimal(-3), "$1200", "2031-01-13 00:10", datetime.date(2031, 1, 13)),
    ]


def test_the_same_file_again_is_recognised_where_its_rows_would_be_added_twice(harbour: str, load: Said) -> None:
    notes, later = Path("notes.csv"), Path("later.jsonl")
    notes.write_text("note\nlow tide\nhigh tide\n")
    later.write_text('{"note": "fog"}\n')

    def kept(*arguments: str) -> list[str]:
        assert load(*arguments, "--as", "notes", "--no-embed")[0] == 0
        return [note for (note,) in rows(harbour, "select note from notes order by id")]

    # the day where the database is, which differs from that of UTC for nine hours
    [(today,)] = rows(harbour, "select (now() at time zone 'Asia/Tokyo')::date::text")
    way_on = "--append adds them again, --replace replaces all rows of notes"
    assert kept("notes.csv") == ["low tide", "high tide"]
    assert load("notes.csv", "--as", "notes")[2] == [
        f"notes.csv: its 2 rows were loaded into notes on {today}: {way_on}", "notes.csv: nothing was loaded",
    ]  # fmt: skip
    later_again = Path("copy.csv")
    later_again.write_text(notes.read_text())
    assert load("copy.csv", "--as", "notes")[2][0].startswith(
        f"copy.csv: its 2 rows were loaded into notes on {today} from notes.csv: "
    )
    assert kept("later.jsonl") == ["low tide", "high tide", "fog"]
    assert kept("notes.csv", "--append") == ["low tide", "high tide", "fog", "low tide", "high tide"]
    notes.write_text("note\nlow tide\nslack water\n")
    assert load("notes.csv", "--as", "notes")[2][0] == (
        f"notes.csv: its 2 rows were loaded into notes on {today}, but its content has changed: {way_on}"
    )
    assert kept("notes.csv", "--replace") == ["low tide", "slack water"]
    assert kept("later.jsonl") == ["low tide", "slack water", "fog"]
    assert kept("later.jsonl", "--replace") == ["fog"]
    later.unlink()
    assert load("later.jsonl", "later.jsonl", "--as", "notes")[0] == 1


def test_numbers_and_dates_are_read_as_the_user_says_that_they_are_written(harbour: str, load: Said) -> None:
    Path("rents.csv").write_text(
        'Berth;Rent;Since;Note\nA;"1.250,00 €";31.12.2030;paid 1.250,00\nB;(12,5);1.2.31;n/a\nC;n/a;2031-03-01;late\n'
    )
    load("rents.csv", "--as", "rents", "--no-embed")
    assert rows(harbour, "select rent, since from rents order by berth")[2] == ("n/a", "2031-03-01")
    said = ["--decimal", ",", "--dates", "dmy", "--empty", "n/a"]
    status, told, _ = load("rents.csv", "--as", "rents", "--no-embed", "--replace", *said)
    assert status == 0
    assert told[0] == "rents.csv: 3 rows read, 3 loaded (3 new or changed), 0 skipped"
    assert told[1].startswith("rent is numeric now: quarry.toml declares it as before; delete [collections.rents]")
    expected = [
        (Decimal("1250.00"), datetime.date(2030, 12, 31), "paid 1.250,00"),
        (Decimal("-12.5"), datetime.date(2031, 2, 1), None),
        (None, datetime.date(2031, 3, 1), "late"),
    ]
    assert rows(harbour, "select rent, since, note from rents order by berth") == expected


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("id,name\n", "bad.csv: holds no rows"),
        ("id,name\n1,Heron,5\n", "bad.csv, line 2, line: has 3 cells, the header 2"),
        ("name\nx\x00y\n", "bad.csv, line 2, name: contains a character that Postgres cannot store"),
    ],
)  # fmt: skip
def test_nothing_is_kept_where_something_is_wrong(harbour: str, load: Said, content: str, why: str) -> None:
    Path("bad.csv").write_text(content)
    status, _, told = load("bad.csv", "--as", "bad")
    assert (status, told[0]) == (1, why)
    assert tables(harbour) == []
    assert not Path("quarry.toml").exists()


@pytest.mark.parametrize(
    ("name", "status", "why"),
    [
        ("Ships", 2, "'Ships' is not a valid name: use lower-case letters, digits and _, as in ships"),
        ("motion", 2, "'motion' is a built-in record type"),
        ("taken", 1, "There is already a table public.taken, which `quarry load` did not make"),
        ("quarry.ships", 1, "The schema quarry belongs to Quarry"),
        ("port.tickets", 1, "quarry.toml already declares tickets of support.tickets"),
    ],
)
def test_a_name_that_cannot_be_taken_is_told(harbour: str, load: Said, name: str, status: int, why: str) -> None:
    owner(harbour, "create table taken (id int primary key)", "create schema port")
    Path("quarry.toml").write_text(TICKETS)
    ended, _, [told] = load("ships.csv", "--as", name)
    assert ended == status
    assert why in told
