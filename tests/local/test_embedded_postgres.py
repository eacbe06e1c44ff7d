import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import LiteralString
from urllib.parse import urlsplit

import psycopg
import pytest

from quarry.local.embedded_postgres import EmbeddedPostgres, EmbeddedPostgresError

AS_ROOT = os.geteuid() == 0
NOBODY = pwd.getpwnam("nobody")
ANOTHER_PROCESS = """
import sys
from pathlib import Path
from quarry.local.embedded_postgres import EmbeddedPostgres

postgres = EmbeddedPostgres(Path(sys.argv[1]))
print(postgres.start(), flush=True)
sys.stdin.read()
postgres.release()
"""


@pytest.fixture(scope="module")
def reachable_path() -> Iterator[Path]:
    """A directory that every user can reach: those that pytest makes are closed to all but their owner."""
    path = Path(tempfile.mkdtemp(prefix="quarry-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def directory(reachable_path: Path) -> Path:
    """One directory for many tests, for a first start takes a second. Each test leaves its server stopped."""
    return reachable_path / "postgres"


@contextmanager
def another_process(directory: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A process that uses the directory until the end of the block, and the URL which it was given."""
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", ANOTHER_PROCESS, str(directory)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()


def rows(url: str, query: LiteralString) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        cursor = connection.execute(query)
        return cursor.fetchall() if cursor.description else []


def answers(url: str) -> bool:
    try:
        rows(url, "select 1")
    except psycopg.OperationalError:
        return False
    return True


def pid_file(directory: Path) -> Path:
    return directory / "server" / "cluster" / "data" / "postmaster.pid"


def kill_postmaster(directory: Path) -> None:
    os.kill(int(pid_file(directory).read_text().splitlines()[0]), signal.SIGKILL)


def test_the_server_has_what_quarry_needs_and_is_closed_to_others(directory: Path) -> None:
    with EmbeddedPostgres(directory) as postgres:
        url = postgres.start()
        rows(url, "create extension vector; create extension pg_trgm; create extension unaccent")
        assert rows(url, "select '[1,2]'::halfvec <=> '[1,2]', similarity('a', 'a'), unaccent('é')") == [(0, 1, "e")]
        assert rows(url, "select x from unnest(array['é', 'a', 'B']) x order by x") == [("B",), ("a",), ("é",)]
        assert rows(url, "show listen_addresses") == [("127.0.0.1",)]
        assert rows(url, "show unix_socket_directories") == [("",)]
        assert rows(url, "select distinct auth_method from pg_hba_file_rules") == [("scram-sha-256",)]
        assert not answers(url.replace(str(urlsplit(url).password), "postgres"))
        if AS_ROOT:
            pid = pid_file(directory).read_text().splitlines()[0]
            assert Path("/proc", pid).stat().st_uid == NOBODY.pw_uid
    assert (directory / "server" / "cluster" / "password").stat().st_mode & 0o777 == 0o600


def test_two_processes_share_a_server_and_the_last_one_stops_it(directory: Path) -> None:
    postgres = EmbeddedPostgres(directory)
    url = postgres.start()
    with another_process(directory) as (_, url_there):
        assert url_there == url
        postgres.release()
        assert answers(url)
    assert not answers(url)


def test_data_survives_kill_minus_nine_of_the_postmaster(directory: Path) -> None:
    with EmbeddedPostgres(directory) as postgres:
        url = postgres.start()
        rows(url, "drop table if exists kept; create table kept (x int)")
        rows(url, "insert into kept values (1)")
        with psycopg.connect(url) as at_work:
            at_work.execute("insert into kept values (2)")
            kill_postmaster(directory)
            assert rows(postgres.start(), "select x from kept") == [(1,)]
            with pytest.raises(psycopg.OperationalError):
                at_work.execute("select 1")


def test_a_stale_pid_of_another_process_is_no_obstacle_and_no_target(directory: Path) -> None:
    with EmbeddedPostgres(directory):
        kill_postmaster(directory)
    stale = pid_file(directory)
    with subprocess.Popen(["sleep", "60"], user=NOBODY.pw_uid if AS_ROOT else None) as bystander:
        _, *rest = stale.read_text().splitlines(keepends=True)
        stale.write_text("".join([f"{bystander.pid}\n", *rest]))
        with EmbeddedPostgres(directory) as postgres:
            assert answers(postgres.start())
        assert bystander.poll() is None
        bystander.kill()


def test_what_a_killed_first_start_has_unpacked_halfway_is_cleared_away_by_the_next(reachable_path: Path) -> None:
    directory = reachable_path / "killed"
    unpacking = directory / "server" / "unpacking"
    with subprocess.Popen([sys.executable, "-c", ANOTHER_PROCESS, str(directory)], stdin=subprocess.PIPE) as killed:
        while not unpacking.exists():
            assert killed.poll() is None
            time.sleep(0.01)
        killed.kill()
    with EmbeddedPostgres(directory) as postgres:
        assert answers(postgres.start())
        assert not unpacking.exists()


def test_a_missing_password_is_named(directory: Path) -> None:
    with EmbeddedPostgres(directory):
        password = directory / "server" / "cluster" / "password"
        kept = password.read_text()
        password.unlink()
        try:
            with pytest.raises(EmbeddedPostgresError, match=r"cluster/password is missing"):
                EmbeddedPostgres(directory).start()
        finally:
            password.write_text(kept)


def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    directory = tmp_path if AS_ROOT else Path("/")
    if AS_ROOT:
        os.chown(tmp_path, NOBODY.pw_uid, NOBODY.pw_gid)
    with pytest.raises(EmbeddedPostgresError, match=r"belongs to the user with id .* run as that user"):
        EmbeddedPostgres(directory).start()
