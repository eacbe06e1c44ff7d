"""The steps in which a model takes part in a search for people, each with what is given when no model decides: by rule, from the
same inputs.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from quarry.models.step import ModelStep
from quarry.people.contract import Constraints
from quarry.people.outputs import PeopleQuery, PeopleReasons, PersonReasons
from quarry.people.prompts import query_messages, reasons_messages
from quarry.people.reasons import ReasonsToGive, evidence, fallback_reasons

PEOPLE_CLEANUP = "people_cleanup"
"""The step that tidies the query up: plain text in, plain text out; without it, the query is read as it is."""


@dataclass(frozen=True)
class QueryToRead:
    """A query as it was tidied up, the day it was asked on, and how it is read without a model."""

    cleaned: str
    today: datetime.date
    read: Constraints


PEOPLE_QUERY: ModelStep[QueryToRead, PeopleQuery] = ModelStep(
    "people_query",
    lambda asked: query_messages(asked.cleaned, asked.today),
    PeopleQuery,
    lambda asked: PeopleQuery(must=asked.read.must, should=asked.read.should, exclude=asked.read.exclude),
)


def _reasons_by_rule(asked: ReasonsToGive) -> PeopleReasons:
    return PeopleReasons(
        people=[
            PersonReasons(person_id=person.id, why_matched=fallback_reasons(person, asked.filters))
            for person in asked.people
        ]
    )


PEOPLE_REASONS: ModelStep[ReasonsToGive, PeopleReasons] = ModelStep(
    "people_reasons",
    lambda asked: reasons_messages(asked.constraints.query_original, [evidence(person) for person in asked.people]),
    PeopleReasons,
    _reasons_by_rule,
)
