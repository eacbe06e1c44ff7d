"""The wheel as users get it: built, installed with its dependencies, and run in an empty folder."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.local import test_cli, test_server

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "layers" / "quarry" / "quarry"


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    variables = {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, and the wheel built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    [path] = distributions.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program `quarry` in an environment with only the wheel and its requirements, without the checkout."""
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
    options = ("--python", python, "--disable-pip-version-check")
    run(sys.executable, "-m", "pip", *options, "install", "--no-compile", "--no-index", wheel)
    return python.with_name("quarry")


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def files(folder: Path, pattern: str) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob(pattern) if path.is_file()}


def test_the_wheel_contains_the_package_page_sql_and_sample(wheel: Path) -> None:
    package = {f"quarry/{name}" for name in files(PACKAGE, "*") if "__pycache__" not in name}
    sql = {
        f"quarry/sql/{part}/{name}" for part in ("migrations", "functions") for name in files(ROOT / "sql" / part, "*")
    } | {"quarry/sql/schema.sql"}
    sample = {f"quarry/sql/sample/{name}" for name in files(ROOT / "sql" / "sample", "*")}
    judged = {name for name in sample if name.endswith(("/judged.jsonl", "/held_out.jsonl", "/near_misses.jsonl"))}
    found = {name for name in names(wheel) if name.startswith("quarry/")}
    assert found == package | sql | (sample - judged)


def test_licences_are_included(distributions: Path, wheel: Path) -> None:
    licences = {name.partition("/licenses/")[2] for name in names(wheel) if "/licenses/" in name}
    assert {"LICENSE", "NOTICE"} <= licences
    [source] = distributions.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        assert {"LICENSE", "NOTICE", "README.md"} <= {Path(name).name for name in archive.getnames()}


def test_the_client_needs_only_the_packages_of_its_extra(wheel: Path, tmp_path: Path) -> None:
    [metadata] = importlib.metadata.distributions(path=[str(wheel)])
    waiting = [Requirement(line) for line in metadata.requires or [] if line.endswith("extra == 'client'")]
    assert {requirement.name for requirement in waiting} == {"httpx2", "pydantic", "snowballstemmer"}
    packages: set[str] = set()
    while waiting:
        distribution = importlib.metadata.distribution(waiting.pop().name)
        found = {path.parts[0] for path in distribution.files or [] if path.parts[0] != ".."}
        if not found <= packages:
            packages |= found
            needed = [Requirement(line) for line in distribution.requires or []]
            waiting += [each for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
    for name in packages:
        (tmp_path / name).symlink_to(Path(sysconfig.get_path("purelib")) / name)
    code = f"import sys; sys.path[:0] = {[str(wheel), str(tmp_path)]}; import quarry.client as it; print(it.__file__)"
    assert run(sys.executable, "-I", "-S", "-c", code).startswith(str(wheel))


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield folder
    assert {path.name for path in folder.iterdir()} <= {".quarry"}


def test_a_demo_in_an_empty_folder_needs_nothing_and_a_second_one_shares_its_data(
    installed: Path, empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Commands:" in run(installed, "--help", cwd=empty_folder)
    where = run(installed.with_name("python"), "-c", "import quarry; print(quarry.__file__)", cwd=empty_folder)
    assert where.startswith(str(installed.parents[1]))
    for module in (test_server, test_cli):
        monkeypatch.setattr(module, "QUARRY", installed)
    test_server.assert_a_demo_is_loaded_shared_and_found_again(empty_folder)
