"""A full disk: nothing of a load is kept, searches are told what there is to tell, and room brings service back by itself.

The disk is a small one in memory, mounted for the processes under test alone. Root may do that, and so may others where the
system lets them have namespaces of their own.
"""

from __future__ import annotations

import errno
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from quarry.local.embedded_postgres import EmbeddedPostgres
from tests.faults.asking import ask_all, assert_answers_again, assert_told, is_healthy
from tests.faults.commands import Nursery, embedded_url
from tests.faults.soundness import assert_sound
from tests.people.factories import value
from tests.waiting import wait_until

MIB = 1 << 20
DISK_BYTES = 192 * MIB
ROOM_BYTES = MIB
ROWS, ROW_BYTES = 1000, 4000
COUNT = "select count(*) from campaigns"


@dataclass(frozen=True)
class SmallDisk:
    """A disk that holds the data of an embedded Postgres, as the processes of `nursery` see it."""

    nursery: Nursery
    directory: Path
    root: Path
    """Where the disk is for other processes, such as this one."""

    @property
    def url(self) -> str:
        return embedded_url(self.root)

    def fill(self, room: int) -> None:
        """Leave room for so many bytes."""
        with (self.root / "ballast").open("ab", buffering=0) as ballast:
            try:
                while ballast.write(bytes(MIB)):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
            ballast.truncate(max(0, ballast.tell() - room))

    def clear(self) -> None:
        (self.root / "ballast").unlink()


@pytest.fixture
def small_disk(tmp_path: Path, make_directory: Callable[[], Path]) -> Iterator[SmallDisk]:
    directory = make_directory()
    server = directory / "postgres" / "server"
    [(name, programs)] = [(link.name, link.readlink()) for link in server.iterdir()]
    nursery = Nursery(tmp_path, QUARRY_DATA_DIR=str(directory))
    problem = nursery.order(disk=str(server), size=DISK_BYTES)
    if problem:
        nursery.close()
        pytest.skip(f"no disk can be mounted here: {problem}")
    disk = SmallDisk(nursery, directory, Path(f"/proc/{nursery.pid}/root{server}"))
    (disk.root / name).symlink_to(programs)
    yield disk
    nursery.close()


def write_campaigns(path: Path, count: int) -> Path:
    row = {"company": "Lumen Grid", "brand": "Lumen", "channel": "Email"}
    words = random.Random(0)
    path.write_text(
        "".join(
            json.dumps(row | {"id": f"c-{n}", "campaign_text": words.randbytes(ROW_BYTES // 2).hex(" ", 4)}) + "\n"
            for n in range(count)
        )
    )
    return path


def begin_a_segment(url: str, times: int = 1) -> None:
    """Have the write-ahead log take room for what is written next."""
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(times):
            connection.execute("select pg_switch_wal()")
            connection.execute("create table more (); drop table more")


def test_a_load_onto_a_full_disk_keeps_nothing_and_room_brings_everything_back(
    small_disk: SmallDisk, tmp_path: Path
) -> None:
    nursery = small_disk.nursery
    few, many = write_campaigns(tmp_path / "few.jsonl", 3), write_campaigns(tmp_path / "many.jsonl", ROWS)
    with nursery.serve() as served:
        assert nursery.run("load", "--no-embed", "campaigns", few)[0] == 0
        begin_a_segment(small_disk.url)
        small_disk.fill(ROOM_BYTES)
        status, said = nursery.run("load", "--no-embed", "campaigns", many)
        assert status == 1
        assert said.startswith("quarry: ")
        assert said.count("\n") == 1
        assert value(small_disk.url, COUNT) == 3
        for outcome in ask_all(served.url).values():
            assert_told(outcome)

        # the write-ahead log finds no room either, which Postgres does not survive
        small_disk.fill(0)
        with pytest.raises(psycopg.OperationalError):
            begin_a_segment(small_disk.url, times=10)
        for outcome in ask_all(served.url).values():
            assert_told(outcome)

        small_disk.clear()
        wait_until(lambda: is_healthy(served.url))
        assert_answers_again(served.url)
        assert value(small_disk.url, COUNT) == 3
        status, said = nursery.run("load", "--no-embed", "campaigns", many)
        assert (status, said) == (0, f"{ROWS:,} rows, {ROWS - 3:,} new or changed, 0 skipped\n")
        assert value(small_disk.url, COUNT) == ROWS
        assert_sound(small_disk.url)
        assert served.command.end() == 0
    assert EmbeddedPostgres(small_disk.directory / "postgres").is_gone()
