"""What is given when no model decides: how a query reads, and why a person was found. By rule, from the same inputs.

Pure: the same inputs give the same words.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from quarry.people.contract import Constraints
from quarry.people.outputs import PeopleQuery, PeopleReasons, PersonReasons
from quarry.people.reasons import ReasonsToGive, fallback_reasons


@dataclass(frozen=True)
class QueryToRead:
    """A query as it was typed and as it was tidied up, the day it was asked on, and what it says by rule."""

    original: str
    cleaned: str
    today: datetime.date
    read: Constraints


def read_by_rule(asked: QueryToRead) -> PeopleQuery:
    """The constraints that were read in the light of the data."""
    return PeopleQuery.model_validate(asked.read.model_dump())


def give_reasons(asked: ReasonsToGive) -> PeopleReasons:
    return PeopleReasons(
        people=[
            PersonReasons(person_id=person.id, why_matched=fallback_reasons(person, asked.filters))
            for person in asked.people
        ]
    )
