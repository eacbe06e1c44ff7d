import importlib.metadata
import importlib.resources
import multiprocessing
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
from multiprocessing.connection import Connection
from pathlib import Path
from typing import LiteralString
from urllib.parse import urlsplit

import psycopg
import pytest

from quarry.local import embedded_postgres
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

only_root = pytest.mark.skipif(not AS_ROOT, reason="needs root")


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


def use_as_nobody(directory: Path, home: Path, parent: "Connection[object, object]") -> None:
    os.setgroups([])
    os.setgid(NOBODY.pw_gid)
    os.setuid(NOBODY.pw_uid)
    os.environ |= {"HOME": str(home), "PGOPTIONS": "--misleading=yes"}
    with EmbeddedPostgres(directory) as postgres:
        parent.send(postgres.start())
        parent.recv()


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


def test_the_server_carries_pgvector_and_the_contrib_modules(directory: Path) -> None:
    with EmbeddedPostgres(directory) as postgres:
        url = postgres.start()
        rows(url, "create extension vector; create extension pg_trgm; create extension unaccent")
        assert rows(url, "select '[1,2]'::halfvec <=> '[1,2]', similarity('quarry', 'quarry'), unaccent('é')") == [
            (0, 1, "e")
        ]


def test_the_database_is_quarry_and_sorts_by_code_point(directory: Path) -> None:
    with EmbeddedPostgres(directory) as postgres:
        url = postgres.start()
        assert rows(url, "select current_database()::text, current_user::text") == [("quarry", "quarry")]
        assert rows(url, "select distinct pg_encoding_to_char(encoding)::text, datlocale from pg_database") == [
            ("UTF8", "C.UTF-8")
        ]
        assert rows(url, "select x from unnest(array['é', 'a', 'B']) x order by x") == [("B",), ("a",), ("é",)]
        assert rows(url, "select lower('ÉLAN'), to_tsvector('english', 'the “elm” — naïve')::text") == [
            ("élan", "'elm':2 'naïv':3")
        ]


def test_the_server_listens_on_the_loopback_only_and_wants_its_own_password(directory: Path) -> None:
    with EmbeddedPostgres(directory) as postgres:
        url = postgres.start()
        assert urlsplit(url).hostname == "127.0.0.1"
        assert rows(url, "show listen_addresses") == [("127.0.0.1",)]
        assert rows(url, "show unix_socket_directories") == [("",)]
        assert rows(url, "select distinct auth_method from pg_hba_file_rules") == [("scram-sha-256",)]
        assert not answers(url.replace(str(urlsplit(url).password), "postgres"))
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


def test_a_directory_that_cannot_be_made_gives_one_line_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EmbeddedPostgresError, match=r"Not a directory: .*QUARRY_DATA_DIR") as failure:
        EmbeddedPostgres(tmp_path / "file" / "postgres").start()
    assert "\n" not in str(failure.value)


def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    directory = tmp_path if AS_ROOT else Path("/")
    if AS_ROOT:
        os.chown(tmp_path, NOBODY.pw_uid, NOBODY.pw_gid)
    with pytest.raises(EmbeddedPostgresError, match=r"belongs to the user with id .* run as that user"):
        EmbeddedPostgres(directory).start()


@only_root
def test_root_has_the_server_run_by_nobody(directory: Path) -> None:
    with EmbeddedPostgres(directory):
        pid = pid_file(directory).read_text().splitlines()[0]
        assert Path("/proc", pid).stat().st_uid == NOBODY.pw_uid


@only_root
def test_below_a_closed_directory_root_gets_a_link_to_an_open_place(
    tmp_path: Path, reachable_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_postgres, "ROOTS_CLUSTERS", reachable_path / "var")
    tmp_path.chmod(0o700)
    directory = tmp_path / ".quarry" / "postgres"
    with EmbeddedPostgres(directory) as postgres:
        rows(postgres.start(), "create table kept as select 1 as x")
    elsewhere = (directory / "server").readlink()
    assert elsewhere.parent == reachable_path / "var"
    with EmbeddedPostgres(directory) as postgres:
        assert rows(postgres.start(), "select x from kept") == [(1,)]
    elsewhere.rename(elsewhere.with_name("lost"))
    with pytest.raises(EmbeddedPostgresError, match="is gone: delete"):
        EmbeddedPostgres(directory).start()


@only_root
def test_an_ordinary_user_owns_his_server_and_his_home_stays_empty(reachable_path: Path) -> None:
    if not embedded_postgres._can_reach(Path(str(importlib.resources.files("pg0"))), NOBODY):
        pytest.skip("an ordinary user cannot reach the installed pg0")
    home, project = reachable_path / "home", reachable_path / "project"
    for path in (home, project):
        path.mkdir()
        os.chown(path, NOBODY.pw_uid, NOBODY.pw_gid)
    # Forked rather than executed, for the interpreter itself may be out of an ordinary user's reach.
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe()
    process = fork.Process(target=use_as_nobody, args=(project / "postgres", home, there))
    process.start()
    there.close()
    url = str(here.recv())
    assert answers(url)
    assert pid_file(project / "postgres").stat().st_uid == NOBODY.pw_uid
    assert not (project / "postgres" / "server").is_symlink()
    here.send(None)
    process.join()
    assert process.exitcode == 0
    assert not answers(url)
    assert list(home.iterdir()) == []
