"""Wire types of a project workspace."""

from __future__ import annotations

import datetime
from typing import Any, Literal, get_args

from pydantic import Field

from quarry.platform.contract import Request
from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import Identifier, QueryText

EntityType = Literal["task", "plan", "goal", "milestone", "document", "output", "requirement"]
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)

RESULTS_MAX = 50


class OntologySearchRequest(Request):
    """`POST /ontology/search`. Without `project_id`, searches all projects; without `types`, all types."""

    query: QueryText = Field(examples=["launch plan"])
    project_id: Identifier | None = None
    types: list[EntityType] | None = Field(default=None, max_length=14)


class EntityResult(LazyModel):
    """One found entity. `snippet` is HTML-escaped but for the `<mark>` around the matched words; `score` is
    0.6 · ts_rank + 0.4 · trigram similarity of the title; `project_name` is left out where the project is not the caller's.
    """

    type: EntityType
    id: str
    project_id: str
    project_name: str | None = None
    title: str
    snippet: str
    score: float


class OntologySearchResponse(LazyModel):
    """The caller's own entities, best first, at most 50; `total` is how many there are in all, `message` says so in words.
    `more` is there, and true, where there are more than were counted, 10,000: `total` is then how many there are at least.
    """

    results: list[EntityResult]
    total: int
    message: str
    more: Literal[True] | None = None


class Project(LazyModel):
    """The project that an entity belongs to."""

    id: str
    name: str
    description: str | None = None


class WholeEntity(LazyModel):
    """One entity, whole: its title and its props by the names that its owner gave them. `project` is left out where it is
    not the caller's.
    """

    type: EntityType
    id: str
    project_id: str
    title: str
    props: dict[str, Any]
    project: Project | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
