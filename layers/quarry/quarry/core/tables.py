"""What a table is that files can be loaded into, and what its rows may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from quarry.core.text import Storable

Text = Annotated[str, StringConstraints(min_length=1, max_length=200_000), Storable]
Line = Annotated[str, StringConstraints(min_length=1, max_length=2000), Storable]
Names = Annotated[list[Line], Field(max_length=500)]


class Row(BaseModel):
    """Base of the row types: what a line of a table's file may hold. Unknown fields are refused, so that a typo is seen."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True, defer_build=True)


@dataclass(frozen=True)
class LoadableTable:
    """A table that files can be loaded into.

    `references` maps a column to the table whose id it holds; `inherits` maps a column to (reference column, table, column)
    that it is filled from where a row leaves it out.
    """

    name: str
    row: type[Row]
    references: Mapping[str, str] = field(default_factory=dict)
    inherits: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        return list(self.row.model_fields)
