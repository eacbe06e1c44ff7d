"""Generates the client's methods for routes that OpenAPI describes completely: a path, a JSON body, one type of answer."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

CONTRACTS = (
    "campaigns.contract", "companies.contract", "kept.contract", "ontology.contract", "people.contract",
    "query.contract", "records.contract", "web.contract",
)  # fmt: skip

METHODS = {
    "POST /query/explain": "explain",
    "GET /collections": "collections",
    "GET /records/{type}/{id}": "record",
    "GET /me/answers/{id}": "own_answer",
    "POST /me/answers/{id}/share": "share_answer",
    "DELETE /answers/{id}": "revoke_answer",
    "GET /campaigns/{id}": "campaign",
    "GET /companies/{id}": "company",
    "POST /people/{id}/unlock-contact": "unlock_contact",
    "GET /people/{id}/profile": "profile",
    "GET /credits": "credits",
    "POST /ontology/search": "search_ontology",
    "GET /ontology/{type}/{id}": "entity",
    "GET /me/conversations": "conversations",
    "POST /me/conversations": "keep_conversation",
    "GET /me/conversations/{id}": "conversation",
    "PATCH /me/conversations/{id}": "change_conversation",
    "DELETE /me/conversations/{id}": "delete_conversation",
    "GET /me/searches": "saved_searches",
    "POST /me/searches": "save_search",
    "PATCH /me/searches/{id}": "rename_search",
    "DELETE /me/searches/{id}": "delete_search",
    "POST /me/searches/{id}/opened": "open_search",
    "DELETE /runs/{id}": "cancel_run",
    "POST /runs/{id}/feedback": "give_feedback",
    "GET /config.json": "config",
}
"""Method names by route. All other routes are written by hand."""

NOT_REPEATABLE = {"POST /me/conversations", "POST /me/searches", "POST /me/searches/{id}/opened"}
"""A second call would have a second effect."""

HEAD = '''"""Methods made from docs/api/openapi.json by tools/client_routes.py; `make docs` writes this file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any, Literal

from quarry.client.calls import request_of, route, with_values
from quarry.client.exchange import CallInput
'''

_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def generated_routes(api: Mapping[str, Any]) -> str:
    """The module of `quarry.client` with a method for each route in METHODS. `api` is the OpenAPI document."""
    methods: list[str] = []
    models: set[str] = set()
    for address, name in METHODS.items():
        method, _, path = address.partition(" ")
        routine = _Method(address, name, api["paths"][path][method.lower()], api["components"]["schemas"])
        methods.append(routine.source())
        models |= routine.models
    return _formatted(HEAD + "\n".join(_imports(models)) + "\n\nclass GeneratedRoutes:\n" + "\n".join(methods))


class _Method:
    """One method. `models` are the types of the contract that its source uses."""

    def __init__(self, address: str, name: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> None:
        self.models: set[str] = set()
        self._address, self._name, self._operation, self._schemas = address, name, operation, schemas

    def source(self) -> str:
        required: list[str] = []
        optional: list[str] = []
        arguments: list[str] = []
        by_place: dict[str, list[Mapping[str, Any]]] = {"path": [], "header": []}
        for each in self._operation.get("parameters", ()):
            by_place[each["in"]].append(each)
        if path := by_place["path"]:
            required += [f"{each['name']}: {self._type(each['schema'])}" for each in path]
            arguments.append("path={" + ", ".join(f'"{each["name"]}": {each["name"]}' for each in path) + "}")
        if headers := by_place["header"]:
            header_names = {each["name"]: each["name"].lower().replace("-", "_") for each in headers}
            optional += [f"{name}: str | None = None" for name in header_names.values()]
            arguments.append(
                "headers=with_values({" + ", ".join(f'"{name}": {own}' for name, own in header_names.items()) + "})"
            )
        if request := self._operation.get("requestBody"):
            schema = request["content"]["application/json"]["schema"]
            fields = self._schemas[self._type_name(schema["$ref"])]
            must = fields.get("required", [])
            for field, described in fields["properties"].items():
                type_ = self._type(described)
                if field in must:
                    required.append(f"{field}: {type_}")
                else:
                    optional.append(f"{field}: {type_.removesuffix(' | None')} | None = None")
            body = ", ".join(f"{field}={field}" for field in fields["properties"])
            arguments.append(f"body=request_of({self._type_name(schema['$ref'])}, {body})")
        parameters = ", ".join(["self", *required, *(["*", *optional] if optional else [])])
        repeatable = ", repeatable=False" if self._address in NOT_REPEATABLE else ""
        return (
            f'    @route("{self._address}", {self._answer()}{repeatable})\n'
            f"    def {self._name}({parameters}) -> CallInput:\n"
            f"{_docstring(self._operation['description'])}"
            f"        return CallInput({', '.join(arguments)})\n"
        )

    def _answer(self) -> str:
        success = next(answer for status, answer in self._operation["responses"].items() if status.startswith("2"))
        if "content" not in success:
            return "NoneType"
        return self._type_name(success["content"]["application/json"]["schema"]["$ref"])

    def _type(self, schema: Mapping[str, Any]) -> str:
        """A JSON schema as a type annotation."""
        if choices := schema.get("anyOf"):
            return " | ".join("None" if each.get("type") == "null" else self._type(each) for each in choices)
        if "$ref" in schema:
            return self._type_name(schema["$ref"])
        if "enum" in schema:
            return "Literal[" + ", ".join(f'"{value}"' for value in schema["enum"]) + "]"
        if schema["type"] == "array":
            return f"Sequence[{self._type(schema['items'])}]"
        if schema["type"] == "object":
            return "Mapping[str, Any]"
        return _SCALARS[schema["type"]]

    def _type_name(self, reference: str) -> str:
        name = reference.rpartition("/")[2]
        self.models.add(name)
        return name


def _docstring(text: str) -> str:
    lines = textwrap.wrap(text, 112)
    end = [] if len(lines) == 1 else [""]
    return textwrap.indent('"""' + "\n".join([*lines, *end]) + '"""\n', " " * 8, lambda _: True)


def _imports(models: Iterable[str]) -> Iterator[str]:
    """The import statements for `models`, each from the contract that defines it."""
    for contract in CONTRACTS:
        module = importlib.import_module(f"quarry.{contract}")
        names = [name for name in sorted(models) if _is_defined(module, name)]
        if names:
            yield f"from {module.__name__} import {', '.join(names)}"


def _is_defined(module: Any, name: str) -> bool:
    value = getattr(module, name, None)
    return isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == module.__name__


def _formatted(source: str) -> str:
    for command in (["check", "--fix", "--quiet", "--select", "I,F401"], ["format", "--quiet"]):
        arguments = [sys.executable, "-m", "ruff", *command, "--stdin-filename", "generated.py", "-"]
        source = subprocess.run(arguments, input=source, capture_output=True, text=True, check=True).stdout
    return source
