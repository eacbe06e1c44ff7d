"""`quarry apply`, `quarry reconcile`, and what `quarry doctor` says of collections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from quarry.local.cli import main
from tests.collections.support import HELP_DESK, TICKETS, owner


@pytest.fixture
def desk(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of a help desk's database, with a quarry.toml in the working directory."""
    owner(database_url, HELP_DESK)
    (tmp_path / "quarry.toml").write_text(TICKETS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", database_url)
    return database_url


def finding(capsys: pytest.CaptureFixture[str], subject: str = "collection tickets") -> dict[str, Any]:
    """What `quarry doctor` says of something."""
    capsys.readouterr()
    main(["doctor", "--json"])
    checks = json.loads(capsys.readouterr().out)["checks"]
    return next(check for check in checks if check["subject"] == subject)


def test_applying_fills_and_embeds_and_applying_again_does_nothing(
    desk: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply"]) == 0
    assert capsys.readouterr().out == "create tickets (support.tickets)\ntickets: 3 rows read\n"
    assert finding(capsys) == {
        "status": "ok", "subject": "collection tickets", "detail": "up to date with support.tickets", "advice": "",
    }  # fmt: skip
    assert finding(capsys, "rows not embedded")["status"] == "ok"
    assert main(["apply"]) == 0
    assert capsys.readouterr().out == "keep tickets (support.tickets)\n"


def test_wrong_declarations_change_nothing_and_are_told_with_their_lines(
    desk: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("quarry.toml").write_text(TICKETS.replace('title = "subject"', 'title = "subjct"'))
    assert main(["apply"]) == 1
    assert "quarry.toml:4: collections.tickets.title" in capsys.readouterr().err
    Path("quarry.toml").unlink()
    assert main(["apply"]) == 1
    assert "quarry map" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ("alter table support.tickets drop column body", "body no longer exists"),
        ("drop table support.tickets", "the table support.tickets no longer exists"),
        (
            "create table support.other (like support.tickets including all); drop table support.tickets cascade;"
            " alter table support.other rename to tickets",
            "the table support.tickets was replaced by another of this name",
        ),
        (
            "alter table support.tickets disable trigger quarry_1_update",
            "triggers on support.tickets are missing or disabled",
        ),
    ],
)
def test_the_doctor_tells_what_was_changed_of_a_table(
    desk: str, capsys: pytest.CaptureFixture[str], change: str, detail: str
) -> None:
    main(["apply", "--no-embed"])
    owner(desk, change)
    found = finding(capsys)
    assert found["status"] == "broken"
    assert detail in found["detail"]
    assert found["advice"]


def test_apply_and_the_doctor_warn_of_what_may_be_a_secret(
    desk: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["apply", "--no-embed"])
    owner(desk, "alter table support.tickets add column smtp_pass text")
    assert finding(capsys, "secrets in tickets") == {
        "status": "absent",
        "subject": "secrets in tickets",
        "detail": "tickets.smtp_pass may hold a secret (by its name)",
        "advice": "unless everyone may see them: add them to `hidden` in quarry.toml, or show other columns, "
        "then run `quarry apply`",
    }
    for command in (["apply", "--plan"], ["apply", "--no-embed"]):
        assert main(command) == 0
        assert "collections.tickets: tickets.smtp_pass may hold a secret (by its name)" in capsys.readouterr().err
    (tmp_path / "quarry.toml").write_text(TICKETS.replace("date =", 'hidden = "smtp_pass"\ndate ='))
    assert main(["apply", "--no-embed"]) == 0
    assert "secret" not in capsys.readouterr().err
    main(["doctor", "--json"])
    assert "smtp_pass" not in capsys.readouterr().out


def test_the_doctor_tells_what_waits_and_what_is_not_applied(
    desk: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["apply", "--no-embed"])
    owner(desk, "update support.tickets set subject = subject || '!'")
    found = finding(capsys)
    assert (found["status"], found["detail"].partition(",")[0]) == ("absent", "3 changes wait")
    (tmp_path / "quarry.toml").write_text(TICKETS.replace('title = "subject"', 'title = "body"'))
    assert finding(capsys, "changes in quarry.toml") == {
        "status": "absent", "subject": "changes in quarry.toml", "detail": "not applied: change tickets",
        "advice": "run `quarry apply`",
    }  # fmt: skip


def test_the_doctor_tells_a_key_that_two_rows_have(
    desk: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    owner(desk, "create view support.twice as select 7 as number, subject from support.tickets")
    declared = '[collections.tickets]\nsource = "support.twice"\nkey = "number"\ntext = "subject"\nsync = "sweep"\n'
    (tmp_path / "quarry.toml").write_text(declared)
    main(["apply", "--no-embed"])
    found = finding(capsys)
    assert (found["status"], found["detail"]) == ("broken", "its key number is not unique: 3 rows have 7")


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ("insert into quarry.quarry_migrations (name, sha256) values ('9999_later.sql', '')", "9999_later.sql"),
        ("update quarry.quarry_migrations set sha256 = 'x' where name ~ '^0002'", "0002_records.sql was edited"),
    ],
)
def test_the_doctor_tells_a_newer_and_an_edited_migration(
    desk: str, capsys: pytest.CaptureFixture[str], change: str, detail: str
) -> None:
    owner(desk, change)
    found = finding(capsys, "migrations")
    assert found["status"] == "broken"
    assert detail in found["detail"]
    assert found["advice"]


def test_a_collection_whose_table_was_replaced_is_not_called_equal(
    desk: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["apply", "--no-embed"])
    owner(desk, "drop table support.tickets cascade", "create table support.tickets (id int primary key, subject text)")
    capsys.readouterr()
    assert main(["reconcile"]) == 1
    said = capsys.readouterr()
    assert "differ" not in said.out
    assert "tickets: the table was dropped or replaced" in said.err


def test_reconciling_reads_again_what_no_trigger_saw(desk: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["apply", "--no-embed"])
    owner(desk, "set session_replication_role = replica; delete from support.tickets where id = 1")
    capsys.readouterr()
    assert main(["reconcile", "tickets"]) == 0
    assert capsys.readouterr().out == "tickets: 1 rows differ\ntickets: 1 rows read\n"
    assert main(["reconcile", "nothing"]) == 1
    assert "tickets" in capsys.readouterr().err


def test_uninstalling_takes_the_triggers_along_and_leaves_the_tables(
    desk: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["apply", "--no-embed"])
    assert main(["uninstall", "--yes"]) == 0, capsys.readouterr().err
    owner(desk, "insert into support.tickets (subject) values ('badger')")
    with psycopg.connect(desk) as connection:
        assert connection.execute("select count(*) from support.tickets").fetchone() == (4,)
        assert connection.execute("select count(*) from pg_trigger where tgname ~ 'quarry'").fetchone() == (0,)


def differences(capsys: pytest.CaptureFixture[str], action: str = "verify", table: str = "tickets") -> dict[str, int]:
    """What `quarry index` says of a collection, each with its count. Its status says whether there is any."""
    capsys.readouterr()
    status = main(["index", action, table, "--json"])
    found = json.loads(capsys.readouterr().out)["differences"]
    assert status == bool(found)
    assert {each["table"] for each in found} <= {table}
    return {each["detail"]: each["count"] for each in found}


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        ("delete from quarry.rows_1 where id in ('1', '2')", {"rows that are not searched": 2}),
        ("delete from quarry.windows_1 where record_id = '1'", {"rows whose vectors are lost": 1}),
    ],
)  # fmt: skip
def test_what_is_searched_of_a_table_is_verified_against_it_and_made_anew(
    desk: str, capsys: pytest.CaptureFixture[str], spoil: str, told: dict[str, int]
) -> None:
    main(["apply"])
    assert differences(capsys, "rebuild") == {}
    owner(desk, spoil)
    found = differences(capsys)
    assert told.items() <= found.items()
    assert differences(capsys, "rebuild") == {}
