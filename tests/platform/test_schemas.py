"""JSON schemas as a model is shown them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from quarry.models.schemas import response_format

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
