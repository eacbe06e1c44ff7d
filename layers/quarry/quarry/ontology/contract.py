"""Wire types of a project workspace."""

from __future__ import annotations

import datetime
from typing import Any, Literal, get_args

from pydantic import Field

from quarry.answering.contract import AnswerData, AskRequest
from quarry.platform.contract import LazyModel, Request
from quarry.platform.text import Identifier, QueryText
from quarry.streaming.events import Event

EntityType = Literal["task", "plan", "goal", "milestone", "document", "output", "requirement"]
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)


class OntologySearchRequest(Request):
    """`POST /ontology/search`. Without `project_id`, searches all projects; without `types`, all types."""

    query: QueryText = Field(examples=["launch plan"])
    project_id: Identifier | None = None
    types: list[EntityType] | None = Field(default=None, max_length=14)


class EntityResult(LazyModel):
    """One found entity. `snippet` is HTML-escaped but for the `<mark>` around the matched words; `score` is
    0.6 · ts_rank + 0.4 · trigram similarity of the title; `project_name` is left out where the project is not the caller's.
    `near` is there, and true, where it is only near the query: it lacks a word of it.
    """

    type: EntityType
    id: str
    project_id: str
    project_name: str | None = None
    title: str
    snippet: str
    score: float
    near: Literal[True] | None = None


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


class OntologyAskRequest(AskRequest):
    """`POST /ontology/ask`. Without `project_id`, asks about all projects; without `types`, about all types."""

    question: QueryText = Field(examples=["What is blocked, and who has it?"])
    project_id: Identifier | None = None
    types: list[EntityType] | None = Field(default=None, max_length=14)


class OntologyAnswer(AnswerData):
    """An answer about the caller's projects. `results` are the entities that it speaks of, at most 50, and `total` is how
    many there are in all. `understood` is the Query that it gives the result of. `statements` are those of a model with what
    the check found; `confidence` follows from them or, where a Query was understood, from how it was read.
    """

    results: list[EntityResult]


class FinalAnswerEvent(Event):
    """The last event of an answer that did not fail."""

    type: Literal["final_answer"] = "final_answer"
    data: OntologyAnswer
