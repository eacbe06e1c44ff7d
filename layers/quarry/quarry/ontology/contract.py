"""Wire types of a project workspace."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StringConstraints

from quarry.platform.contract import Request
from quarry.platform.lazy_model import LazyModel
from quarry.platform.text import Identifier, QueryText, Storable
from quarry.query.contract import Understood
from quarry.streaming.events import Event
from quarry.verification.wire import CheckedStatement, Confidence

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


HISTORY_TURNS = 5
TURN_CHARACTERS_MAX = 20_000


class AskedBefore(Request):
    """An earlier question with its answer."""

    question: QueryText
    answer: Annotated[str, StringConstraints(max_length=TURN_CHARACTERS_MAX), Storable] = ""


class OntologyAskRequest(Request):
    """`POST /ontology/ask`. Without `project_id`, asks about all projects; without `types`, about all types."""

    question: QueryText = Field(examples=["What is blocked, and who has it?"])
    history: list[AskedBefore] = Field(default_factory=list, max_length=50)
    project_id: Identifier | None = None
    types: list[EntityType] | None = Field(default=None, max_length=14)
    understood: Understood | None = Field(
        default=None, description="Takes the place of the reading: that of an answer, as it was or edited."
    )

    @property
    def questions(self) -> list[str]:
        """The user's questions, the newest first."""
        return [self.question, *(turn.question for turn in reversed(self.history))]


class Telemetry(LazyModel):
    """How an answer came about. `turns` counts the model's turns; `degraded` are steps that a fallback served."""

    run_id: str
    turns: int
    tool_calls: int
    degraded: list[str]


class OntologyAnswer(LazyModel):
    """An answer about the caller's projects. `results` are the entities that it speaks of, at most 50, and `total` is how
    many there are in all. `understood` is the Query that it gives the result of. `statements` are those of a model with what
    the check found; `confidence` follows from them or, where a Query was understood, from how it was read.
    """

    response: str
    results: list[EntityResult]
    total: int
    understood: Understood | None = None
    statements: list[CheckedStatement] = []
    confidence: Confidence | None = None
    telemetry: Telemetry


class FinalAnswerEvent(Event):
    """The last event of an answer that did not fail."""

    type: Literal["final_answer"] = "final_answer"
    data: OntologyAnswer
