"""Files that other programs read are consistent with each other."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_the_image_can_be_built_from_the_files_copied_into_it(tmp_path: Path) -> None:
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        *sources, target = line.split()
        for source in sources:
            parts = [f"sql/{part}" for part in ("migrations", "functions", "sample")] if source == "sql" else [source]
            for part in parts:
                assert f"!{part}" in allowed
                copied = tmp_path / (part if source == "sql" or target != "./" else Path(source).name)
                if (ROOT / part).is_dir():
                    shutil.copytree(ROOT / part, copied, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    copied.parent.mkdir(exist_ok=True)
                    shutil.copy(ROOT / part, copied)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--quiet", "."]
    subprocess.run([*command, "--wheel-dir", "dist"], cwd=tmp_path, capture_output=True, check=True)
    assert len(list((tmp_path / "dist").glob("quarry_search-*.whl"))) == 1


def test_the_image_runs_without_privileges() -> None:
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE)[-1] == "10001"


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = COMPOSE["services"]
    return found


def test_secrets_only_come_from_files() -> None:
    for service in services().values():
        given = {name: value for name, value in service["environment"].items() if "PASSWORD" in name or "URL" in name}
        assert given
        assert {name.endswith("_FILE") for name in given} == {True}
        assert {value.removeprefix("/run/secrets/") for value in given.values()} == {*service["secrets"]}


def test_the_port_is_only_open_to_this_machine() -> None:
    assert [port.startswith("127.0.0.1:") for port in services()["server"]["ports"]] == [True]
    assert "ports" not in services()["database"]
