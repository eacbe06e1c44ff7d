"""The function that brings the database's schema up to date."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any

import psycopg
import pytest

from quarry.platform.errors import DatabaseUnavailable, Unavailable
from quarry.platform.settings import Settings
from quarry.postgres.migrate import function_files, migration_files, sql_directory
from quarry.services.services import read_database_url
from tests.conftest import create_database
from tests.functions.conftest import Context

Load = Callable[[str], ModuleType]


def test_an_empty_database_is_migrated_and_then_up_to_date(
    load_function: Load, server_url: str, lambda_environment: pytest.MonkeyPatch
) -> None:
    url = create_database(server_url, "migrate_function")
    lambda_environment.setenv("DATABASE_URL", url)
    lambda_environment.setenv("EMBEDDINGS", "openai")
    lambda_environment.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    lambda_environment.setenv("EMBEDDING_DIMENSIONS", "768")
    handler = load_function("migrate").handler

    done = handler({}, Context(900_000))

    assert done["migrations"] == [file.name for file in migration_files(sql_directory())]
    assert done["functions"] == [file.name for file in function_files(sql_directory())]
    assert json.loads(json.dumps(done)) == done
    with psycopg.connect(url) as connection:
        vector = connection.execute(
            "select format_type(atttypid, atttypmod) from pg_attribute"
            " where attrelid = 'matter_embeddings'::regclass and attname = 'embedding'"
        ).fetchone()
    assert vector == ("halfvec(768)",)
    assert handler({}, Context(900_000)) == {"migrations": [], "functions": []}


@pytest.fixture
def answers() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address for CloudFormation's answers, and those it got."""
    told: list[dict[str, Any]] = []

    class Taking(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            assert not self.headers["Content-Type"]
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/", told
        server.shutdown()


def asked(url: str, request: str, release: str, known: str | None = None) -> dict[str, Any]:
    """What CloudFormation sends for the resource that is `known` by the release before."""
    event: dict[str, Any] = {
        "RequestType": request,
        "ResponseURL": url,
        "ResourceProperties": {"QUARRY_RELEASE": release},
    }
    event |= {"StackId": "stack", "RequestId": "request", "LogicalResourceId": "Migration"}
    return event | ({"PhysicalResourceId": known} if known else {})


def test_a_deployment_learns_whether_its_migration_succeeded(
    load_function: Load,
    database_url: str,
    lambda_environment: pytest.MonkeyPatch,
    answers: tuple[str, list[dict[str, Any]]],
) -> None:
    url, told = answers
    lambda_environment.setenv("DATABASE_URL", database_url)
    handler = load_function("migrate").handler

    def outcome(*arguments: str) -> tuple[str, str]:
        handler(asked(url, *arguments), Context(900_000))
        assert told[-1]["RequestId"] == "request"
        return told[-1]["Status"], told[-1]["PhysicalResourceId"]

    assert outcome("Create", "1") == ("SUCCESS", "1")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("update quarry_migrations set sha256 = 'other' where name like '0001%'")
        assert outcome("Update", "2", "1") == ("FAILED", "1")
        assert "0001" in told[-1]["Reason"]
        # going back to what was there, and taking the stack away, do not fail by the same
        assert outcome("Update", "1", "1") == outcome("Delete", "1", "1") == ("SUCCESS", "1")
        # a later step of the deployment failed: the older code finds a newer database
        connection.execute("insert into quarry_migrations (name, sha256) values ('9999_newer.sql', '')")
        assert outcome("Update", "1", "2") == ("SUCCESS", "1")


def test_a_deployment_that_changes_logins_migrates_without_a_new_release(
    load_function: Load,
    database_url: str,
    lambda_environment: pytest.MonkeyPatch,
    answers: tuple[str, list[dict[str, Any]]],
) -> None:
    url, told = answers
    lambda_environment.setenv("DATABASE_URL", database_url)
    lambda_environment.setenv("DATABASE_LOGINS", "serving=iam:quarry_serve")
    module = load_function("migrate")
    made: list[tuple[str, str | None]] = []
    lambda_environment.setattr(
        module, "make_logins", lambda _, logins, schema: made.extend((login.name, login.password) for login in logins)
    )

    def outcome(logins: str, known: str | None) -> str:
        event = asked(url, "Update", "1", known)
        event["ResourceProperties"]["Logins"] = logins
        module.handler(event, Context(900_000))
        assert told[-1]["Status"] == "SUCCESS"
        return str(told[-1]["PhysicalResourceId"])

    by_iam = outcome("serving=iam:quarry_serve", "1")
    assert by_iam.startswith("1-")
    assert outcome("serving=iam:quarry_serve", by_iam) == by_iam
    assert made == [("quarry_serve", None)]
    assert outcome("serving=arn", by_iam) != by_iam
    assert len(made) == 2


def test_a_deployment_continues_after_temporary_faults(
    load_function: Load,
    lambda_environment: pytest.MonkeyPatch,
    answers: tuple[str, list[dict[str, Any]]],
    database_url: str,
) -> None:
    url, told = answers
    lambda_environment.setenv("DATABASE_URL", database_url)
    module = load_function("migrate")
    lambda_environment.setattr(module, "PAUSE_SECONDS", 0.0)
    failures = [Unavailable("The secret cannot be read."), DatabaseUnavailable()] * 10

    def read(settings: Settings) -> str:
        if failures:
            raise failures.pop()
        return read_database_url(settings)

    lambda_environment.setattr(module, "read_database_url", read)
    module.handler(asked(url, "Create", "1"), Context(900_000))
    assert told[-1]["Status"] == "SUCCESS"


def test_a_deployment_fails_while_there_is_time_to_report_it(
    load_function: Load, lambda_environment: pytest.MonkeyPatch, answers: tuple[str, list[dict[str, Any]]]
) -> None:
    url, told = answers
    lambda_environment.setenv("DATABASE_URL", "postgresql://127.0.0.1:1/quarry")
    module = load_function("migrate")
    pauses: list[float] = []
    context = Context(900_000)

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        context.remaining_ms -= int(seconds * 1000)

    lambda_environment.setattr(module.time, "sleep", sleep)
    module.handler(asked(url, "Create", "1"), context)
    assert told[-1]["Status"] == "FAILED"
    assert "does not answer" in told[-1]["Reason"]
    assert 280 <= sum(pauses) <= 300
    assert context.remaining_ms >= 600_000
