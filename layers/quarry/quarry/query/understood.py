"""How a question was understood, in one form for every domain: a Query's conditions, each with a label, a pointer and what
characters of the question say it. An answer has it, and a request may send it back, edited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from quarry.platform.contract import EVIDENCE_MAX, Request
from quarry.platform.text import QUERY_MAX_CHARACTERS, Storable
from quarry.query.algebra import (
    Condition,
    Span,
)
from quarry.query.contract import FilterChip, ShortConditions, ShortQuery
from quarry.streaming.events import Event

Meaning = Literal["required", "assumed", "preferred", "excluded"]
"""How a condition is meant. required: none is shown that does not meet it; assumed: so as long as some meet it; preferred: it
only speaks for a row; excluded: it must not hold."""
CHANGEABLE: tuple[Meaning, ...] = ("required", "preferred", "excluded")
DECIDING: tuple[Meaning, ...] = ("required", "excluded")
"""How a condition may be meant where none is preferred: a Query prefers nothing."""
OWN = "/understood"
"""Where a request holds it."""
LABEL_MAX = 400

_About = Annotated[str, StringConstraints(strip_whitespace=True, max_length=QUERY_MAX_CHARACTERS), Storable]


class ConditionChip(FilterChip):
    """A condition in words, with its pointer: `/where/0` into the query, `/assumed/0`, `/preferred/0`, `/about` or `/like` beside
    it. It may be meant in any of `choices` instead: to change it, move the condition, and put one that is excluded in a `not`.
    """

    choices: list[Meaning] = []


class Understood(Request):
    """How a question was understood. All of the query's `where` must hold. `assumed` conditions hold as long as some rows meet
    them, and `preferred` ones only raise the rank. `about` is what is searched for by
    words and meaning, `like` the name of what others should resemble. `chips` say the conditions in words, `spans` which
    characters of the question say which part, and `unread` the words that no part says; `sentence` is the query in words.

    A request that carries it is answered by it instead of the reading. What only explains is ignored there.
    """

    sentence: Annotated[str, Storable] = ""
    query: ShortQuery
    assumed: ShortConditions = ()
    preferred: ShortConditions = ()
    about: _About = ""
    like: _About = ""
    chips: list[ConditionChip] = []
    unread: list[Annotated[str, Storable]] = []
    spans: Annotated[list[Span], Field(max_length=EVIDENCE_MAX)] = []

    @property
    def parts(self) -> dict[str, tuple[Condition, ...]]:
        """The conditions by the pointer of their list."""
        return {"/where": self.query.where, "/assumed": self.assumed, "/preferred": self.preferred}

    @property
    def conditions(self) -> Iterator[tuple[str, Condition]]:
        """Each condition with its pointer."""
        for part, conditions in self.parts.items():
            yield from ((f"{part}/{place}", each) for place, each in enumerate(conditions))

    def mapped(self, change: Callable[[Condition, str], Condition | None]) -> Understood:
        """The same with each condition changed, by itself and its pointer from the whole; without those that become None."""
        where = self._changed("/query/where", self.query.where, change)
        return self.model_copy(
            update={
                "query": self.query.model_copy(update={"where": where}),
                "assumed": self._changed("/assumed", self.assumed, change),
                "preferred": self._changed("/preferred", self.preferred, change),
            }
        )

    @staticmethod
    def _changed(
        pointer: str, conditions: Sequence[Condition], change: Callable[[Condition, str], Condition | None]
    ) -> tuple[Condition, ...]:
        changed = (change(each, f"{pointer}/{place}") for place, each in enumerate(conditions))
        return tuple(each for each in changed if each is not None)


class UnderstoodEvent(Event):
    """How the question was understood, before the whole answer."""

    type: Literal["understood"] = "understood"
    data: Understood
