"""Where the functions' interpreter cannot be had, their tests are skipped with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployed.artifacts import RUNTIME, CannotRun, find_interpreter


def unreadable(self: Path, pattern: str) -> Iterator[Path]:
    raise PermissionError(13, "Permission denied", str(self))


@pytest.mark.parametrize("readable", [True, False])
def test_a_missing_or_unreadable_pyenv_is_a_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, readable: bool
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    if not readable:
        monkeypatch.setattr(Path, "glob", unreadable)
    with pytest.raises(CannotRun, match=RUNTIME):
        find_interpreter()


def test_an_interpreter_that_may_not_be_run_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    forbidden = tmp_path / "versions" / "3.13.0" / "bin" / RUNTIME
    forbidden.parent.mkdir(parents=True)
    forbidden.touch(mode=0o600)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    with pytest.raises(CannotRun):
        find_interpreter()
