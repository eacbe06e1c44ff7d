"""The command line as its users meet it: the installed program, its output, its exit status."""

import gzip
import json
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

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.postgres.load import load_file
from quarry.retrieval.fusion import SEMANTIC_WEIGHT
from tests.conftest import create_database
from tests.fakes.openai_server import Body, FakeOpenAI, Reply
from tests.local.forked import forked_commands
from tests.waiting import PATIENCE_SECONDS

QUARRY = Path(sysconfig.get_path("scripts")) / "quarry"
COMMANDS = (
    "serve demo sample migrate load embed cleanup uninstall ask query explain tools runs eval credits tune index doctor map"
    " mcp forget export config completion apply reconcile"
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


class TestWrongUsage:
    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ([], "COMMAND"),
            (["fly"], "'fly'"),
            (["load", "planets", "file.jsonl"], "meetings"),
            (["ask", "weather", "will it rain?"], "records"),
            (["ask", "records", "  "], "at least 1 character"),
            (["tune"], "--reset"),
            (["runs", "--limit", "0"], "'0'"),
            (["embed", "--stale", "--all"], "not allowed with"),
            (["ask", "people", "\udcff"], "valid Unicode"),
            (["credits", "show", "\udcff"], "UTF-8"),
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
            (["runs"], {"DATABASE_URL": NOWHERE, "LOG_LEVEL": "loud"}, "LOG_LEVEL"),
            (
                ["load", "meetings", "/nowhere/file.jsonl"],
                {"DATABASE_URL": NOWHERE},
                "/nowhere/file.jsonl: No such file",
            ),
            (["load", "meetings", "/dev"], {"DATABASE_URL": NOWHERE}, "/dev: holds no file that ends in .csv"),
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

    @pytest.mark.parametrize("command", ["migrate", "doctor", "runs"])
    def test_a_database_of_another_encoding_is_told(self, ascii_url: str, command: str) -> None:
        done = quarry(command, DATABASE_URL=ascii_url)
        assert done.returncode == 1
        assert "has the encoding SQL_ASCII; Quarry needs UTF8" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr

    @pytest.fixture
    def ascii_url(self, server_url: str) -> Iterator[str]:
        name = f"ascii_{secrets.token_hex(6)}"
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(
                SQL(
                    "create database {} encoding 'SQL_ASCII' locale 'C' locale_provider libc template template0"
                ).format(Identifier(name))
            )
            yield urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))
            connection.execute(SQL("drop database {} with (force)").format(Identifier(name)))


class TestMigrate:
    def test_it_names_what_it_applied_and_then_nothing(self, server_url: str) -> None:
        name = f"empty_{os.getpid()}"
        url = create_database(server_url, name)
        first, second = quarry("migrate", DATABASE_URL=url), quarry("migrate", DATABASE_URL=url)
        assert "applied 0001_core.sql" in first.stdout
        assert second.stdout == "up to date\n"
        assert (first.returncode, second.returncode) == (0, 0)
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(SQL("drop database {} with (force)").format(Identifier(name)))


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

    def test_files_of_several_formats_and_folders_are_loaded_each_by_itself(
        self, database_url: str, tmp_path: Path
    ) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "b.csv").write_text("id,body,title,date\nb,Council,Regular,2024-02-13\n")
        (folder / "a.json").write_text(json.dumps([meeting("a", date="soon")]))
        (folder / "notes.txt").write_text("not rows")
        (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(json.dumps(meeting("c")).encode()))
        (tmp_path / "d.csv.gz").write_bytes(b"\x1f\x8b")
        done = quarry(
            "load", "meetings", folder, tmp_path / "d.csv.gz", tmp_path / "c.jsonl.gz", DATABASE_URL=database_url
        )
        assert done.returncode == 1
        assert (
            done.stdout == "b.csv: 1 row, 1 new or changed, 0 skipped\nc.jsonl.gz: 1 row, 1 new or changed, 0 skipped\n"
        )
        assert [line.split(":")[:2] for line in done.stderr.splitlines()] == [
            ["a.json", " record 1, date"],
            ["a.json", " nothing was loaded; mend these rows, or leave them out with --skip-invalid"],
            ["d.csv.gz", " its gzip data is damaged or cut off"],
        ]
        assert value(database_url, "select string_agg(id, ' ' order by id) from meetings") == "b c"

    def test_standard_input_is_read_by_its_content_or_as_it_is_told(self, database_url: str) -> None:
        def load(text: str, *options: str) -> str:
            done = quarry("load", "meetings", "-", *options, input=text, DATABASE_URL=database_url)
            assert (done.returncode, done.stderr) == (0, "")
            return done.stdout

        loaded = "1 row, 1 new or changed, 0 skipped\n"
        assert load(json.dumps([meeting("a")])) == loaded
        assert load("id|body|title|date\nb|Council|Regular|2024-02-13\n") == loaded
        assert load(json.dumps(meeting("c")), "--format", "json") == loaded

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
        assert told("migrate") == {"moved": False, "migrations": [], "functions": []}
        loaded = told("load", "motions", good, bad, status=1)
        assert loaded["files"][0] == {"file": "good.jsonl", "rows": 1, "changed": 1, "skipped": 0, "problems": []}
        assert loaded["files"][1]["rows"] == 0
        assert "line 1" in loaded["files"][1]["problems"][0]
        assert loaded["tables"] == [{"table": "motions", "embedded": 1, "failed": [], "problem": None}]
        assert told("embed") == {"tables": []}
        assert told("reconcile") == {"differing": [], "collections": [], "tables": []}
        assert told("credits", "grant", "ada", "5") == {"user": "ada", "balance": 15}


class TestEmbed:
    def test_new_rows_are_embedded_and_changed_ones_when_asked(self, database_url: str, tmp_path: Path) -> None:
        load(database_url, "motions", write_rows(tmp_path / "motions.jsonl", motion("a", "To keep the elm.")))
        assert quarry("embed", DATABASE_URL=database_url).stdout == "motions: 1 row embedded\n"
        load(database_url, "motions", write_rows(tmp_path / "motions.jsonl", motion("a", "To fell the elm.")))
        assert quarry("embed", DATABASE_URL=database_url).stdout == "nothing to embed\n"
        assert quarry("embed", "--stale", DATABASE_URL=database_url).stdout == "motions: 1 row embedded\n"

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


class TestAsk:
    def test_json_is_the_events_of_the_stream(self, sample_url: str) -> None:
        done = quarry("ask", "records", QUESTION, "--json", DATABASE_URL=sample_url)
        assert (done.returncode, done.stderr) == (0, "")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        order = list(dict.fromkeys(event["type"] for event in events))
        assert order == [
            *("intent", "tool_call", "tool_observation", "sources"),
            *("final_answer_chunk", "citations", "confidence", "followups", "done"),
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


class TestAskPeople:
    QUERY = "Go engineers in Bengaluru who are open to work, up to 50 LPA"

    def test_piped_output_is_plain_text_for_people(self, sample_url: str) -> None:
        done = quarry("ask", "people", self.QUERY, DATABASE_URL=sample_url)
        assert (done.returncode, done.stderr) == (0, "")
        assert "\x1b" not in done.stdout
        parts = [
            "must   ",
            "city: bengaluru",
            "1. ",
            "✓ ",
            "• ",
            "2. ",
            "With one constraint less",
        ]
        places = [done.stdout.index(part) for part in parts]
        assert places == sorted(places)
        assert "@example" not in done.stdout

    def test_a_search_without_a_credit_says_so(self, sample_url: str) -> None:
        with psycopg.connect(sample_url, autocommit=True) as connection:
            quarry("credits", "grant", "demo", "1", DATABASE_URL=sample_url)
            [(balance,)] = connection.execute("select balance from credit_accounts where user_id = 'demo'").fetchall()
            connection.execute("update credit_accounts set balance = 0 where user_id = 'demo'")
            try:
                done = quarry("ask", "people", self.QUERY, DATABASE_URL=sample_url)
            finally:
                connection.execute("update credit_accounts set balance = %s where user_id = 'demo'", [balance])
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "quarry: You have no credits left.\n"


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
    assert [step["name"] for step in whole["steps"]][-2:] == ["records_answer", "records_followups"]
    assert whole["results"][0]["rank"] == 1
    unknown = quarry("runs", "show", "nope", DATABASE_URL=sample_url)
    assert (unknown.returncode, one_line(unknown.stderr)) == (1, True)


def judged(id: str, **fields: object) -> dict[str, object]:
    return {
        "id": id,
        "domain": "records",
        "kind": "keyword",
        "query": "heritage elm",
        "relevant": {"matter:PRK-2023-12": 3},
    } | fields


class TestEval:
    def test_it_measures_each_kind_and_asks_as_a_user_of_its_own(self, sample_url: str, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "judged.jsonl", judged("a"), judged("b", kind="nothing", query="zzz", relevant={}))
        done = quarry("eval", path, "--json", DATABASE_URL=sample_url)
        assert (done.returncode, done.stderr) == (0, "")
        told = json.loads(done.stdout)
        assert [(kind["kind"], kind["queries"]) for kind in told["kinds"]] == [
            ("keyword", 1),
            ("nothing", 1),
            ("all with an answer", 1),
        ]
        first = told["queries"][0]
        assert "matter:PRK-2023-12" in first["found"]
        assert first["ndcg"] > 0
        assert value(sample_url, "select caller from search_runs order by started_at desc limit 1") == "eval"


class TestTune:
    def judged_file(self, tmp_path: Path) -> Path:
        """Queries that meaning alone answers best: what is relevant is nearest to them and lacks their words."""
        lines = [judged(f"q{number}", query="felling an old tree", relevant={"matter:x": 3}) for number in range(4)]
        return write_rows(tmp_path / "judged.jsonl", *lines)

    @pytest.fixture
    def lopsided_url(self, database_url: str, tmp_path: Path) -> str:
        """Matters of which one is what the queries mean, and others hold their words."""
        words = [
            {"id": f"m{n}", "title": "Felling old tree: the software licence, invoice and payroll module"}
            for n in range(3)
        ]
        meant = {"id": "x", "title": "Cut down the aged oak in the park", "date": "2024-02-13"}
        done = quarry(
            "load", "matters", write_rows(tmp_path / "matters.jsonl", *words, meant), DATABASE_URL=database_url
        )
        assert done.returncode == 0, done.stderr
        return database_url

    def test_it_stores_what_does_better_held_out_and_only_when_told_to(self, lopsided_url: str, tmp_path: Path) -> None:
        path = self.judged_file(tmp_path)
        tried = quarry("tune", path, "--folds", "2", "--json", DATABASE_URL=lopsided_url)
        assert (tried.returncode, tried.stderr) == (0, "")
        [told] = json.loads(tried.stdout)["domains"]
        assert (told["present"], told["stored"]) == ({"records_semantic_weight": SEMANTIC_WEIGHT}, False)
        assert told["halves"]["meaning"] > told["halves"]["words"]
        assert [fold["queries"] for fold in told["folds"]] == [2, 2]
        assert told["held_out"] > told["in_force"]
        assert value(lopsided_url, "select count(*) from tuned_weights") == 0

        applied = quarry("tune", path, "--folds", "2", "--apply", DATABASE_URL=lopsided_url)
        assert "stored" in applied.stdout.splitlines()[-1]
        assert value(lopsided_url, "select weight from tuned_weights") == told["best"]["records_semantic_weight"]
        assert (
            "ok  weights: tuned to this database: RECORDS_SEMANTIC_WEIGHT "
            in quarry("doctor", DATABASE_URL=lopsided_url).stdout
        )
        again = quarry("tune", path, "--folds", "2", "--apply", DATABASE_URL=lopsided_url)
        assert "no other weights do better on queries held out" in again.stdout.splitlines()[-1]

        reset = quarry("tune", "--reset", DATABASE_URL=lopsided_url)
        assert (reset.returncode, reset.stdout) == (0, "forgotten: records_semantic_weight\n")
        assert quarry("tune", "--reset", DATABASE_URL=lopsided_url).stdout == "nothing was stored\n"


class TestIndex:
    def test_differences_are_counted_with_status_1_and_a_rebuild_mends_them(
        self, database_url: str, tmp_path: Path
    ) -> None:
        load(database_url, "motions", write_rows(tmp_path / "motions.jsonl", motion("a", "Plant elms.")))
        with psycopg.connect(database_url) as connection:
            connection.execute("delete from facet_values; drop index motions_date")
        done = quarry("index", "verify", "--json", DATABASE_URL=database_url)
        assert done.returncode == 1
        told = json.loads(done.stdout)
        assert told["ok"] is False
        assert {"table": "motions", "detail": "index motions_date is missing", "count": 1} in told["differences"]
        listed = quarry("index", "verify", "motions", DATABASE_URL=database_url)
        assert listed.returncode == 1
        assert re.search(r"^motions +1 +rows that have no vectors yet", listed.stdout, re.MULTILINE)

        rebuilt = quarry("index", "rebuild", "motions", DATABASE_URL=database_url)
        assert (rebuilt.returncode, rebuilt.stdout) == (0, "nothing differs\n"), rebuilt.stderr
        assert value(database_url, "select count(*) from motion_embeddings") == 1
        assert quarry("index", "verify", "motions", DATABASE_URL=database_url).returncode == 0


class TestCleanup:
    def test_it_counts_what_it_deleted(self, database_url: str) -> None:
        with psycopg.connect(database_url) as connection:
            connection.execute(
                """insert into answer_cache (id, query, answer, sources, suggested_followups, source_count, confidence,
                     expires_at)
                   select 'old' || n, 'q', 'a', '[]', '{}', 0, 'low', now() - interval '1 day' from generate_series(1, 3) n"""
            )
        deleted = json.loads(quarry("cleanup", "--json", DATABASE_URL=database_url).stdout)
        assert deleted == {table.label: 0 for table in catalog.EXPIRING} | {"answers": 3}
        assert "answers 0" in quarry("cleanup", DATABASE_URL=database_url).stdout


class TestDoctor:
    def test_a_healthy_place_is_healthy(self, sample_url: str) -> None:
        done = installed_quarry("doctor", "--json", DATABASE_URL=sample_url)
        assert done.returncode == 0
        told = json.loads(done.stdout)
        assert told["ok"] is True
        status = {check["subject"]: check["status"] for check in told["checks"]}
        assert status.pop("chat model") == "absent"
        assert set(status.values()) == {"ok"}
        assert set(status) >= {
            "settings",
            "database",
            "Postgres",
            "pgvector",
            "migrations",
            "vectors",
            "rows not embedded",
        }

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
