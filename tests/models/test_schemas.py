"""JSON schemas as a model is shown them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from quarry.companies.prompts import CompanyPlan, Critique, Reranking
from quarry.models.answers import OutputLimits, response_format
from quarry.people.contract import PeopleQuery, PeopleReasons
from quarry.records.model_answer import FollowupQuestions

Names = Annotated[
    list[Annotated[str, Field(min_length=1, pattern=r"\S")]],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value, json_schema_input_type=str | list[str]),
]


class Days(BaseModel):
    """Both inclusive."""

    first: str | None = Field(default=None, alias="from")


class Arguments(BaseModel):
    """Arguments of a tool."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, Field(max_length=9, description="What it is called.")]
    names: Names = []
    days: Days | Literal["recent"] | None = Field(default=None, description="When.")
    limit: int = Field(default=20, ge=1, le=100)
    wanted: str | None


def test_a_structured_output_asks_for_every_key_and_no_other() -> None:
    schema = response_format("step", Arguments)["json_schema"]["schema"]
    assert schema["required"] == list(schema["properties"]) == ["title", "names", "days", "limit", "wanted"]
    days = schema["properties"]["days"]["anyOf"][0]
    assert (schema["additionalProperties"], days["additionalProperties"], days["required"]) == (False, False, ["from"])
    assert {"type": "null"} in schema["properties"]["days"]["anyOf"]
    assert "default" not in schema["properties"]["limit"]


def parts_of(schema: Any) -> Iterator[dict[str, Any]]:
    """Each part of a schema that is an object, itself included."""
    if isinstance(schema, dict):
        yield schema
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from parts_of(part)


DECISIONS = [CompanyPlan, Critique, FollowupQuestions, PeopleQuery, PeopleReasons, Reranking]


@pytest.mark.parametrize("decision", DECISIONS)
def test_every_text_and_list_of_a_decision_is_bounded_and_so_are_its_tokens(decision: type[BaseModel]) -> None:
    schema = response_format("step", decision)["json_schema"]["schema"]
    lists = [part for part in parts_of(schema) if part.get("type") == "array"]
    texts = [part for part in parts_of(schema) if part.get("type") == "string" and "enum" not in part]
    assert lists
    assert texts
    assert all("maxItems" in each for each in lists)
    assert all("maxLength" in each for each in texts)
    assert 0 < OutputLimits(reasoning_tokens=0).of_decision(decision) < OutputLimits().decision_tokens
    assert OutputLimits(decision_tokens=200).of_decision(decision) == 200


def test_texts_are_unbounded_for_a_server_that_refuses_such_schemas() -> None:
    schema = response_format("step", Critique, bounds_texts=False)["json_schema"]["schema"]
    assert "maxLength" not in schema["properties"]["why"]
    assert schema["properties"]["newQueryVariants"]["maxItems"] == 3
