"""The tables of a project workspace: the fields of their files."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any, LiteralString

from pydantic import AfterValidator, AwareDatetime, StringConstraints, create_model

from quarry.collections.facets import own_tables
from quarry.platform.tables import Forgettable, Line, LoadableTable, Row, Text
from quarry.platform.text import Identifier, storable

if TYPE_CHECKING:
    from quarry.ontology.contract import EntityType

TABLES: dict[EntityType, str] = {
    "task": "onto_tasks",
    "plan": "onto_plans",
    "goal": "onto_goals",
    "milestone": "onto_milestones",
    "document": "onto_documents",
    "output": "onto_outputs",
    "requirement": "onto_requirements",
}

PROPS_MAX_BYTES = 200_000
"""Bytes of props as JSON in UTF-8, so that their text-search vector stays below the megabyte that Postgres allows."""

PROPS_MAX_DEPTH = 32


def _checked_props(props: dict[str, Any]) -> dict[str, Any]:
    _check_value(props, PROPS_MAX_DEPTH)
    if len(json.dumps(props, ensure_ascii=False).encode()) > PROPS_MAX_BYTES:
        raise ValueError(f"must not be longer than {PROPS_MAX_BYTES:,} bytes of JSON")
    return props


def _check_value(value: object, depth: int) -> None:
    if depth == 0:
        raise ValueError(f"must not be nested deeper than {PROPS_MAX_DEPTH} levels")
    if isinstance(value, str):
        storable(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            storable(key)
            _check_value(item, depth - 1)
    elif isinstance(value, list):
        for item in value:
            _check_value(item, depth - 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must not hold NaN or an infinite number")


Props = Annotated[dict[Annotated[str, StringConstraints(strip_whitespace=False)], Any], AfterValidator(_checked_props)]
"""Further fields of an entity, with names of the owner's choice. All texts in them are searched, at any depth."""


class ProjectRow(Row):
    """A project. `created_by` is its user: the `sub` of the token where Quarry is deployed; locally the name after `Bearer`, or
    `demo` without one.
    """

    id: Identifier
    created_by: Identifier
    name: Line
    description: Text | None = None


class EntityRow(Row):
    """What all entities have. `created_by` is the user whose entity it is; left out, the owner of its project."""

    id: Identifier
    project_id: Identifier
    created_by: Identifier | None = None
    props: Props = {}
    created_at: AwareDatetime | None = None
    updated_at: AwareDatetime | None = None


TITLES: dict[EntityType, LiteralString] = {
    "task": "title", "plan": "name", "goal": "name", "milestone": "title", "document": "title", "output": "name",
    "requirement": "text",
}  # fmt: skip
"""The column with the title of an entity."""
_DESCRIBED: dict[EntityType, str] = {
    "task": "Something to do.",
    "plan": "A plan for how to do something.",
    "goal": "A goal, and how its success is measured.",
    "milestone": "A milestone: something done by a date.",
    "document": "A document; its text is `body_markdown` in `props`.",
    "output": "A result of the project.",
    "requirement": "A requirement, in a sentence or two.",
}


def _row(type: EntityType) -> type[EntityRow]:
    fields: dict[str, Any] = {TITLES[type]: (Line, ...)}
    return create_model(f"{type.capitalize()}Row", __base__=EntityRow, __doc__=_DESCRIBED[type], **fields)


# in loading order: referenced tables come first
LOADABLE = (
    LoadableTable("onto_projects", ProjectRow),
    *(
        LoadableTable(
            table,
            _row(name),
            {"project_id": "onto_projects"},
            {"created_by": ("project_id", "onto_projects", "created_by")},
        )
        for name, table in TABLES.items()
    ),
)

COLLECTIONS = own_tables(__file__, LOADABLE)


def holds_words(row: LiteralString, text: LiteralString) -> LiteralString:
    """Whether a row holds all words of a text."""
    return f"{row}.search_vector @@ (select parsed_query({text}))"


FORGETTABLE = (Forgettable("project", "onto_projects"), *(Forgettable(name, table) for name, table in TABLES.items()))
