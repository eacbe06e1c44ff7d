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
