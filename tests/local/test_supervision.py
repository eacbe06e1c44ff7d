"""The embedded Postgres under a server: gone for any reason, it is started again, once, and never after the end."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from quarry.local import supervision
from quarry.local.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError
from quarry.local.supervision import supervised
from tests.waiting import PATIENCE_SECONDS, wait_until


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    """A directory for a server that every user can reach. Each test leaves the server stopped."""
    path = Path(tempfile.mkdtemp(prefix="quarry-"))
    path.chmod(0o755)
    yield path / "postgres"
    shutil.rmtree(path)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervision, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(supervision, "FIRST_PAUSE_SECONDS", 0.01)


def postmaster(directory: Path) -> int:
    return int((directory / "server" / "cluster" / "data" / "postmaster.pid").read_text().splitlines()[0])


def started_at(url: str) -> object:
    """When the server that answers was started; None where none answers."""
    try:
        with psycopg.connect(url) as connection:
            return connection.execute("select pg_postmaster_start_time()").fetchone()
    except psycopg.OperationalError:
        return None


def test_a_killed_server_is_started_again_on_its_port_and_all_who_use_it_go_on(directory: Path) -> None:
    with EmbeddedPostgres(directory) as one, EmbeddedPostgres(directory) as other:
        url, first = one.url(), started_at(one.url())
        with supervised(one), supervised(other):
            os.kill(postmaster(directory), signal.SIGKILL)
            wait_until(lambda: started_at(url) not in (None, first))
            second = started_at(url)
        assert one.url() == other.url() == url
        assert started_at(url) == second
        one.release()
        assert started_at(url) == second
    assert started_at(url) is None


def test_data_that_are_gone_are_told_and_never_replaced_by_an_empty_database(directory: Path) -> None:
    with EmbeddedPostgres(directory) as server:
        os.kill(postmaster(directory), signal.SIGKILL)
        wait_until(server.is_gone)
        cluster = directory / "server" / "cluster"
        cluster.rename(directory / "server" / "elsewhere")
        with pytest.raises(EmbeddedPostgresError, match="are gone: stop this command"):
            server.start()
        (directory / "server" / "elsewhere").rename(cluster)


class NeverStarts:
    """A server that is gone and fails to start, however often."""

    def __init__(self, enough: int) -> None:
        self.attempts = 0
        self.enough = threading.Event()
        self._enough = enough

    def is_gone(self) -> bool:
        return True

    def start(self) -> str:
        self.attempts += 1
        if self.attempts == self._enough:
            self.enough.set()
        raise EmbeddedPostgresError("Postgres did not start. The end of its log:\nFATAL: no luck")


def test_a_server_that_does_not_start_is_tried_at_growing_pauses_a_line_each(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervision, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(supervision, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(supervision, "LONGEST_PAUSE_SECONDS", 0.004)
    caplog.set_level(logging.WARNING)
    server = NeverStarts(4)
    with supervised(server):  # type: ignore[arg-type]
        assert server.enough.wait(PATIENCE_SECONDS)
    lines = [record.getMessage() for record in caplog.records]
    announced = [line.removeprefix("the embedded Postgres is gone; it is started again in ") for line in lines[::2]]
    assert announced[:4] == ["0.001 s", "0.002 s", "0.004 s", "0.004 s"]
    assert lines[1].endswith("did not start: Postgres did not start. The end of its log: FATAL: no luck")
