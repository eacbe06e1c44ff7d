"""The examples of the API's description, and its errors."""

from __future__ import annotations

import re
from typing import Any

from jsonschema import Draft202012Validator

from quarry.api import everything
from quarry.core.errors import catalogue
from quarry.core.web.description import openapi_document
from quarry.core.web.examples import recorded_examples
from tests.deployed.template import ROOT
from tools.api_examples import examples
from tools.generate import with_errors

DOCUMENT = openapi_document(everything.ROUTERS, recorded_examples())
OPERATIONS = [
    (path, method, operation)
    for path, by_method in DOCUMENT["paths"].items()
    for method, operation in by_method.items()
]


def test_examples_are_what_was_recorded_of_every_route() -> None:
    assert recorded_examples() == examples(DOCUMENT["paths"]), "run `make docs`"
    shown = {(each["path"], each["method"]) for each in recorded_examples()}
    assert shown == {(path, method) for path, method, _ in OPERATIONS}


def test_every_example_is_what_its_schema_says() -> None:
    for path, method, operation in OPERATIONS:
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        described = [
            *operation.get("parameters", []),
            *(each for body in bodies for each in body.get("content", {}).values()),
        ]
        for place in described:
            for name, example in place.get("examples", {}).items():
                # a stream has a schema for its events alone
                if schema := place.get("schema"):
                    validator = Draft202012Validator(schema | {"components": DOCUMENT["components"]})
                    assert [*validator.iter_errors(example["value"])] == [], (method, path, name)


def test_every_value_that_was_sent_is_described() -> None:
    of_route = {(path, method): operation for path, method, operation in OPERATIONS}
    for example in recorded_examples():
        parameters = of_route[example["path"], example["method"]].get("parameters", [])
        assert {*example["parameters"]} <= {each["name"] for each in parameters}, example["name"]
        assert {each["name"] for each in parameters if each.get("required")} <= {*example["parameters"]}, example[
            "name"
        ]


def test_every_error_that_is_answered_is_explained() -> None:
    problems: list[dict[str, Any]] = DOCUMENT["x-problems"]
    page = (ROOT / "docs" / "errors.md").read_text()
    assert page == with_errors(page, problems), "run `make docs`"
    assert [error for error in catalogue() if not {"meaning", "remedy"} <= vars(error).keys()] == []
    assert len({problem["type"] for problem in problems}) == len(problems)
    of_gateway = set(re.findall(r'"type": "(urn:[\w:-]+)"', (ROOT / "template.yaml").read_text()))
    assert of_gateway
    assert of_gateway <= {problem["type"] for problem in problems}
    statuses = {int(status) for _, _, operation in OPERATIONS for status in operation["responses"] if status >= "400"}
    # 406 is the agents' protocol's own
    assert statuses - {406} <= {problem["status"] for problem in problems}
