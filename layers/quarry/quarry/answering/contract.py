"""The wire types of a domain that answers as `answering.asking` does: what it is asked, what it finds, and its answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from quarry.platform.contract import LazyModel, Request
from quarry.platform.text import QueryText, Storable
from quarry.query.contract import Understood
from quarry.streaming.events import Event
from quarry.verification.wire import CheckedStatement, Confidence

RESULTS_MAX = 50
HISTORY_TURNS = 5
TURN_CHARACTERS_MAX = 20_000


class AskedBefore(Request):
    """An earlier question with its answer."""

    question: QueryText
    answer: Annotated[str, StringConstraints(max_length=TURN_CHARACTERS_MAX), Storable] = ""


class AskRequest(Request):
    """A question, and those before it."""

    question: QueryText
    history: list[AskedBefore] = Field(default_factory=list, max_length=50)
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


class AnswerData(LazyModel):
    """An answer. `total` is how many rows there are in all. `understood` is the Query that it gives the result of. `statements`
    are those of a model with what the check found; `confidence` follows from them or, where a Query was understood, from how it
    was read.
    """

    response: str
    total: int
    understood: Understood | None = None
    statements: list[CheckedStatement] = []
    confidence: Confidence | None = None
    telemetry: Telemetry


class SearchRequest(Request):
    """Words to search for."""

    query: QueryText


class Result(LazyModel):
    """A row that was found. `snippet` is HTML-escaped but for the `<mark>` around words of the query; `score` is at most 1."""

    id: str
    title: str
    snippet: str = ""
    score: float = 0.0


class SearchResponse(LazyModel):
    """What a search found, best first."""

    results: list[Result]


class Answer(AnswerData):
    """An answer with the rows that it speaks of, at most 50."""

    results: list[Result]


class FinalAnswerEvent(Event):
    """The last event of an answer that did not fail."""

    type: Literal["final_answer"] = "final_answer"
    data: Answer
