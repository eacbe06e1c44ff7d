"""template.yaml says the same as the code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from quarry import api
from quarry.core.settings import Settings
from quarry.core.web.identity import verified_caller
from tests.functions.template import ROOT, functions, read_template

TEMPLATE = read_template()

ROUTERS = {"search": api.SEARCH_ROUTERS, "cache_lookup": api.CACHE_LOOKUP_ROUTERS}

Route = tuple[str, str, bool]
"""Method, path, and whether it is public."""


def api_events(properties: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return (event["Properties"] for event in properties["Events"].values() if event["Type"] == "Api")


def asks_who_calls(dependant: Dependant) -> bool:
    return dependant.call is verified_caller or any(map(asks_who_calls, dependant.dependencies))


def served(routers: Iterable[APIRouter]) -> set[Route]:
    routes = (route for router in routers for route in router.routes if isinstance(route, APIRoute))
    return {
        (method, api_gateway_path(route), not asks_who_calls(route.dependant))
        for route in routes
        for method in route.methods or ()
    }


def api_gateway_path(route: APIRoute) -> str:
    """The route's path with its parameter of many segments, if it has one, in API Gateway's spelling."""
    return route.path.replace(":path}", "+}")


@pytest.mark.parametrize("name", ROUTERS)
def test_a_function_is_reached_at_the_routes_that_it_serves_and_those_that_know_no_user_are_public(name: str) -> None:
    reached = {
        (event["Method"], event["Path"], event.get("Auth") == {"Authorizer": "NONE"})
        for event in api_events(functions(TEMPLATE)[name])
    }
    assert reached == served(ROUTERS[name])


def test_the_public_routes_are_the_three_of_the_contract() -> None:
    public = {path for routers in ROUTERS.values() for _, path, is_public in served(routers) if is_public}
    assert public == {"/health", "/openapi.json", "/answers/{id}"}


def test_whatever_is_not_said_to_be_public_needs_a_verified_user() -> None:
    assert TEMPLATE["Resources"]["Api"]["Properties"]["Auth"]["DefaultAuthorizer"] == "Cognito"


def test_every_function_has_its_folder_and_a_log_that_ends() -> None:
    folders = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}
    assert set(functions(TEMPLATE)) == folders
    for properties in functions(TEMPLATE).values():
        log_group = TEMPLATE["Resources"][properties["LoggingConfig"]["LogGroup"]["Ref"]]["Properties"]
        assert log_group["RetentionInDays"] == {"Ref": "LogRetentionDays"}
        assert log_group["LogGroupName"]["Fn::Sub"] == "/aws/lambda/" + properties["FunctionName"]["Fn::Sub"]


def test_every_environment_variable_is_a_setting() -> None:
    variables = set(TEMPLATE["Globals"]["Function"]["Environment"]["Variables"])
    for properties in functions(TEMPLATE).values():
        variables |= set(properties.get("Environment", {}).get("Variables", {}))
    assert variables <= {name.upper() for name in Settings.model_fields}


def test_an_answer_ends_before_api_gateway_gives_up() -> None:
    search = functions(TEMPLATE)["search"]
    ask_seconds = float(search["Environment"]["Variables"]["RECORDS_ASK_SECONDS"])
    assert ask_seconds < TEMPLATE["Globals"]["Function"]["Timeout"] <= 29
