"""The embedded Postgres under a server: gone for any reason, it is started again, once, and never after the end."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from quarry.local import embedded_postgres
from quarry.local.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError, supervised
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    """A directory for a server that every user can reach. Each test leaves the server stopped."""
    path = Path(tempfile.mkdtemp(prefix="quarry-"))
    path.chmod(0o755)
    yield path / "postgres"
    shutil.rmtree(path)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_postgres, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(embedded_postgres, "FIRST_PAUSE_SECONDS", 0.01)


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
        with pytest.raises(EmbeddedPostgresError, match="has been deleted: stop this command"):
            server.start()
        (directory / "server" / "elsewhere").rename(cluster)
