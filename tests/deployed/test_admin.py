"""`quarry --stack NAME`: commands run inside the stack, by the built function `admin` behind local stand-ins of AWS' own APIs."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from quarry.local import cli
from tests.conftest import clone_database
from tests.deployed.conftest import require_artifacts
from tests.fakes.object_store import ObjectStore
from tools.rehearsal.artifacts import ROOT
from tools.rehearsal.emulated_stack import PRINCIPAL, emulated_stack
from tools.rehearsal.runtime_api import FunctionProcess, Installation, running_function

Done = subprocess.CompletedProcess[str]
Quarry = Callable[..., Done]

DESK = """
create schema support;
create table support.tickets (id bigint primary key, subject text not null, body text, status text, created_at date);
insert into support.tickets
  select n, 'The printer smokes ' || n, 'It began after the toner was changed.', 'open', date '2024-03-01' + n
  from generate_series(1, 40) n;
analyze support.tickets;
"""


@pytest.fixture(scope="module")
def database_url(server_url: str, sample_template: str) -> Iterator[str]:
    """The sample data, and a help desk beside it."""
    with clone_database(server_url, sample_template) as url:
        with psycopg.connect(url) as connection:
            connection.execute(DESK)
        yield url


@pytest.fixture(scope="module")
def bucket() -> Iterator[ObjectStore]:
    with ObjectStore() as store:
        yield store


@pytest.fixture(scope="module")
def admin(
    database_url: str, bucket: ObjectStore, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FunctionProcess]:
    """The built function, with the environment of the template."""
    artifacts = require_artifacts()
    built = Installation(
        artifacts.python, artifacts.function("admin"), tuple(artifacts.layers_of("admin")), artifacts.wrapper
    )
    environment = artifacts.environment("admin") | bucket.environment | {"DATABASE_URL": database_url}
    with running_function(built, environment, tmp_path_factory.mktemp("admin")) as function:
        yield function


@pytest.fixture(scope="module")
def stack_url(admin: FunctionProcess) -> Iterator[str]:
    with emulated_stack({"search": admin.api, "admin": admin.api}) as url:
        yield url


@pytest.fixture
def quarry(
    stack_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Quarry:
    """Runs `quarry --stack quarry …` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "AWS_ENDPOINT_URL": stack_url,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
    }.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str, input: str = "") -> Done:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(input.encode())))
        try:
            status = cli.main(["--stack", "quarry", *arguments])
        except SystemExit as end:
            status = int(end.code or 0)
        told = capsys.readouterr()
        return Done(arguments, status, told.out, told.err)

    return run


def test_the_way_to_your_own_tables_is_as_documented(quarry: Quarry, tmp_path: Path) -> None:
    section = (ROOT / "docs" / "own-data.md").read_text().partition("## On AWS")[2]
    steps = [shlex.split(line) for line in section.split("```")[1].strip().splitlines()]
    assert all(step[:3] == ["quarry", "--stack", "quarry-dev"] for step in steps)
    (tmp_path / "bikes.csv").write_text("id,name\n1,Red bike\n2,Blue bike\n")
    done = [quarry(*step[3:]) for step in steps]
    assert [each.returncode for each in done] == [0] * 5, done
    _, plan, applied, answered, loaded = done
    assert plan.stdout.split()[:2] == ["create", "tickets"]
    assert "tickets: 40 rows read" in applied.stdout
    assert "toner" in answered.stdout
    assert "2 loaded" in loaded.stdout
    declared = (tmp_path / "quarry.toml").read_text()
    assert "[collections.tickets]" in declared
    assert "[collections.bikes]" in declared
    assert {path.name for path in tmp_path.iterdir()} == {"bikes.csv", "quarry.toml"}
    assert "quarry.toml" in quarry("map", "support", "--output", "quarry.toml").stderr  # nothing is overwritten


def test_a_query_comes_from_standard_input(quarry: Quarry) -> None:
    query = json.dumps({"source": "motion", "aggregate": [{"fn": "count"}]})
    assert any(letter.isdigit() for letter in quarry("query", "-", input=query).stdout)


def test_declarations_and_rows_may_lie_in_the_bucket(quarry: Quarry, bucket: ObjectStore) -> None:
    bucket.objects["city/quarry.toml"] = b'[collections.tickets]\nsource = "support.tickets"\ntitle = "no_such"\n'
    wrong = quarry("apply", "s3://city/quarry.toml", "--plan")
    assert wrong.returncode == 1
    assert "s3://city/quarry.toml:3" in wrong.stderr
    row = {"id": "m-1", "body": "City Council", "title": "A meeting", "date": "2024-02-13"}
    bucket.objects["city/meetings.jsonl"] = json.dumps(row).encode()
    loaded = quarry("load", "meetings", "s3://city/meetings.jsonl", "--no-embed", "--json")
    assert json.loads(loaded.stdout)["files"][0]["rows"] == 1, loaded.stderr


def test_users_and_records_are_looked_after(quarry: Quarry, database_url: str) -> None:
    assert "has 60 credits" in quarry("credits", "grant", "ada", "50").stdout
    assert json.loads(quarry("credits", "show", "ada", "--json").stdout)["balance"] == 60
    assert json.loads(quarry("export", "user", "ada").stdout)["credits"][-1]["amount"] == 50
    with psycopg.connect(database_url) as connection:
        [(person,)] = connection.execute("select id from people order by id limit 1").fetchall()
        assert quarry("forget", "person", person).returncode == 0
        assert connection.execute("select from people where id = %s", [person]).fetchall() == []
    assert quarry("runs", "--limit", "1").returncode == 0
    examined = quarry("doctor")
    assert "DATABASE_URL answers" in examined.stdout


def test_a_commands_failure_is_its_callers(quarry: Quarry) -> None:
    failed = quarry("forget", "person", "nobody")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.startswith("quarry: ")
    assert quarry("credits", "grant", "ada", "none").returncode == 2


@pytest.mark.parametrize(
    "command",
    [("serve",), ("runs", "replay", "3f2a"), ("tenant", "move", "acme", "db:5432")],
)
def test_what_a_stack_cannot_run_is_refused_here_and_there(
    quarry: Quarry, admin: FunctionProcess, command: tuple[str, ...]
) -> None:
    refused = quarry(*command)
    assert (refused.returncode, refused.stdout) == (2, "")
    there = [json.loads(line) for line in admin.api.invoke({"argv": [*command]}).response().splitlines() if line]
    assert "".join(frame.get("err", "") for frame in there) == refused.stderr
    assert there[-1] == {"exit": 2}


def test_every_command_leaves_a_line_in_the_log_without_its_secrets(admin: FunctionProcess, quarry: Quarry) -> None:
    quarry("credits", "show", "postgresql://ada:hunter2@db")
    [line] = [each for each in admin.log_lines() if "postgresql" in str(each.get("argv"))]
    assert line["argv"] == ["credits", "show", "postgresql://***@db"]
    assert (line["stated_principal"], line["exit_status"], line["level"]) == (PRINCIPAL, 0, "INFO")
    assert line["seconds"] > 0
    assert "hunter2" not in admin.log


def test_an_event_that_is_no_command_is_refused(admin: FunctionProcess) -> None:
    for event, wrong in (
        ({}, "argv"),
        ({"argv": ["runs"], "files": {"../x": ""}}, "files"),
        ({"argv": "runs"}, "argv"),
    ):
        first, last = (json.loads(line) for line in admin.api.invoke(event).response().splitlines())
        assert wrong in first["err"]
        assert last == {"exit": 2}


def test_output_comes_while_the_command_runs(admin: FunctionProcess) -> None:
    moments = [moment for moment, piece in admin.api.invoke({"argv": ["doctor"]}).pieces() if b'"out"' in piece]
    assert len(moments) > 1
    assert moments[-1] - moments[0] > 0.01


def test_a_command_ends_before_its_function_does(admin: FunctionProcess) -> None:
    response = admin.api.invoke({"argv": ["doctor"]}, seconds=15.2).response()
    *_, told, ended = (json.loads(line) for line in response.splitlines() if line)
    assert "15 minutes" in told["err"]
    assert ended == {"exit": 124}
