"""The output of `sam build` for this checkout, for this machine.

A build is kept under `.aws-sam/tests/`, named by a hash of all its inputs. The first takes ten seconds to a minute, and the
same sources are never built twice.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from samcli.yamlhelper import yaml_parse  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parents[2]
BUILDS = ROOT / ".aws-sam" / "tests"

RUNTIME = "python3.13"
ARCHITECTURE = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
"""This machine's, so that what is built can run here."""

INPUTS = (
    "template.yaml",
    "monitoring.yaml",
    "rollback.yaml",
    "queues.yaml",
    "functions",
    "layers",
    "sql/migrations",
    "sql/functions",
    "sql/schema.sql",
    "tools/rehearsal/artifacts.py",
    "tools/src/quarry_map",
)
BUILD_SECONDS = 600.0
STALE_SECONDS = 3600.0
"""Other builds are deleted once they have not been used for so long; until then another test run may be on them."""


class CannotRun(Exception):
    """The Lambda build does not run on this machine."""


@dataclass(frozen=True)
class Artifacts:
    """A finished build, and its interpreter."""

    directory: Path
    python: Path

    @cached_property
    def layers(self) -> list[Path]:
        """Everything that Lambda unpacks into `/opt/python` for any function."""
        return sorted(self.directory.glob("*Layer/python"))

    @property
    def shared_layer(self) -> Path:
        """The layer of every function."""
        return self._layer("QuarryLayer")

    @property
    def embedding_layer(self) -> Path:
        """The layer for functions that embed locally."""
        return self._layer("EmbeddingLayer")

    @property
    def commands_layer(self) -> Path:
        """The layer for functions that load files and run commands."""
        return self._layer("CommandsLayer")

    @property
    def wrapper(self) -> Path:
        """What starts a function that streams."""
        return self.shared_layer / "exec-wrapper"

    def layers_of(self, name: str, *, embeds: bool = False) -> list[Path]:
        """The layers of the function for any parameters of the template, or those with the local embedding model."""
        named = [layer for given in self._given(name) for layer in given.get("Layers", [])]
        chosen = [layer["Fn::If"][1] if embeds and "Fn::If" in layer else layer for layer in named]
        return [self._layer(layer["Ref"]) for layer in chosen if "Ref" in layer]

    def function(self, name: str) -> Path:
        """What Lambda unpacks into `/var/task` for the function of the folder `name`."""
        return self.directory / self._function_id(name)

    def function_names(self) -> list[str]:
        """The folders of all functions."""
        return sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))

    def environment(self, name: str) -> dict[str, str]:
        """The plain-text variables that the template gives the function for any parameters."""
        variables = {
            variable: value
            for given in self._given(name)
            for variable, value in given.get("Environment", {}).get("Variables", {}).items()
        }
        return {variable: value for variable, value in variables.items() if isinstance(value, str)}

    def _given(self, name: str) -> list[dict[str, Any]]:
        """What the template says of the function, after what it says of all."""
        properties = self._template["Resources"][self._function_id(name)]["Properties"]
        return [self._template["Globals"]["Function"], properties]

    def _layer(self, logical_id: str) -> Path:
        return self.directory / logical_id / "python"

    @cached_property
    def _template(self) -> dict[str, Any]:
        template: dict[str, Any] = yaml_parse((self.directory / "template.yaml").read_text())
        return template

    @staticmethod
    def _function_id(name: str) -> str:
        return "".join(word.title() for word in name.split("_")) + "Function"


def find_interpreter() -> Path:
    """The functions' interpreter: on PATH, or among pyenv's. Raises CannotRun."""
    if sys.platform != "linux":
        raise CannotRun("the layer's compiled modules are for Linux: nothing is built or run")
    pyenv = Path(os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")) / "versions"  # noqa: PTH111 -- never fails
    on_path = shutil.which(RUNTIME)
    try:
        versions = sorted(pyenv.glob(f"*/bin/{RUNTIME}"), reverse=True)
    except OSError:
        versions = []  # another user's
    for candidate in [*([Path(on_path)] if on_path else []), *versions]:
        try:
            asked = subprocess.run(
                [candidate, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True
            )
        except OSError:
            continue
        # pyenv's shims are there for versions that are not in use, and then fail
        if asked.returncode == 0:
            return Path(asked.stdout.strip())
    raise CannotRun(
        f"{RUNTIME}, which the functions run on, is neither on PATH nor in {pyenv}: nothing is built or run"
    )


def build() -> Artifacts:
    """The artifacts of this checkout, built if needed. Raises CannotRun, and AssertionError if the build fails."""
    python = find_interpreter()
    finished = BUILDS / _key()
    if not finished.exists():
        _build_into(finished, python)
    os.utime(finished)
    _delete_stale()
    return Artifacts(finished / "build", python)


def _build_into(finished: Path, python: Path) -> None:
    scratch = finished.with_name(f"{finished.name}.{os.getpid()}")
    sam = Path(sys.executable).with_name("sam")
    _run(
        [sam, "build", "--parameter-overrides", f"Architecture={ARCHITECTURE}", "--build-dir", scratch / "build"],
        python,
    )
    try:
        scratch.rename(finished)
    except OSError:
        # another run was faster, and its build is the same
        assert finished.exists()
        shutil.rmtree(scratch)


def _run(command: Sequence[str | Path], python: Path) -> None:
    # sam and make ask for the interpreter by its name
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)])
    environment = os.environ | {"PATH": path, "ARCHITECTURE": ARCHITECTURE, "SAM_CLI_TELEMETRY": "0"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
    )
    assert done.returncode == 0, f"{command[0]} failed:\n{done.stdout}\n{done.stderr}"


def _key() -> str:
    digest = hashlib.sha256(f"{RUNTIME} {ARCHITECTURE}".encode())
    for path in _inputs():
        content = path.read_bytes()
        digest.update(f"\0{path.relative_to(ROOT)}\0{path.stat().st_mode & 0o111:o}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _inputs() -> Iterator[Path]:
    for name in INPUTS:
        path = ROOT / name
        if path.is_file():
            yield path
        else:
            yield from sorted(file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)


def _delete_stale() -> None:
    for directory in BUILDS.iterdir():
        if time.time() - directory.stat().st_mtime > STALE_SECONDS:
            shutil.rmtree(directory, ignore_errors=True)
