"""What a function imports before its first invocation: a cold start waits for it. `make bench` measures it."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))

LIST_MODULES = """
import json, os, sys
import quarry.core.services  # all have it: imported once, and told of each

for function in sys.argv[1:]:
    if not os.fork():
        sys.path.insert(0, f"functions/{function}")
        import app
        modules = list(sys.modules)
        built = "fastapi" in modules and __import__("fastapi.openapi.models").openapi.models.OpenAPI.__pydantic_complete__
        print(json.dumps([function, modules, built]), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0, function
"""


@cache
def imports() -> tuple[dict[str, set[str]], set[str]]:
    """The modules that each function imports, by its name, and the functions that build the framework's models of OpenAPI."""
    command = [sys.executable, "-c", LIST_MODULES, *FUNCTIONS]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    lines = [json.loads(line) for line in told]
    return {function: set(modules) for function, modules, _ in lines}, {
        function for function, _, built in lines if built
    }


def imported_by(function: str) -> set[str]:
    return imports()[0][function]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_imported_on_first_use_is_not_imported_before(function: str) -> None:
    assert not imported_by(function) & {
        "openai", "boto3", "numpy", "aws_lambda_powertools.utilities.parameters", "opentelemetry.sdk", "opentelemetry.exporter",
    }  # fmt: skip


@pytest.mark.parametrize("function", ["cleanup", "embed", "load", "migrate"])
def test_a_function_without_http_imports_no_web_framework(function: str) -> None:
    assert not imported_by(function) & {"fastapi", "starlette.applications", "opentelemetry"}


@pytest.mark.parametrize("function", ["cache_lookup", "console", "profile", "unlock"])
def test_a_function_that_searches_nothing_imports_no_search(function: str) -> None:
    assert not imported_by(function) & {
        "quarry.records.routes", "quarry.records.search", "quarry.records.answer",
        "quarry.people.routes", "quarry.people.search", "quarry.people.retrieval",
    }  # fmt: skip


def test_the_frameworks_models_of_openapi_are_left_unbuilt() -> None:
    assert imports()[1] == set()
