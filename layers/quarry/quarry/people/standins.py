"""What is decided about people when no model does: how a query reads, and why a person was found. By rule, from the same inputs.

Pure: the same inputs give the same words.
"""

from __future__ import annotations

from dataclasses import dataclass

from quarry.people.decisions import PeopleQuery, PeopleReasons, PersonReasons
from quarry.people.found import Vocabulary
from quarry.people.parsing.known import KnownNames
from quarry.people.parsing.query_parser import parse
from quarry.people.reasons import ReasonsToGive, fallback_reasons


@dataclass(frozen=True)
class QueryToRead:
    """A query as it was typed and as it was tidied up, and which of its phrases are names in the data."""

    original: str
    cleaned: str
    vocabulary: Vocabulary


def read_by_rule(asked: QueryToRead) -> PeopleQuery:
    """The constraints that the rules of `parsing` find in the query."""
    constraints = parse(asked.cleaned, KnownNames(asked.vocabulary))
    return PeopleQuery.model_validate(constraints.model_dump() | {"query_original": asked.original})


def give_reasons(asked: ReasonsToGive) -> PeopleReasons:
    return PeopleReasons(
        people=[
            PersonReasons(person_id=person.id, why_matched=fallback_reasons(person, asked.filters))
            for person in asked.people
        ]
    )
