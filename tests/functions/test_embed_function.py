"""The scheduled embedding."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import psycopg
import pytest

from quarry.platform.errors import ModelUnavailable
from tests.fakes.openai_server import FakeOpenAI
from tests.functions.conftest import Context, recorded

Load = Callable[[str], ModuleType]

AMPLE_MS = 600_000


@pytest.fixture
def database(
    database_url: str, lambda_environment: pytest.MonkeyPatch, openai_server: FakeOpenAI
) -> Iterator[psycopg.Connection]:
    """An empty database and a model's server that the function uses."""
    variables = {
        "DATABASE_URL": database_url,
        "OPENAI_BASE_URL": openai_server.url,
        "EMBEDDINGS": "openai",
        "EMBEDDING_DIMENSIONS": "384",
        "MODEL_MAX_RETRIES": "0",
    }
    for name, text in variables.items():
        lambda_environment.setenv(name, text)
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


def add_matters(database: psycopg.Connection, *titles: str) -> None:
    for number, title in enumerate(titles):
        database.execute("insert into matters (id, title) values (%s, %s)", [f"m{number:03}", title])


def embedded(database: psycopg.Connection) -> int:
    row = database.execute("select count(*) from matters where embedded_hash = content_hash").fetchone()
    assert row is not None
    return int(row[0])


def test_pending_rows_are_embedded_and_counted(load_function: Load, database: psycopg.Connection) -> None:
    add_matters(database, "one", "two", "three")
    handler = load_function("embed").handler
    # no batch is begun that may not end in time
    assert handler({}, Context(51_000)) == {"matters": {"embedded": 0, "refused": 0}}
    database.execute("insert into motions (id, text_content) values ('a', 'Moved.')")

    counts = handler(recorded("embed/scheduled.json"), Context(AMPLE_MS))

    assert counts == {"motions": {"embedded": 1, "refused": 0}, "matters": {"embedded": 3, "refused": 0}}
    assert json.loads(json.dumps(counts)) == counts
    assert embedded(database) == 3
    assert handler(recorded("embed/scheduled.json"), Context(AMPLE_MS)) == {}


def test_two_runs_at_once_share_the_work(load_function: Load, database: psycopg.Connection) -> None:
    add_matters(database, *(f"matter {number}" for number in range(100)))
    functions = [load_function("embed") for _ in range(2)]
    with ThreadPoolExecutor(2) as threads:
        runs = list(threads.map(lambda function: function.handler({}, Context(AMPLE_MS)), functions))
    assert sum(run.get("matters", {"embedded": 0})["embedded"] for run in runs) == 100
    assert embedded(database) == 100


def backlog(capsys: pytest.CaptureFixture[str]) -> tuple[float, float]:
    """The metrics of the last run: waiting rows, and the longest wait in seconds."""
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"EmbeddingBacklog"' in line]
    return lines[-1]["EmbeddingBacklog"][0], lines[-1]["EmbeddingBacklogAge"][0]


def test_a_model_that_is_down_fails_the_run_and_metrics_report_the_backlog(
    load_function: Load,
    database: psycopg.Connection,
    lambda_environment: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    handler = load_function("embed").handler
    handler({}, Context(AMPLE_MS))
    assert backlog(capsys) == (0, 0)

    add_matters(database, "one", "two")
    database.execute(
        "update embedding_progress set completed_at = now() - interval '1 hour' where table_name = 'matters'"
    )
    lambda_environment.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(ModelUnavailable):
        load_function("embed").handler({}, Context(AMPLE_MS))
    rows, seconds = backlog(capsys)
    assert rows == 2
    assert 3600 <= seconds < 7200
