"""Files that other programs read are consistent with each other."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tools.citus import SERVED_WITH

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
ON_CITUS = yaml.safe_load((ROOT / "compose.citus.yaml").read_text())
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_the_image_can_be_built_from_the_files_copied_into_it(tmp_path: Path) -> None:
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        *sources, target = line.split()
        for source in sources:
            parts = (
                [f"sql/{part}" for part in ("migrations", "functions", "schema.sql", "sample")]
                if source == "sql"
                else [source]
            )
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


def test_the_nodes_of_a_citus_cluster_are_set_as_those_that_the_tests_run_on() -> None:
    services = ON_CITUS["services"]
    nodes = {name: each for name, each in services.items() if name not in ("join", "server")}
    assert [*nodes] == ["coordinator", "worker-1", "worker-2"]
    for name, node in nodes.items():
        program, *settings = node["command"]
        assert program == "postgres"
        assert settings[::2] == ["-c"] * len(SERVED_WITH)
        assert dict(each.split("=") for each in settings[1::2]) == SERVED_WITH
        assert "FROM citusdata/citus:" in node["build"]["dockerfile_inline"]
        assert "pgvector" in node["build"]["dockerfile_inline"]
        # trusted, so reached from nowhere else
        assert "ports" not in node
        assert node["networks"] == ["nodes"]
        assert node["volumes"] == [f"{name}:/var/lib/postgresql/data"]
        assert name in ON_CITUS["volumes"]
    assert ON_CITUS["networks"]["nodes"] == {"internal": True}
    joined = [each for each in services["join"]["command"] if "citus_" in each]
    assert joined == [
        "--command=select citus_set_coordinator_host('coordinator')",
        *(f"--command=select citus_add_node('{name}', 5432)" for name in nodes if name != "coordinator"),
    ]


def test_the_server_on_citus_waits_for_it_and_is_only_open_to_this_machine() -> None:
    server = ON_CITUS["services"]["server"]
    assert {*server["depends_on"]} == {*ON_CITUS["services"]} - {"server"}
    assert server["environment"]["DATABASE_URL"] == "postgresql://quarry@coordinator:5432/quarry"
    assert [port.startswith("127.0.0.1:") for port in server["ports"]] == [True]
