"""A function's imports before its first invocation, which a cold start waits for. `make bench` measures it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute

from quarry.api.routers import SEARCH, routers_at
from quarry.platform.contract import DOMAINS

ROOT = Path(__file__).resolve().parents[2]
FUNCTIONS = sorted({path.parent.name for path in (ROOT / "functions").glob("*/app.py")} - {"admin", "check"})
"""All but those that no user waits for."""

LIST_MODULES = """
import gc, json, os, sys
import quarry.services.services  # all have it: imported once, and told of each

for function in sys.argv[1:]:
    if not os.fork():
        sys.path.insert(0, f"functions/{function}")
        import app
        modules = list(sys.modules)
        models = [("fastapi.openapi.models", "Operation"), ("quarry.companies.contract", "Company")]
        built = any(getattr(sys.modules[module], name).__pydantic_complete__ for module, name in models if module in modules)
        frozen, collects = gc.get_freeze_count() > 0, gc.isenabled()
        told = {"function": function, "modules": modules, "built": built, "is_frozen": frozen, "collects": collects}
        print(json.dumps(told), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0, function
"""


@cache
def imports() -> dict[str, dict[str, Any]]:
    """The imports of each function: the `modules`, whether models are `built`, whether it `is_frozen`, which excludes it from
    later garbage collection, and whether the function `collects` garbage.
    """
    command = [sys.executable, "-c", LIST_MODULES, *FUNCTIONS]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line["function"]: line for line in map(json.loads, told)}


ON_FIRST_USE = {
    "openai", "boto3", "numpy", "aws_lambda_powertools.utilities.parameters", "opentelemetry.sdk", "opentelemetry.exporter",
}  # fmt: skip
OF_HTTP = {"fastapi", "starlette.applications", "opentelemetry"}
OF_SEARCHES = {f"quarry.{domain}.{name}" for domain in DOMAINS for name in ("search", "agent_tools")}
OF_OTHERS = {"quarry.records.routes", "quarry.people.routes"}
NOT_IMPORTED = {
    **dict.fromkeys(("cleanup", "embed", "load", "migrate"), OF_HTTP),
    **dict.fromkeys(("cache_lookup", "console", "profile", "unlock"), OF_OTHERS),
    "search": {
        "quarry.agent.routes", "quarry.people.profile_routes", "quarry.schema.algebra", "quarry.web.mcp",
        "quarry.web.openai_routes",
        *(f"quarry.{domain}.routes" for domain in DOMAINS),
    },
}  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_cold_start_imports_and_builds_only_what_every_first_request_needs(function: str) -> None:
    imported = {*imports()[function]["modules"]}
    assert not imported & (ON_FIRST_USE | OF_SEARCHES | NOT_IMPORTED[function])
    assert not imports()[function]["built"]
    assert imports()[function]["is_frozen"]
    # the first request of one that serves HTTP imports as much again
    assert imports()[function]["collects"] is (NOT_IMPORTED[function] == OF_HTTP)


def test_a_provisioned_environment_imports_everything_before_its_first_request() -> None:
    environment = os.environ | {
        "AWS_LAMBDA_INITIALIZATION_TYPE": "provisioned-concurrency",
        "DATABASE_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:x",
    }
    code = "import sys; sys.path.insert(0, 'functions/search'); import app; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    imported = set(done.stdout.split())
    assert {f"quarry.{domain}.{name}" for domain in DOMAINS for name in ("search", "routes")} <= imported
    assert "aws_lambda_powertools.utilities.parameters" in imported


def test_each_path_of_the_search_function_is_served_by_the_routers_for_it() -> None:
    paths = {route.path for router in SEARCH for route in router.routes if isinstance(route, APIRoute)}
    assert {"/health", "/query", "/records/ask", "/people/search", "/collections", "/v1/models", "/mcp"} <= paths
    for path in paths:
        assert path in {
            route.path for router in routers_at(path) for route in router.routes if isinstance(route, APIRoute)
        }
        assert routers_at(path) == routers_at(path.replace("s", "%73"))
    assert routers_at("/records/ask").modules == (("records", "routes"),)
