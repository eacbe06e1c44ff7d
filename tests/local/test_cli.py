"""The command line as its users meet it: the installed program, its output, its exit status."""

import csv
import io
import json
import math
import os
import re
import secrets
import signal
import subprocess
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import click
import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.local.cli.command import Group, imported_function
from quarry.local.cli.commands import command_line
from quarry.platform.contract import DOMAINS
from quarry.postgres.load import load_file
from tests.fakes.openai_server import Body, FakeOpenAI, Reply
from tests.local.forked import forked_commands
from tests.waiting import PATIENCE_SECONDS

QUARRY = Path(sysconfig.get_path("scripts")) / "quarry"
COMMANDS = (
    "serve demo sample migrate load embed cleanup uninstall ask query explain tools runs eval credits tune index doctor map"
    " mcp forget export config completion apply reconcile psql"
).split()
ACTIONS = ("runs show", "runs replay", "export user", "credits show", "credits grant", "index rebuild", "config show")
QUESTION = "Why did the council decide to keep the old elm?"
LAST_STATUS = "select status from search_runs order by started_at desc limit 1"
NO_MODEL = "http://127.0.0.1:1/v1"
NOWHERE = "postgresql://quarry:hunter2@127.0.0.1:1/quarry"

Run = Callable[..., subprocess.CompletedProcess[str]]


def environment(**variables: str) -> dict[str, str]:
    """What a command finds in its environment: nothing of ours but `variables`, and warnings are errors there too."""
    return {"PATH": os.environ["PATH"], "PYTHONWARNINGS": "error", **variables}


def quarry(*arguments: str | Path, input: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """A command, given `input` to read, and what it said, without what it takes to start the program."""
    return forked_commands().run([str(argument) for argument in arguments], environment(**variables), input)


def installed_quarry(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The same by the program that is installed."""
    return subprocess.run(
        [QUARRY, *arguments],
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def write_rows(path: Path, *rows: Mapping[str, object] | str) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def meeting(id: str, **fields: object) -> dict[str, object]:
    return {"id": id, "body": "City Council", "title": f"Meeting {id}", "date": "2024-02-13", **fields}


def motion(id: str, text: str) -> dict[str, object]:
    return {"id": id, "text_content": text, "date": "2024-02-13"}


def value(url: str, query: str) -> Any:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return row[0]


def forget_answers(url: str) -> None:
    """Have no question answered from the store."""
    with psycopg.connect(url) as connection:
        connection.execute("delete from answer_cache")


@cache
def help_of(command: str) -> str:
    done = installed_quarry(*command.split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def load(url: str, table: str, file: Path) -> None:
    """Load without embedding, and without another process."""
    load_file(url, catalog.LOADABLE[table], file)


def one_line(text: str) -> bool:
    return text.count("\n") == 1 and text.endswith("\n")


class TestHelp:
    def test_it_lists_every_command_each_with_an_example_that_calls_it(self) -> None:
        text = help_of("")
        assert [command for command in COMMANDS if re.search(rf"^ +{command} +\w", text, re.MULTILINE)] == COMMANDS
        for command in (*COMMANDS, *ACTIONS):
            _, _, example = quarry(*command.split(), "--help").stdout.partition("example:\n  ")
            assert example.startswith(f"quarry {command}") or f"| quarry {command} " in example.splitlines()[0], command


def test_a_command_gives_the_function_that_it_calls_all_that_this_takes() -> None:
    def below(group: Group) -> Iterator[click.Command]:
        for command in group.commands.values():
            yield command
            if isinstance(command, Group):
                yield from below(command)

    # what `ask` makes of its words is given too
    beside = {"server", "stack", "dotenv", "database", "domain", "question"}
    for command in below(command_line()):
        given = {each.name for each in command.params} | beside
        for target in getattr(command, "targets", ()):
            assert {*imported_function(target)[1]} <= given, command.name


class TestWrongUsage:
    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ([], "Missing command"),
            (["fly"], "'fly'"),
            (["serv"], "did you mean 'serve'"),
            (["ask", "why", "was", "it?"], "in quotes"),
            (["--server", "http://127.0.0.1:1", "ask", "why?"], "name what to ask"),
            (["--server", "http://127.0.0.1:1", "--stack", "desk", "doctor"], "not both"),
            (["load", "tickets.csv", "--as", "tickets", "--append", "--replace"], "not both"),
            (["ask", "weather", "will it rain?"], "records"),
            (["ask", "records", "  "], "at least 1 character"),
            (["ask", "people", "\udcff"], "valid Unicode"),
            (["credits", "grant", "ada", "1000001"], "1,000,000"),
            (["serve", "--port", "70000"], "65535"),
        ],
    )
    def test_it_is_told_in_one_line_with_status_2(self, arguments: list[str], told: str) -> None:
        done = quarry(*arguments, DATABASE_URL=NOWHERE)
        assert done.returncode == 2
        assert done.stdout == ""
        assert one_line(done.stderr)
        assert told in done.stderr
        assert "--help`" in done.stderr


class TestFailure:
    @pytest.mark.parametrize(
        ("arguments", "variables", "told"),
        [
            (["runs"], {"DATABASE_URL": NOWHERE}, "does not answer"),
            (["runs"], {"DATABASE_URL": "nonsense hunter2"}, "is not a Postgres URL"),
            (
                ["load", "meetings", "/nowhere/file.jsonl"],
                {"DATABASE_URL": NOWHERE},
                "/nowhere/file.jsonl: No such file",
            ),
            (["runs"], {"QUARRY_DATA_DIR": "/dev/null/quarry"}, "/dev/null/quarry"),
        ],
    )
    def test_it_is_told_in_one_line_with_status_1(
        self, arguments: list[str], variables: dict[str, str], told: str
    ) -> None:
        done = quarry(*arguments, **variables)
        assert done.returncode == 1
        assert done.stdout == ""
        assert one_line(done.stderr)
        assert told in done.stderr
        assert "hunter2" not in done.stderr

    def test_a_database_of_another_encoding_is_told(self, server_url: str) -> None:
        name = f"ascii_{secrets.token_hex(6)}"
        made = "create database {} encoding 'SQL_ASCII' locale 'C' locale_provider libc template template0"
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(SQL(made).format(Identifier(name)))
            done = quarry("migrate", DATABASE_URL=urlunsplit(urlsplit(server_url)._replace(path=f"/{name}")))
            connection.execute(SQL("drop database {} with (force)").format(Identifier(name)))
        assert done.returncode == 1
        assert "has the encoding SQL_ASCII, but Quarry needs UTF8" in done.stderr


class TestLoad:
    def test_a_wrong_row_is_named_and_nothing_is_kept(self, database_url: str, tmp_path: Path) -> None:
        file = write_rows(
            tmp_path / "meetings.jsonl", meeting("a"), meeting("b", date="soon"), "{", meeting("c", colour="red")
        )
        done = quarry("load", "meetings", file, DATABASE_URL=database_url)
        assert done.returncode == 1
        assert done.stdout == ""
        *problems, last = done.stderr.splitlines()
        assert [problem.split(":")[0] for problem in problems] == ["line 2, date", "line 3, line", "line 4, colour"]
        assert last.startswith("meetings.jsonl: nothing was loaded")
        assert value(database_url, "select count(*) from meetings") == 0
        done = quarry("load", "meetings", file, "--skip-invalid", DATABASE_URL=database_url)
        assert (done.returncode, done.stdout) == (0, "4 rows, 1 new or changed, 3 skipped\n")
        assert done.stderr.startswith("skipped line 2, date: ")

    def test_a_model_that_is_down_does_no_harm(self, database_url: str, tmp_path: Path) -> None:
        file = write_rows(tmp_path / "motions.jsonl", motion("a", "To keep the elm."))
        down = {"OPENAI_BASE_URL": NO_MODEL, "EMBEDDINGS": "openai", "EMBEDDING_DIMENSIONS": "384"}
        done = quarry("load", "motions", file, DATABASE_URL=database_url, MODEL_MAX_RETRIES="0", **down)
        assert done.returncode == 0
        assert done.stdout == "1 row, 1 new or changed, 0 skipped\n"
        assert one_line(done.stderr)
        assert done.stderr.startswith("not embedded")
        assert value(database_url, "select count(*) from motions") == 1
        assert value(database_url, "select count(*) from embedding_model") == 0

    def test_programs_are_told_in_json(self, database_url: str, tmp_path: Path) -> None:
        def told(*arguments: str | Path, status: int = 0) -> Any:
            done = quarry(*arguments, "--json", DATABASE_URL=database_url)
            assert done.returncode == status
            assert done.stdout.count("\n") == 1
            return json.loads(done.stdout)

        good = write_rows(tmp_path / "good.jsonl", motion("a", "To keep the elm."))
        bad = write_rows(tmp_path / "bad.jsonl", motion("b", "To close the bridge.") | {"date": "soon"})
        assert told("migrate") == {"migrations": [], "functions": [], "tenants": []}
        loaded = told("load", "motions", good, bad, status=1)
        assert loaded["files"][0] == {"file": "good.jsonl", "rows": 1, "changed": 1, "skipped": 0, "problems": []}
        assert loaded["files"][1]["rows"] == 0
        assert "line 1" in loaded["files"][1]["problems"][0]
        assert loaded["tables"] == [{"table": "motions", "embedded": 1, "failed": [], "problem": None}]
        assert told("embed") == {"tables": []}
        assert told("cleanup") == {table.label: 0 for table in catalog.EXPIRING}
        assert told("reconcile") == {"differing": [], "collections": [], "tables": []}
        assert told("credits", "grant", "ada", "5") == {"user": "ada", "balance": 15}


class TestEmbed:
    def test_after_a_change_of_model_everything_is_embedded_anew_or_nothing_at_all(
        self, database_url: str, tmp_path: Path, openai_server: FakeOpenAI
    ) -> None:
        file = write_rows(tmp_path / "motions.jsonl", motion("a", "To keep the elm."))
        quarry("load", "motions", file, DATABASE_URL=database_url)
        other = {"DATABASE_URL": database_url, "EMBEDDINGS": "openai", "MODEL_MAX_RETRIES": "0"}

        refused = quarry("embed", OPENAI_BASE_URL=openai_server.url, **other)
        assert refused.returncode == 1
        assert one_line(refused.stderr)
        assert "quarry embed --all" in refused.stderr

        failed = quarry("embed", "--all", OPENAI_BASE_URL=NO_MODEL, **other)
        assert failed.returncode == 1
        assert one_line(failed.stderr)
        assert value(database_url, "select vector_dims(embedding) from motion_embeddings") == 384

        done = quarry("embed", "--all", OPENAI_BASE_URL=openai_server.url, **other)
        assert done.stdout == "motions: 1 row embedded\n"
        assert value(database_url, "select dimensions from embedding_model") == 1536
        assert value(database_url, "select vector_dims(embedding) from motion_embeddings") == 1536


class TestFormats:
    def test_a_result_is_a_table_or_csv_or_json(self, sample_url: str) -> None:
        query = json.dumps({"source": "motion", "group": ["meeting.body"], "aggregate": ["count"], "limit": 1})
        rows = quarry("query", "-", "--format", "csv", input=query, DATABASE_URL=sample_url)
        as_json = json.loads(quarry("query", "-", "--json", input=query, DATABASE_URL=sample_url).stdout)
        [heading, row] = csv.reader(rows.stdout.splitlines())
        assert row == [str(cell) for cell in as_json["rows"][0]]
        assert heading == [column["label"] for column in as_json["columns"]]

    @pytest.mark.parametrize(
        ("asked", "heading"),
        [
            (
                ["ask", "records", "How many motions were there per month in 2025?"],
                ["month (date)", "number of motions"],
            ),
            (["ask", "records", "How many motions were defeated in 2025?"], ["number of motions"]),
            (["ask", "companies", "Robots you can lease instead of buying"], ["companyId", "companyName", "reason"]),
            (["ask", "people", "Backend engineers in Bengaluru"], ["id", "name", "headline"]),
            (
                ["ask", "campaigns", "How many campaigns are there for each channel?"],
                ["channel", "number of campaigns"],
            ),
            (["ask", "projects", "Which tasks are blocked?"], ["type", "id"]),
            (["search", "bridge", "--type", "motion", "--limit", "3"], ["type", "id", "title", "date", "url", "score"]),
        ],
    )
    def test_answers_and_lists_are_tables_too(self, sample_url: str, asked: list[str], heading: list[str]) -> None:
        done = quarry(*asked, "--format", "csv", DATABASE_URL=sample_url)
        rows = [*csv.reader(done.stdout.splitlines())]
        assert rows[0][: len(heading)] == heading
        assert len(rows) > 1
        assert all(len(row) == len(rows[0]) for row in csv.reader(io.StringIO(done.stdout)))

    def test_numbers_of_a_table_have_their_decimals_and_shares_are_percentages(self, sample_url: str) -> None:
        query = {
            "source": "companies",
            "group": ["country"],
            "aggregate": [{"fn": "avg", "field": "funding"}, {"fn": "percent_of_total"}],
            "order": [{"by": "country", "direction": "asc"}],
        }
        done = quarry("query", "-", input=json.dumps(query), DATABASE_URL=sample_url)
        table = done.stdout.partition("\n\n")[2]
        assert re.search(r"\d{1,3}(,\d{3})+\.\d{2} ", table)
        assert re.search(r" \d+(\.\d{1,2})?% ", table)
        assert not re.search(r"\d\.\d{3}", table)


class TestPsql:
    def test_it_runs_on_the_database_with_the_password_that_quarry_knows(self, database_url: str) -> None:
        [programs] = Path(value(database_url, "show data_directory")).parents[1].glob("postgres-*/bin")
        installed = {"DATABASE_URL": database_url, "PATH": f"{programs}:{os.environ['PATH']}"}
        done = quarry("psql", "-Atc", "select count(*) from motions", **installed)
        assert (done.returncode, done.stdout) == (0, "0\n")
        assert quarry("psql", "-c", "selec", **installed).returncode == 1

    def test_where_there_is_none_it_says_so(self, database_url: str) -> None:
        done = quarry("psql", DATABASE_URL=database_url, PATH="/nowhere")
        assert done.returncode == 1
        assert "psql is not installed" in done.stderr


class TestAsk:
    def test_without_a_domain_every_one_that_holds_data_is_asked(self, sample_url: str) -> None:
        done = quarry("ask", "Which projects are about water?", "--json", DATABASE_URL=sample_url)
        events = [json.loads(line) for line in done.stdout.splitlines()]
        assert [each["domain"] for each in events if each.get("type") == "domain"] == sorted(DOMAINS)
        assert (done.returncode, done.stderr) == (0, "")

    def test_without_a_domain_and_data_it_says_how_to_get_some(self, database_url: str) -> None:
        done = quarry("ask", "Why?", DATABASE_URL=database_url)
        assert done.returncode == 1
        assert "quarry load" in done.stderr

    def test_json_is_the_events_of_the_stream(self, sample_url: str) -> None:
        done = quarry("ask", "records", QUESTION, "--json", DATABASE_URL=sample_url)
        assert (done.returncode, done.stderr) == (0, "")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        order = list(dict.fromkeys(event["type"] for event in events))
        assert order == [
            *("intent", "tool_call", "tool_observation", "sources"),
            *("final_answer_chunk", "citations", "followups", "done"),
        ]
        answer = "".join(event["chunk"] for event in events if event["type"] == "final_answer_chunk")
        [sources] = [event["sources"] for event in events if event["type"] == "sources"]
        cited = {int(number) for number in re.findall(r"\[(\d+)\]", answer)}
        assert cited
        assert cited <= {source["n"] for source in sources}
        assert value(sample_url, f"select query from answer_cache where id = '{events[-1]['answer_id']}'") == QUESTION

    def test_ctrl_c_stops_the_work(self, sample_url: str, openai_server: FakeOpenAI) -> None:
        def respond(body: Body) -> Reply:
            return (
                Reply.hang(PATIENCE_SECONDS, after_pieces=["Sources: 1\n\nThe elm was kept "])
                if body.get("stream")
                else Reply.text("Enough.")
            )

        openai_server.respond = respond
        with subprocess.Popen(
            [QUARRY, "ask", "records", QUESTION, "--json"],
            env=environment(
                DATABASE_URL=sample_url, OPENAI_BASE_URL=openai_server.url, MODEL_TIMEOUT_SECONDS=str(PATIENCE_SECONDS)
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            events = (json.loads(line) for line in process.stdout)
            begun = next(event for event in events if event["type"] == "final_answer_chunk")
            assert "The elm was kept" in begun["chunk"], "the model is still writing, and nobody writes in its place"
            process.send_signal(signal.SIGINT)
            assert process.stderr.read() == ""
        assert process.returncode == 130
        assert value(sample_url, LAST_STATUS) == "abandoned"


class TestCredits:
    def test_what_is_granted_is_shown(self, database_url: str) -> None:
        granted = quarry("credits", "grant", "ada", "5", DATABASE_URL=database_url)
        assert (granted.returncode, granted.stdout, granted.stderr) == (0, "ada has 15 credits\n", "")
        shown = quarry("credits", "show", "ada", DATABASE_URL=database_url).stdout
        assert re.search(r"^ada has 15 credits\n\n.*\n.* \+5 +grant .*\n.* \+10 +initial +ada", shown)
        told = json.loads(quarry("credits", "show", "ada", "--json", DATABASE_URL=database_url).stdout)
        assert (told["user"], told["balance"]) == ("ada", 15)
        assert [(entry["amount"], entry["reason"]) for entry in told["entries"]] == [(5, "grant"), (10, "initial")]
        assert all(entry["created_at"].endswith("+00:00") for entry in told["entries"])


def test_a_run_is_listed_and_shown_as_a_timeline(sample_url: str) -> None:
    forget_answers(sample_url)
    quarry("ask", "records", QUESTION, DATABASE_URL=sample_url)
    [run] = json.loads(quarry("runs", "--json", "--limit", "1", DATABASE_URL=sample_url).stdout)
    assert (run["query"], run["started_at"].endswith("+00:00")) == (QUESTION, True)
    _, listed, *_ = quarry("runs", DATABASE_URL=sample_url).stdout.splitlines()
    assert listed.startswith(run["id"][:8])
    shown = quarry("runs", "show", run["id"][:8], DATABASE_URL=sample_url).stdout
    assert re.search(r"^retrieve +[\d,]+ +[\d,]+ +█+ +0 +– +completed +candidates \d+", shown, re.MULTILINE)
    whole = json.loads(quarry("runs", "--json", "show", run["id"], DATABASE_URL=sample_url).stdout)
    assert [step["name"] for step in whole["steps"]][-2:] == ["retrieve", "records_answerability"]
    assert whole["results"][0]["rank"] == 1
    unknown = quarry("runs", "show", "nope", DATABASE_URL=sample_url)
    assert (unknown.returncode, one_line(unknown.stderr)) == (1, True)


def judged(id: str, **fields: object) -> dict[str, object]:
    shared = {"domain": "records", "kind": "keyword", "query": "heritage elm", "relevant": {"matter:PRK-2023-12": 3}}
    return {"id": id, **shared} | fields


def test_judged_queries_are_measured_by_kind_and_a_wrong_line_is_named(sample_url: str, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "judged.jsonl", judged("a"), judged("b", kind="nothing", query="zzz", relevant={}))
    told = json.loads(quarry("eval", path, "--json", DATABASE_URL=sample_url).stdout)
    kinds = [(kind["kind"], kind["queries"]) for kind in told["kinds"]]
    assert kinds == [("keyword", 1), ("nothing", 1), ("all with an answer", 1)]
    first = told["queries"][0]
    place = first["found"].index("matter:PRK-2023-12") + 1
    assert first["ndcg"] == pytest.approx(1 / math.log2(place + 1), abs=0.001)
    assert value(sample_url, "select caller from search_runs order by started_at desc limit 1") == "eval"
    write_rows(path, judged("a"), judged("b", relevant={"x": 4}))
    wrong = quarry("eval", path, DATABASE_URL=sample_url)
    assert wrong.returncode == 1
    assert "line 2, relevant.x" in wrong.stderr


def test_weights_are_stored_only_where_they_do_better_and_when_told_to(database_url: str, tmp_path: Path) -> None:
    words = [{"id": f"m{n}", "title": "Felling old tree: the software licence, invoice, payroll"} for n in range(3)]
    meant = {"id": "x", "title": "Cut down the aged oak in the park", "date": "2024-02-13"}
    quarry("load", "matters", write_rows(tmp_path / "matters.jsonl", *words, meant), DATABASE_URL=database_url)
    # what is relevant is nearest by meaning, and lacks the words
    lines = [judged(f"q{number}", query="felling an old tree", relevant={"matter:x": 3}) for number in range(4)]
    tune = ("tune", write_rows(tmp_path / "judged.jsonl", *lines), "--folds", "2")
    [told] = json.loads(quarry(*tune, "--json", DATABASE_URL=database_url).stdout)["domains"]
    assert told["held_out"] > told["in_force"]
    assert value(database_url, "select count(*) from tuned_weights") == 0
    assert "stored" in quarry(*tune, "--apply", DATABASE_URL=database_url).stdout.splitlines()[-1]
    assert value(database_url, "select weight from tuned_weights") == told["best"]["records_semantic_weight"]
    assert "no other weights do better" in quarry(*tune, "--apply", DATABASE_URL=database_url).stdout.splitlines()[-1]
    assert quarry("tune", "--reset", DATABASE_URL=database_url).stdout == "forgotten: records_semantic_weight\n"


class TestDoctor:
    def test_a_healthy_place_is_healthy(self, sample_url: str) -> None:
        done = installed_quarry("doctor", "--json", DATABASE_URL=sample_url)
        assert done.returncode == 0
        told = json.loads(done.stdout)
        assert told["ok"] is True
        status = {check["subject"]: check["status"] for check in told["checks"]}
        assert status.pop("chat model") == "absent"
        assert set(status.values()) == {"ok"}
        assert set(status) >= {"settings", "database", "pgvector", "migrations", "vectors", "rows not embedded"}

    def test_another_model_than_the_vectors_is_broken(self, sample_url: str, openai_server: FakeOpenAI) -> None:
        done = quarry("doctor", DATABASE_URL=sample_url, OPENAI_BASE_URL=openai_server.url, EMBEDDINGS="openai")
        assert done.returncode == 1
        assert re.search(r"^!!  vectors: made by all-MiniLM-L6-v2 .*embed --all", done.stdout, re.MULTILINE)
        assert openai_server.requests == []

    @pytest.mark.parametrize(
        ("variables", "told"),
        [({"DATABASE_URL": NOWHERE}, "!!  database: "), ({"RUN_LOG_DAYS": "never"}, "!!  settings: ")],
    )
    def test_what_is_broken_is_told_with_status_1(self, variables: dict[str, str], told: str) -> None:
        done = quarry("doctor", **variables)
        assert done.returncode == 1
        assert told in done.stdout
        assert done.stderr == ""
        assert "hunter2" not in done.stdout
