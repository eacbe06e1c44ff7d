"""The steps in which a model takes part in a search for people, each with its fallback."""

from __future__ import annotations

from quarry.models.step import ModelStep
from quarry.people.fallbacks import QueryToRead, give_reasons, read_by_rule
from quarry.people.outputs import PeopleQuery, PeopleReasons
from quarry.people.prompts import query_messages, reasons_messages
from quarry.people.reasons import ReasonsToGive, evidence

PEOPLE_CLEANUP = "people_cleanup"
"""The step that tidies the query up: plain text in, plain text out; without it, the query is read as it is."""

PEOPLE_QUERY: ModelStep[QueryToRead, PeopleQuery] = ModelStep(
    "people_query", lambda asked: query_messages(asked.cleaned, asked.today), PeopleQuery, read_by_rule
)

PEOPLE_REASONS: ModelStep[ReasonsToGive, PeopleReasons] = ModelStep(
    "people_reasons",
    lambda asked: reasons_messages(asked.constraints.query_original, [evidence(person) for person in asked.people]),
    PeopleReasons,
    give_reasons,
)
