"""The database is gone, refuses, is read-only or locked: 503 in time, streams that end, and recovery without a restart."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg
import pytest

from quarry.local.embedded_postgres import EmbeddedPostgres
from tests.faults.asking import HEALTH, QUESTIONS, ask, ask_all, assert_answers_again, assert_told
from tests.faults.commands import Nursery, Served, embedded_url
from tests.faults.soundness import assert_sound
from tests.people.factories import value
from tests.waiting import wait_until

MAX_CONNECTIONS = 40
"""Of the database: the servers under test hold eleven each."""


@dataclass(frozen=True)
class House:
    """An embedded Postgres without rows and two servers that share it."""

    directory: Path
    served: Served
    neighbour: Served

    @property
    def url(self) -> str:
        """The URL of the database now."""
        return embedded_url(self.directory / "postgres" / "server")

    @property
    def postmaster(self) -> int:
        pid_file = self.directory / "postgres" / "server" / "cluster" / "data" / "postmaster.pid"
        return int(pid_file.read_text().splitlines()[0])


@pytest.fixture(scope="module")
def house(nursery: Nursery, make_directory: Callable[[], Path]) -> Iterator[House]:
    directory = make_directory()
    environment = {"QUARRY_DATA_DIR": str(directory), "DATABASE_TIMEOUT_SECONDS": "3"}
    with EmbeddedPostgres(directory / "postgres", parameters={"max_connections": str(MAX_CONNECTIONS)}) as server:
        status, said = nursery.run("migrate", environment=environment)
        assert status == 0, said
        with nursery.serve(environment=environment) as served, nursery.serve(environment=environment) as neighbour:
            server.release()
            yield House(directory, served, neighbour)
            assert (served.command.end(), neighbour.command.end()) == (0, 0)
        assert server.is_gone()


def drop_connections(connection: psycopg.Connection) -> int:
    """End the servers' connections, so that they must make new ones; how many there were."""
    return connection.execute(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name = 'quarry'"
    ).rowcount


@contextmanager
def gone(house: House, number: signal.Signals) -> Iterator[None]:
    """The server ends, and nobody can start it before the end of the block."""
    with (house.directory / "postgres" / "starting.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.kill(house.postmaster, number)
        wait_until(EmbeddedPostgres(house.directory / "postgres").is_gone)
        yield


@contextmanager
def out_of_connections(house: House) -> Iterator[None]:
    with ExitStack() as taken, psycopg.connect(house.url, autocommit=True) as connection:

        def take_all() -> bool:
            """Whether the servers have none. Before all are taken they make new ones."""
            dropped = drop_connections(connection)
            with suppress(psycopg.OperationalError):
                while True:
                    taken.enter_context(psycopg.connect(house.url))
            return not dropped

        wait_until(take_all)
        yield


Fault = Callable[[House], AbstractContextManager[None]]

REFUSING: dict[str, Fault] = {
    "out of connections": out_of_connections,
    "killed": lambda house: gone(house, signal.SIGKILL),
}


@pytest.mark.parametrize("fault", REFUSING)
def test_requests_get_503_while_the_database_refuses_and_answers_afterwards(house: House, fault: str) -> None:
    with REFUSING[fault](house):
        for name, outcome in ask_all(house.served.url).items():
            assert_told(outcome)
            assert outcome.status == 503 or outcome.ending == "error", (name, outcome)
        assert ask(house.served.url, HEALTH).status == 503
    for served in (house.served, house.neighbour):
        assert_answers_again(served.url)
    assert_sound(house.url)


def any_exists(paths: list[Path]) -> bool:
    return any(path.exists() for path in paths)


def test_a_killed_server_leaves_its_postgres_to_the_next_one(
    nursery: Nursery, make_directory: Callable[[], Path]
) -> None:
    """Killed while it sets up its directory too: at each step that leaves a trace, the next start takes over."""
    directory = make_directory()
    environment = {"QUARRY_DATA_DIR": str(directory)}
    server = directory / "postgres" / "server"
    traces = [server / "initialising", server / "cluster", server / "cluster" / "data" / "postmaster.pid"]
    for step in range(len(traces)):
        command = nursery.start("serve", "--port", "0", environment=environment)
        # or a later trace: the first goes by
        wait_until(partial(any_exists, traces[step:]))
        assert command.kill() == -signal.SIGKILL
    with nursery.serve(environment=environment) as served:
        assert ask(served.url, QUESTIONS["people"]).answered
        url = embedded_url(server)
        served.command.kill()
        assert value(url, "select count(*) from people_searches") == 1
    with nursery.serve(environment=environment) as served:
        assert ask(served.url, QUESTIONS["people"]).answered
        assert value(url, "select count(*) from people_searches") == 2
        assert_sound(url)
        assert served.command.end() == 0
    assert EmbeddedPostgres(directory / "postgres").is_gone()
