"""Database and refresher are killed at random while a table is written: search matches the table, and nothing is lost."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from quarry.local.embedded_postgres import EmbeddedPostgres
from tests.collections.support import HELP_DESK, TICKETS, apply_file, owner
from tests.faults.commands import Command, Nursery
from tests.people.factories import rows, value
from tests.waiting import wait_until

ROUNDS = 3
KEYS = 30
PAUSE_SECONDS = 0.002
"""Between two writes: who refreshes has its share of the processor."""
STATEMENTS_MAX = 25
"""So many statements after its first refresh a refresher dies at the latest."""

_DIFFERENCES = """
select t.id, r.id from support.tickets t full join quarry.rows_1 r on r.id = t.id::text
where r.id is null or t.id is null or not r.text_search @@ plainto_tsquery('english', t.subject)
"""
_WITHOUT_VECTORS = """
select r.id from quarry.rows_1 r where embedded_hash is distinct from content_hash
  or not exists (select from quarry.windows_1 w where w.record_id = r.id)
"""
_COMPARED_AT = "select reconciled_at from quarry.collections"


@dataclass
class Writer:
    """Writes to the tickets until stopped, whatever happens to the database; counts the committed writes."""

    server: EmbeddedPostgres
    chance: random.Random
    commits: int = 0
    ends: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.ends.is_set():
            with suppress(psycopg.OperationalError), psycopg.connect(self.server.url(), autocommit=True) as connection:
                while not self.ends.is_set():
                    connection.execute(self._statement().encode())
                    self.commits += 1
                    self.ends.wait(PAUSE_SECONDS)

    def _statement(self) -> str:
        key, subject = self.chance.randint(1, KEYS), f"ticket{self.chance.getrandbits(40)}"
        return self.chance.choice([
            f"insert into support.tickets (id, subject) values ({key}, '{subject}')"
            " on conflict (id) do update set subject = excluded.subject",
            f"update support.tickets set subject = '{subject}' || id where id between {key} and {key} + 5",
            f"delete from support.tickets where id = {key}",
            f"update support.tickets set id = id + {KEYS} where id = {key}"
            f" and not exists (select from support.tickets t where t.id = {key} + {KEYS})",
        ])  # fmt: skip

    def wait_for(self, commits: int) -> None:
        """Until it has committed so many more."""
        enough = self.commits + commits
        wait_until(lambda: self.commits >= enough)


@contextmanager
def writing(server: EmbeddedPostgres, chance: random.Random) -> Iterator[Writer]:
    writer = Writer(server, random.Random(chance.random()))
    thread = threading.Thread(target=writer.run)
    thread.start()
    try:
        yield writer
    finally:
        writer.ends.set()
        thread.join()


def postmaster(directory: Path) -> int | None:
    """The pid of the server's first process; none while no server has written its own."""
    with suppress(FileNotFoundError, IndexError, ValueError):
        pid_file = directory / "postgres" / "server" / "cluster" / "data" / "postmaster.pid"
        return int(pid_file.read_text().splitlines()[0])
    return None


def kill_postmaster(server: EmbeddedPostgres, directory: Path) -> None:
    """Until it is gone, or another is in its place: others keep the server running too."""
    killed = postmaster(directory)
    assert killed
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: server.is_gone() or postmaster(directory) not in (None, killed))


@pytest.fixture(scope="module")
def directory(make_directory: Callable[[], Path]) -> Path:
    return make_directory()


@pytest.fixture(scope="module")
def server(directory: Path, nursery: Nursery) -> Iterator[EmbeddedPostgres]:
    """An embedded Postgres whose tickets are searched."""
    with EmbeddedPostgres(directory / "postgres") as server:
        url = server.start()
        assert nursery.run("migrate", environment={"QUARRY_DATA_DIR": str(directory)})[0] == 0
        owner(url, HELP_DESK)
        apply_file(url, TICKETS)
        assert nursery.run("reconcile", environment={"QUARRY_DATA_DIR": str(directory)})[0] == 0
        yield server


def test_nothing_is_lost_whichever_process_is_killed_at_any_time(
    server: EmbeddedPostgres, directory: Path, nursery: Nursery
) -> None:
    chance = random.Random(1)
    compared_at = value(server.url(), _COMPARED_AT)
    ends: list[int] = []

    def refresher(**doom: object) -> Command:
        return nursery.start("serve", "--port", "0", environment={"QUARRY_DATA_DIR": str(directory)}, doom=doom)

    with writing(server, chance) as writer:
        for _ in range(ROUNDS):
            doomed = refresher(point=chance.randrange(STATEMENTS_MAX), first="refresh_rows")
            if chance.random() < 0.6:
                writer.wait_for(chance.randrange(1, 200))
                kill_postmaster(server, directory)
                server.start()
                writer.wait_for(1)
            # one that finds no database as it starts ends by itself
            ends.append(doomed.wait())
    assert {*ends} <= {-signal.SIGKILL, 1}
    assert -signal.SIGKILL in ends
    url = server.url()
    last = refresher()
    try:
        wait_until(lambda: not rows(url, "select from quarry.collection_changes limit 1"))
        assert rows(url, _DIFFERENCES) == []
        wait_until(lambda: not rows(url, _WITHOUT_VECTORS))
        assert rows(url, "select record_id from quarry.windows_1 except select id from quarry.rows_1") == []
    finally:
        last.kill()
    # nothing was repaired by comparing: the queue alone has kept it
    assert value(url, _COMPARED_AT) == compared_at
