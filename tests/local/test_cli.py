"""The command line as its users meet it: the installed program, its output, its exit status."""

import gzip
import json
import os
import re
import resource
import secrets
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.collections.declaration_file import read_declarations
from quarry.files.options import Format
from quarry.models.local_embedding import LocalEmbedding
from quarry.people.contract import PeopleSearchResponse
from quarry.postgres.load import load_file
from quarry.retrieval.fusion import SEMANTIC_WEIGHT
from tests.conftest import create_database
from tests.fakes.openai_server import Body, FakeOpenAI, Reply, embedding
from tests.local.forked import forked_commands
from tests.waiting import PATIENCE_SECONDS

QUARRY = Path(sysconfig.get_path("scripts")) / "quarry"
COMMANDS = (
    *(
        "serve",
        "demo",
        "sample",
        "migrate",
        "load",
        "embed",
        "cleanup",
        "uninstall",
        "ask",
        "query",
        "explain",
        "tools",
        "runs",
        "eval",
    ),
    *("credits", "tune", "index", "doctor", "map", "mcp", "forget", "export", "config", "completion"),
)
QUESTION = "Why did the council decide to keep the old elm?"
HELP_CPU_SECONDS = 0.15
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
    def test_it_lists_every_command(self) -> None:
        text = help_of("")
        assert [command for command in COMMANDS if re.search(rf"^ +{command} +\w", text, re.MULTILINE)] == [*COMMANDS]

    @pytest.mark.parametrize(
        "command",
        [
            *COMMANDS,
            "runs show",
            "runs replay",
            "export user",
            "credits show",
            "credits grant",
            "index rebuild",
            "config show",
        ],
    )
    def test_every_command_shows_an_example_that_calls_it(self, command: str) -> None:
        _, _, example = help_of(command).partition("example:\n  ")
        assert example.startswith(f"quarry {command}") or f"| quarry {command} " in example.splitlines()[0]

    def test_loadable_tables_are_listed_with_their_fields(self) -> None:
        text = help_of("load")
        for table in catalog.LOADABLE.values():
            described = text.split(f"\n  {table.name}: ", 1)[1].split("\n\n", 1)[0]
            required = [name for name, field in table.row.model_fields.items() if field.is_required()]
            assert re.findall(r"^    (\w+)  ", described, re.MULTILINE) == table.columns
            assert re.findall(r"^    (\w+) .*, required$", described, re.MULTILINE) == required

    def test_types_of_fields_are_in_words(self) -> None:
        text = help_of("load")
        assert re.search(r"^    date +date as YYYY-MM-DD, required$", text, re.MULTILINE)
        assert re.search(r"^    attendees +list of text up to 2,000 characters$", text, re.MULTILINE)
        assert re.search(r"^    start_seconds +number$", text, re.MULTILINE)
        assert re.search(r"^    section_number +whole number$", text, re.MULTILINE)

    def test_all_formats_of_files_are_listed(self) -> None:
        assert f"{{{','.join(get_args(Format))}}}" in help_of("load")

    def test_it_is_quick(self) -> None:
        def cpu_seconds(*command: str | Path) -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, env=environment(), stdout=subprocess.DEVNULL, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        interpreter = min(cpu_seconds(sys.executable, "-c", "pass") for _ in range(3))
        assert min(cpu_seconds(QUARRY, "--help") for _ in range(3)) - interpreter < HELP_CPU_SECONDS


class TestWrongUsage:
    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ([], "COMMAND"),
            (["fly"], "'fly'"),
            (["load", "planets", "file.jsonl"], "meetings"),
            (["load", "meetings"], "FILE"),
            (["ask", "weather", "will it rain?"], "records"),
            (["ask", "records", "  "], "at least 1 character"),
            (["ask", "records", "x" * 2001], "at most 2000 characters"),
            (["eval"], "FILE"),
            (["eval", "judged.jsonl", "--domain", "weather"], "records"),
            (["tune"], "--reset"),
            (["tune", "judged.jsonl", "--reset"], "--reset"),
            (["tune", "judged.jsonl", "--folds", "1"], "above 1"),
            (["runs", "--limit", "0"], "'0'"),
            (["runs", "show"], "ID"),
            (["embed", "--stale", "--all"], "not allowed with"),
            (["ask", "people", "\udcff"], "valid Unicode"),
            (["index"], "COMMAND"),
            (["credits"], "COMMAND"),
            (["credits", "show", " "], "empty"),
            (["credits", "show", "\udcff"], "UTF-8"),
            (["credits", "grant", "ada", "0"], "'0'"),
            (["credits", "grant", "ada", "1000001"], "1,000,000"),
            (["serve", "--port", "70000"], "65535"),
            (["config"], "COMMAND"),
            (["completion", "nutshell"], "nutshell"),
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
            (["ask", "records", QUESTION], {"DATABASE_URL": NOWHERE}, "does not answer"),
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

    def test_a_reader_who_has_read_enough_is_no_error(self) -> None:
        with subprocess.Popen(
            [QUARRY, "load", "--help"], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 1


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


class TestMap:
    def test_the_draft_alone_is_on_standard_output(self, database_url: str, tmp_path: Path) -> None:
        with psycopg.connect(database_url) as connection:
            connection.execute("create table public.motions (id int primary key, title text, type text)")
        done = quarry("map", DATABASE_URL=database_url)
        assert [*read_declarations(done.stdout)] == ["motions"]
        assert (done.returncode, done.stderr.startswith("drafted 1 of 1 tables and views")) == (0, True)
        file = tmp_path / "quarry.toml"
        assert quarry("map", "public", "--output", file, DATABASE_URL=database_url).stdout == ""
        assert file.read_text() == done.stdout

    def test_a_schema_that_is_missing_is_told_in_one_line(self, database_url: str) -> None:
        done = quarry("map", "pubic", DATABASE_URL=database_url)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "quarry: There is no schema 'pubic' in this database; did you mean 'public'?\n"


class TestUninstall:
    def test_it_asks_who_can_be_asked_and_takes_a_flag_of_others(self, database_url: str) -> None:
        asked = quarry("uninstall", DATABASE_URL=database_url)
        assert asked.returncode == 1
        assert "use --yes" in asked.stderr
        told = quarry("uninstall", "--yes", DATABASE_URL=database_url)
        assert "dropped the schema quarry" in told.stdout
        assert (told.returncode, told.stderr) == (0, "")


class TestLoad:
    def test_no_embed_leaves_that_for_later(self, database_url: str, tmp_path: Path) -> None:
        file = write_rows(tmp_path / "motions.jsonl", motion("a", "To keep the elm."))
        done = quarry("load", "motions", file, "--no-embed", DATABASE_URL=database_url)
        assert done.stdout == "1 row, 1 new or changed, 0 skipped\n"
        assert value(database_url, "select count(*) from motion_embeddings") == 0

    def test_a_second_load_of_the_same_file_changes_nothing(self, database_url: str, tmp_path: Path) -> None:
        file = write_rows(tmp_path / "meetings.jsonl", meeting("a"), meeting("b"))
        first, second = (quarry("load", "meetings", file, DATABASE_URL=database_url) for _ in range(2))
        assert first.stdout == "2 rows, 2 new or changed, 0 skipped\n"
        assert second.stdout == "2 rows, 0 new or changed, 0 skipped\n"
        assert (first.returncode, first.stderr, second.returncode) == (0, "", 0)

    def test_what_was_loaded_is_embedded(self, database_url: str, tmp_path: Path) -> None:
        file = write_rows(
            tmp_path / "motions.jsonl", motion("a", "To keep the elm."), motion("b", "To close the bridge.")
        )
        done = quarry("load", "motions", file, DATABASE_URL=database_url)
        assert done.stdout == "2 rows, 2 new or changed, 0 skipped\n2 rows embedded\n"
        assert value(database_url, "select count(distinct record_id) from motion_embeddings") == 2
        assert value(database_url, "select name from embedding_model") == LocalEmbedding.name

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

    def test_at_most_twenty_problems_are_named(self, database_url: str, tmp_path: Path) -> None:
        file = write_rows(tmp_path / "meetings.jsonl", *["{"] * 30)
        done = quarry("load", "meetings", file, DATABASE_URL=database_url)
        assert sum(line.startswith("line ") for line in done.stderr.splitlines()) == 20

    def test_skip_invalid_keeps_the_good_rows_and_names_the_others(self, database_url: str, tmp_path: Path) -> None:
        file = write_rows(tmp_path / "meetings.jsonl", meeting("a"), "{", meeting("b"))
        done = quarry("load", "meetings", file, "--skip-invalid", DATABASE_URL=database_url)
        assert done.returncode == 0
        assert done.stdout == "3 rows, 2 new or changed, 1 skipped\n"
        assert done.stderr.startswith("skipped line 2, line: ")
        assert value(database_url, "select count(*) from meetings") == 2

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

    def test_a_named_pipe_is_read_like_a_file(self, database_url: str, tmp_path: Path) -> None:
        pipe = tmp_path / "meetings.csv"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=["id,body,title,date\na,Council,Regular,2024-02-13\n"])
        writer.start()
        done = quarry("load", "meetings", pipe, DATABASE_URL=database_url)
        writer.join()
        assert (done.stdout, done.stderr) == ("1 row, 1 new or changed, 0 skipped\n", "")

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

    def test_rows_that_the_model_refuses_are_named(
        self, database_url: str, tmp_path: Path, openai_server: FakeOpenAI
    ) -> None:
        rows = [motion("good", "To keep the elm."), motion("bad", "To annoy.")]
        load(database_url, "motions", write_rows(tmp_path / "motions.jsonl", *rows))
        vector = {"object": "embedding", "index": 0, "embedding": embedding("elm", 384)}
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        one = Reply.raw({"object": "list", "model": "fake", "data": [vector], "usage": usage})
        # the first call asks whether the model works, as does the one after each refusal; between them are both rows together,
        # then one by one in the order of their ids
        openai_server.enqueue_embeddings(one, Reply.http_error(400), one, Reply.http_error(400), one, one)
        done = quarry(
            "embed",
            DATABASE_URL=database_url,
            OPENAI_BASE_URL=openai_server.url,
            EMBEDDINGS="openai",
            EMBEDDING_DIMENSIONS="384",
        )
        assert done.returncode == 1
        assert done.stdout == "motions: 1 row embedded\n"
        assert done.stderr == "motions: not embedded: bad; `quarry embed` tries again\n"

    def test_rows_that_another_embeds_are_told(self, database_url: str, tmp_path: Path) -> None:
        load(database_url, "motions", write_rows(tmp_path / "motions.jsonl", motion("a", "One."), motion("b", "Two.")))
        with psycopg.connect(database_url) as connection:
            connection.execute(
                "insert into embedding_claims values ('motions', 'b', gen_random_uuid(), now() + interval '1 hour')"
            )
        done = quarry("embed", DATABASE_URL=database_url)
        assert (done.returncode, done.stdout) == (0, "motions: 1 row embedded\n")
        assert done.stderr == "motions: 1 row left to another embedder or writer; `quarry embed` tries again\n"


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

    def test_piped_output_is_plain_text_for_people(self, sample_url: str) -> None:
        done = quarry("ask", "records", QUESTION, DATABASE_URL=sample_url)
        assert (done.returncode, done.stderr) == (0, "")
        assert "\x1b" not in done.stdout
        answer_id = value(sample_url, "select id from answer_cache order by created_at desc limit 1")
        parts = [
            f"search: text: {QUESTION}",
            "Sources\n",
            "[1] ",
            "confidence",
            "Ask next\n• ",
            f"/search?id={answer_id}",
        ]
        places = [done.stdout.index(part) for part in parts]
        assert places == sorted(places)

    def test_a_terminal_gets_colours(self, sample_url: str) -> None:
        ours, theirs = os.openpty()
        process = subprocess.Popen(
            [QUARRY, "ask", "records", QUESTION],
            env=environment(DATABASE_URL=sample_url, TERM="xterm-256color"),
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 65536):
                shown += piece
        except OSError:  # Linux says so when the other end is closed
            pass
        finally:
            os.close(ours)
        assert process.wait() == 0
        assert b"\x1b[36m[1]\x1b[0m" in shown

    def test_a_stream_that_fails_ends_in_an_error_event(self, sample_url: str) -> None:
        with psycopg.connect(sample_url, autocommit=True) as connection:
            connection.execute("alter table motions rename to moved")
            try:
                done = quarry("ask", "records", QUESTION, "--json", DATABASE_URL=sample_url)
            finally:
                connection.execute("alter table moved rename to motions")
        assert done.returncode == 1
        assert one_line(done.stderr)
        assert json.loads(done.stdout.splitlines()[-1])["type"] == "error"

    def test_companies_are_asked_for_as_records_are(self, sample_url: str) -> None:
        done = quarry("ask", "companies", "Tidewage", "--json", DATABASE_URL=sample_url)
        assert (done.returncode, done.stderr) == (0, "")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        assert events[-1]["type"] == "final_answer"
        assert [each["companyId"] for each in events[-1]["data"]["references"]] == ["c-tidewage"]
        with psycopg.connect(sample_url, autocommit=True) as connection:
            connection.execute("alter table companies rename to moved")
            try:
                failed = quarry("ask", "companies", "Tidewage", "--json", DATABASE_URL=sample_url)
            finally:
                connection.execute("alter table moved rename to companies")
        assert failed.returncode == 1
        assert one_line(failed.stderr)
        assert set(json.loads(failed.stdout.splitlines()[-1])) == {"type", "data"}

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

    def test_json_is_the_response_of_the_api(self, sample_url: str) -> None:
        done = quarry("ask", "people", self.QUERY, "--json", DATABASE_URL=sample_url)
        assert (done.returncode, done.stderr) == (0, "")
        body = PeopleSearchResponse.model_validate_json(done.stdout)
        assert body.people
        assert value(sample_url, f"select user_id from people_searches where id = '{body.search_id}'") == "demo"

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

    def test_who_never_searched_has_the_initial_credits_and_no_account(self, database_url: str) -> None:
        told = json.loads(quarry("credits", "show", "demo", "--json", DATABASE_URL=database_url).stdout)
        assert told == {"user": "demo", "balance": 100, "entries": []}
        assert "Nothing was booked yet" in quarry("credits", "show", "ada", DATABASE_URL=database_url).stdout
        assert value(database_url, "select count(*) from credit_accounts") == 0


class TestRuns:
    def test_an_empty_log_says_so(self, database_url: str) -> None:
        assert quarry("runs", DATABASE_URL=database_url).stdout.startswith("No search has run yet")
        assert json.loads(quarry("runs", "--json", DATABASE_URL=database_url).stdout) == []

    def test_a_search_is_listed_and_shown_as_a_timeline(self, sample_url: str) -> None:
        forget_answers(sample_url)
        quarry("ask", "records", QUESTION, DATABASE_URL=sample_url)
        [run] = json.loads(quarry("runs", "--json", "--limit", "1", DATABASE_URL=sample_url).stdout)
        assert run["query"] == QUESTION
        assert run["started_at"].endswith("+00:00")

        heading, listed, *_ = quarry("runs", DATABASE_URL=sample_url).stdout.splitlines()
        assert heading.split()[0] == "run"
        assert listed.startswith(run["id"][:8])
        assert listed.rstrip().endswith(QUESTION)

        shown = quarry("runs", "show", run["id"][:8], DATABASE_URL=sample_url)
        assert shown.returncode == 0
        assert QUESTION in shown.stdout
        assert re.search(r"^retrieve +[\d,]+ +[\d,]+ +█+ +0 +– +completed +candidates \d+", shown.stdout, re.MULTILINE)

        whole = json.loads(quarry("runs", "--json", "show", run["id"], DATABASE_URL=sample_url).stdout)
        assert [step["name"] for step in whole["steps"]][-2:] == ["records_answer", "records_followups"]
        assert whole["results"][0]["rank"] == 1

    def test_an_unknown_run_is_an_error(self, database_url: str) -> None:
        done = quarry("runs", "show", "nope", DATABASE_URL=database_url)
        assert done.returncode == 1
        assert one_line(done.stderr)


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

    def test_its_table_has_a_line_for_each_kind(self, sample_url: str, tmp_path: Path) -> None:
        done = quarry("eval", write_rows(tmp_path / "judged.jsonl", judged("a")), DATABASE_URL=sample_url)
        heading, keyword, everything = done.stdout.splitlines()
        measures = ["nDCG@10", "recall@10", "recall@100", "MRR@10", "success@5", "empty"]
        assert heading.split() == ["kind", "queries", *measures, "p50", "ms", "p95", "ms"]
        assert re.fullmatch(
            r"keyword +1 +[01]\.\d{3} \([01]\.\d\d–[01]\.\d\d\)( +[01]\.\d{3}){5} +[\d,]+ +[\d,]+ *", keyword
        )
        assert everything.startswith("all with an answer")

    def test_a_run_is_told_beside_an_earlier_one(self, sample_url: str, tmp_path: Path) -> None:
        path = write_rows(
            tmp_path / "judged.jsonl", judged("a"), judged("b", query="bridge", relevant={"motion:none": 3})
        )
        earlier = quarry("eval", path, "--json", DATABASE_URL=sample_url).stdout
        (tmp_path / "earlier.json").write_text(earlier)
        write_rows(path, judged("a"), judged("c"))
        done = quarry("eval", path, "--against", tmp_path / "earlier.json", DATABASE_URL=sample_url)
        assert done.stdout.splitlines()[-1] == (
            "records: no difference shown by nDCG@10: +0.000 on average over 1 queries, p = 1.000"
        )
        assert done.stderr.startswith("1 of 2 queries are not compared")
        told = quarry("eval", path, "--against", tmp_path / "earlier.json", "--json", DATABASE_URL=sample_url).stdout
        assert {(each["verdict"], each["difference"]) for each in json.loads(told)["against"]} == {
            ("no difference shown", 0)
        }

    def test_what_is_no_report_is_told_before_a_database_is_opened(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "judged.jsonl", judged("a"))
        done = quarry("eval", path, "--against", path, DATABASE_URL=NOWHERE)
        assert (done.returncode, done.stderr) == (1, "quarry: judged.jsonl is not what `quarry eval --json` writes\n")

    def test_where_nothing_is_found_it_asks_for_the_data(self, database_url: str, tmp_path: Path) -> None:
        done = quarry("eval", write_rows(tmp_path / "judged.jsonl", judged("a")), DATABASE_URL=database_url)
        assert done.returncode == 0
        assert done.stderr == "nothing at all was found in records: is its data loaded?\n"

    def test_every_wrong_line_is_named_before_a_database_is_opened(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "judged.jsonl", judged("a", query=""), judged("b"), judged("b", domain="weather"))
        done = quarry("eval", path, DATABASE_URL=NOWHERE)
        assert (done.returncode, done.stdout) == (1, "")
        assert [note.split(":")[1] for note in done.stderr.splitlines()[:-1]] == [
            " line 1, query",
            " line 3, id",
            " line 3, domain",
        ]
        assert done.stderr.splitlines()[-1].startswith("quarry: judged.jsonl: nothing was evaluated")


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

    def test_it_says_where_the_environment_wins(self, lopsided_url: str, tmp_path: Path) -> None:
        path = self.judged_file(tmp_path)
        done = quarry("tune", path, "--folds", "2", DATABASE_URL=lopsided_url, RECORDS_SEMANTIC_WEIGHT="0.1")
        assert done.stderr == "the environment sets RECORDS_SEMANTIC_WEIGHT, which wins over what is stored\n"

    def test_too_few_queries_and_domains_without_weights_are_refused(self, database_url: str, tmp_path: Path) -> None:
        few = quarry("tune", self.judged_file(tmp_path), DATABASE_URL=database_url)
        assert (few.returncode, one_line(few.stderr)) == (1, True)
        assert "not 4" in few.stderr
        path = write_rows(tmp_path / "people.jsonl", judged("a", domain="people"))
        done = quarry("tune", path, DATABASE_URL=database_url)
        assert (done.returncode, done.stderr) == (
            1,
            "quarry: people has no weights to tune, but companies, records\n",
        )


class TestIndex:
    def test_what_was_loaded_by_quarry_differs_from_nothing(self, sample_url: str) -> None:
        done = quarry("index", "verify", "motions", DATABASE_URL=sample_url)
        assert (done.returncode, done.stdout, done.stderr) == (0, "nothing differs\n", "")

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

    def test_without_a_model_all_but_the_vectors_is_rebuilt(self, database_url: str, tmp_path: Path) -> None:
        load(database_url, "motions", write_rows(tmp_path / "motions.jsonl", motion("a", "Plant elms.")))
        model = {"EMBEDDINGS": "openai", "OPENAI_BASE_URL": NO_MODEL, "EMBEDDING_DIMENSIONS": "384"}
        done = quarry("index", "rebuild", "motions", "--json", DATABASE_URL=database_url, **model)
        assert done.returncode == 1
        assert done.stderr.startswith("not embedded: ")
        assert [each["detail"] for each in json.loads(done.stdout)["differences"]] == ["rows that have no vectors yet"]


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
            *(
                "Python",
                "settings",
                "database",
                "Postgres",
                "pgvector",
                "pg_trgm",
                "btree_gin",
                "fuzzystrmatch",
                "migrations",
            ),
            *("embedding model", "vectors", "weights", "rows", "rows not embedded"),
        }

    def test_an_empty_database_is_told_to_migrate(self, server_url: str) -> None:
        url = server_url.rsplit("/", 1)[0] + "/template1"
        done = quarry("doctor", DATABASE_URL=url)
        assert done.returncode == 1
        assert re.search(r"^!!  migrations: \d+ pending; run `quarry migrate`$", done.stdout, re.MULTILINE)

    def test_another_model_than_the_vectors_is_broken(self, sample_url: str, openai_server: FakeOpenAI) -> None:
        done = quarry("doctor", DATABASE_URL=sample_url, OPENAI_BASE_URL=openai_server.url, EMBEDDINGS="openai")
        assert done.returncode == 1
        assert re.search(r"^!!  vectors: made by all-MiniLM-L6-v2 .*embed --all", done.stdout, re.MULTILINE)
        assert openai_server.requests == []

    def test_rows_without_vectors_are_counted(self, database_url: str, tmp_path: Path) -> None:
        load(database_url, "motions", write_rows(tmp_path / "motions.jsonl", motion("a", "To keep the elm.")))
        done = quarry("doctor", DATABASE_URL=database_url)
        assert done.returncode == 0
        assert "--  rows not embedded: motions 1; run `quarry embed --stale`\n" in done.stdout

    def test_rows_that_wait_are_told_with_when_none_did(self, sample_url: str) -> None:
        with psycopg.connect(sample_url) as connection:
            connection.execute("update motions set text_content = 'Changed.' where id = (select min(id) from motions)")
            connection.execute("update embedding_progress set completed_at = '2026-03-01 12:30+00'")
        done = quarry("doctor", DATABASE_URL=sample_url)
        assert "--  rows not embedded: motions 1 since 2026-03-01 12:30 UTC; run" in done.stdout

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
