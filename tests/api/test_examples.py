"""The examples of the API's description, and its errors."""

from __future__ import annotations

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from quarry.api.routers import EVERYTHING
from quarry.platform.errors import catalogue
from quarry.web.description import openapi_document, recorded_examples
from tools.api_examples import examples
from tools.generate import with_errors
from tools.rehearsal.template import ROOT

Operation = tuple[str, str, dict[str, Any]]


# not where the module is imported, as every process of the tests does
@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return openapi_document(EVERYTHING, recorded_examples())


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> list[Operation]:
    """Each with its path and its method."""
    return [
        (path, method, operation)
        for path, by_method in document["paths"].items()
        for method, operation in by_method.items()
    ]


def test_examples_are_what_was_recorded_of_every_route(document: dict[str, Any], operations: list[Operation]) -> None:
    assert recorded_examples() == examples(document["paths"]), "run `make docs`"
    shown = {(each["path"], each["method"]) for each in recorded_examples()}
    assert shown == {(path, method) for path, method, _ in operations}


def test_every_example_is_what_its_schema_says(document: dict[str, Any], operations: list[Operation]) -> None:
    for path, method, operation in operations:
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        described = [
            *operation.get("parameters", []),
            *(each for body in bodies for each in body.get("content", {}).values()),
        ]
        for place in described:
            for name, example in place.get("examples", {}).items():
                # a stream has a schema for its events alone
                if schema := place.get("schema"):
                    validator = Draft202012Validator(schema | {"components": document["components"]})
                    assert [*validator.iter_errors(example["value"])] == [], (method, path, name)


def test_every_value_that_was_sent_is_described(operations: list[Operation]) -> None:
    of_route = {(path, method): operation for path, method, operation in operations}
    for example in recorded_examples():
        parameters = of_route[example["path"], example["method"]].get("parameters", [])
        assert {*example["parameters"]} <= {each["name"] for each in parameters}, example["name"]
        assert {each["name"] for each in parameters if each.get("required")} <= {*example["parameters"]}, example[
            "name"
        ]


def test_every_error_that_is_answered_is_explained(document: dict[str, Any], operations: list[Operation]) -> None:
    problems: list[dict[str, Any]] = document["x-problems"]
    page = (ROOT / "docs" / "errors.md").read_text()
    assert page == with_errors(page, problems), "run `make docs`"
    assert [error for error in catalogue() if not {"meaning", "remedy"} <= vars(error).keys()] == []
    assert len({problem["type"] for problem in problems}) == len(problems)
    of_gateway = set(re.findall(r'"type":"(urn:[\w:-]+)"', (ROOT / "template.yaml").read_text()))
    assert of_gateway
    assert of_gateway <= {problem["type"] for problem in problems}
    statuses = {int(status) for _, _, operation in operations for status in operation["responses"] if status >= "400"}
    # 406 is the agents' protocol's own
    assert statuses - {406} <= {problem["status"] for problem in problems}
