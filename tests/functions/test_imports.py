"""What a function imports before its first invocation: a cold start waits for it. `make bench` measures it."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

LIST_MODULES = "import app, json, sys; print(json.dumps(list(sys.modules)))"
MODEL_IS_BUILT = "import app; from fastapi.openapi.models import OpenAPI; print(OpenAPI.__pydantic_complete__)"


def run_in(function: str, program: str) -> str:
    """What `program` prints in a fresh interpreter that can import the function's `app`."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, 'functions/{function}')\n{program}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


@cache
def imported_by(function: str) -> set[str]:
    return set(json.loads(run_in(function, LIST_MODULES)))


@pytest.mark.parametrize("function", sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py")))
def test_what_is_imported_on_first_use_is_not_imported_before(function: str) -> None:
    assert not imported_by(function) & {"openai", "boto3", "numpy", "aws_lambda_powertools.utilities.parameters"}


@pytest.mark.parametrize("function", ["cleanup", "embed", "migrate"])
def test_a_function_without_http_imports_no_web_framework(function: str) -> None:
    assert not imported_by(function) & {"fastapi", "starlette.applications"}


@pytest.mark.parametrize("function", ["cache_lookup", "console", "profile", "unlock"])
def test_a_function_that_searches_nothing_imports_no_search(function: str) -> None:
    assert not imported_by(function) & {
        "quarry.records.routes", "quarry.records.search", "quarry.records.answer",
        "quarry.people.routes", "quarry.people.search", "quarry.people.retrieval",
    }  # fmt: skip


def test_the_frameworks_models_of_openapi_are_left_unbuilt() -> None:
    assert run_in("search", MODEL_IS_BUILT) == "False"
