"""The wheel as its users meet it: built, installed beside its dependencies, and run in an empty folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local import test_cli, test_server
from tests.local.test_cli import QUESTION, installed_quarry
from tests.local.test_server import END_SECONDS, served, started
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "layers" / "quarry" / "quarry"


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    variables = {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    [path] = distributions.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program `quarry` in an environment that has the wheel and what the wheel asks for, and nothing of the checkout."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    dependencies = folder / "dependencies"
    dependencies.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith(("quarry", "_quarry", "__pycache__")) and path.suffix != ".pth":
            (dependencies / path.name).symlink_to(path)
    [site] = (folder / "venv" / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(f"{dependencies}\n")
    python = folder / "venv" / "bin" / "python"
    # without an index: every dependency that the wheel names must be among those that the lock has
    run(sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", "install", "--no-index", wheel)
    return python.with_name("quarry")


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def files(folder: Path, pattern: str) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob(pattern) if path.is_file()}


def test_the_wheel_holds_the_package_its_page_its_sql_and_its_sample(wheel: Path) -> None:
    package = {f"quarry/{name}" for name in files(PACKAGE, "*") if "__pycache__" not in name}
    sql = {
        f"quarry/sql/{part}/{name}" for part in ("migrations", "functions") for name in files(ROOT / "sql" / part, "*")
    }
    sample = {f"quarry/sql/sample/{name}" for name in files(ROOT / "sql" / "sample", "*")}
    judged = {name for name in sample if name.endswith(("/judged.jsonl", "/held_out.jsonl"))}
    found = {name for name in names(wheel) if name.startswith("quarry/")}
    assert found == package | sql | (sample - judged)


def test_licences_go_along(distributions: Path, wheel: Path) -> None:
    licences = {name.partition("/licenses/")[2] for name in names(wheel) if "/licenses/" in name}
    assert {"LICENSE", "NOTICE"} <= licences
    [source] = distributions.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        assert {"LICENSE", "NOTICE", "README.md"} <= {Path(name).name for name in archive.getnames()}


def test_an_index_would_take_both(distributions: Path) -> None:
    assert "FAILED" not in run(sys.executable, "-m", "twine", "check", "--strict", *sorted(distributions.iterdir()))


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    assert {path.name for path in folder.iterdir()} <= {".quarry"}


def assert_stopped(folder: Path) -> None:
    server = (folder / ".quarry" / "postgres" / "server").resolve()
    assert list(server.rglob("PG_VERSION"))
    assert not list(server.rglob("postmaster.pid"))


def test_in_an_empty_folder_a_demo_needs_nothing_shares_it_and_loads_nothing_again(
    installed: Path, empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "commands:" in run(installed, "--help", cwd=empty_folder)
    where = run(installed.with_name("python"), "-c", "import quarry; print(quarry.__file__)", cwd=empty_folder)
    assert where.startswith(str(installed.parents[1]))
    for module in (test_server, test_cli):
        monkeypatch.setattr(module, "QUARRY", installed)
    with served("demo") as server:
        assert "Loaded the sample data: campaigns, companies, ontology, people, records." in server.said
        assert server.get("/records/search?q=bridge")["degraded"] == []
        # other commands share the folder with it
        assert '"ok": true' in run(installed, "doctor", "--json", cwd=empty_folder)
        asked = installed_quarry("ask", "records", QUESTION)
        assert (asked.returncode, asked.stderr) == (0, "")
        assert len(json.loads(installed_quarry("runs", "--json").stdout)) == 2
        answer = re.search(r"/answers/(\S+)", asked.stdout)
        assert answer is not None
        assert server.get(answer.group())["query"] == QUESTION
        assert server.end() < END_SECONDS
    assert_stopped(empty_folder)

    at_once = [started("runs", "--json"), started("cleanup", "--json")]
    for process in at_once:
        _, complaint = process.communicate(timeout=PATIENCE_SECONDS)
        assert (process.returncode, complaint) == (0, "")
    assert_stopped(empty_folder)

    with served("demo") as server:
        assert "nothing had to be loaded" in server.said
        assert server.end() < END_SECONDS
        assert server.process.stdout is not None
        tips = server.process.stdout.read()
    assert f"curl -N --get {server.url}/records/ask" in tips
    assert f"curl --get {server.url}/records/search" in tips
    assert " ask records " in tips
