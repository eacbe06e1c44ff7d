"""Conversations and saved searches as they go over the wire."""

from __future__ import annotations

import datetime
import json
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from quarry.platform.contract import Domain, LazyModel, Request
from quarry.platform.text import Identifier, QueryText, StorableWords, storable

CONVERSATIONS_MAX = 200
"""Most conversations per user."""
SEARCHES_MAX = 100
TURNS_MAX = 50
TURNS_MAX_BYTES = 200_000
"""Largest size of all turns of a conversation, as JSON."""
PARAMETERS_MAX_BYTES = 4_000
RESULTS_MAX = 200
"""Most results that a search may show at once."""
NAME_MAX_CHARACTERS = 200
NESTED_MAX = 32

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=NAME_MAX_CHARACTERS), StorableWords
]


def _storable_json(value: dict[str, Any]) -> dict[str, Any]:
    """Checks that Postgres can store the JSON. Raises ValueError if not."""
    rest: list[tuple[Any, int]] = [(value, 0)]
    while rest:
        each, depth = rest.pop()
        if depth > NESTED_MAX:
            raise ValueError(f"must not be nested deeper than {NESTED_MAX} levels")
        if isinstance(each, str):
            storable(each)
        elif isinstance(each, dict):
            rest += [(part, depth + 1) for pair in each.items() for part in pair]
        elif isinstance(each, list):
            rest += [(part, depth + 1) for part in each]
    _size(value)
    return value


def _size(value: object) -> int:
    """The size in bytes as JSON. Raises ValueError for numbers that JSON does not allow."""
    return len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())


Json = Annotated[dict[str, Any], AfterValidator(_storable_json)]


def _few(parameters: dict[str, Any]) -> dict[str, Any]:
    if _size(parameters) > PARAMETERS_MAX_BYTES:
        raise ValueError(f"must not be longer than {PARAMETERS_MAX_BYTES:,} bytes as JSON")
    return parameters


Parameters = Annotated[Json, AfterValidator(_few)]


class Turn(Request):
    """A question and its answer, in the form the page needs to show them again."""

    question: QueryText
    answer: Json = Field(default={}, examples=[{"answer_id": "q3N1v0", "text": "It is sound [1]."}])


def _short(turns: list[Turn]) -> list[Turn]:
    if _size([turn.model_dump() for turn in turns]) > TURNS_MAX_BYTES:
        raise ValueError(f"must not be longer than {TURNS_MAX_BYTES:,} bytes as JSON, all turns together")
    return turns


Turns = Annotated[list[Turn], Field(min_length=1, max_length=TURNS_MAX), AfterValidator(_short)]


class NewConversation(Request):
    """`POST /me/conversations`. The default title is the first question."""

    domain: Domain
    title: Name | None = None
    turns: Turns


class ConversationChange(Request):
    """`PATCH /me/conversations/{id}`: a new title, a new list of turns, or both."""

    title: Name | None = None
    turns: Turns | None = None


class ConversationEntry(LazyModel):
    """A conversation in the list."""

    id: str
    domain: Domain
    title: str
    turn_count: int
    created_at: datetime.datetime
    updated_at: datetime.datetime


class Conversation(ConversationEntry):
    """A whole conversation."""

    turns: list[Turn]


class Conversations(LazyModel):
    """`GET /me/conversations`, latest first."""

    conversations: list[ConversationEntry]


class ResultKey(Request):
    """A result, by its type and id."""

    type: Identifier
    id: Identifier


Results = Annotated[list[ResultKey], Field(max_length=RESULTS_MAX)]


class NewSavedSearch(Request):
    """`POST /me/searches`. `results` are the ones it shows now. The default name is the query."""

    domain: Domain
    query: QueryText
    name: Name | None = None
    parameters: Parameters = Field(
        default={}, description="Filters and other parameters that the page needs to run the search again."
    )
    results: Results = []


class SavedSearchChange(Request):
    """`PATCH /me/searches/{id}`."""

    name: Name


class SavedSearch(LazyModel):
    """A search to run again. `opened_at` is when its results were last viewed."""

    id: str
    domain: Domain
    name: str
    query: str
    parameters: dict[str, Any]
    created_at: datetime.datetime
    opened_at: datetime.datetime


class SavedSearches(LazyModel):
    """`GET /me/searches`, latest first."""

    searches: list[SavedSearch]


class Opening(Request):
    """`POST /me/searches/{id}/opened`: what the search shows now, best first."""

    results: Results


class Opened(LazyModel):
    """The results that it has not shown before, and when it was last opened."""

    new: list[ResultKey]
    opened_before: datetime.datetime
