"""Reading a query for people: tidied up, turned into constraints, and these put in their one form."""

from __future__ import annotations

from typing import NamedTuple

from quarry.language.everyday import is_everyday
from quarry.language.tokens import tokenise
from quarry.models.step import decide
from quarry.people.checks import as_in_data
from quarry.people.contract import Constraints
from quarry.people.facets import PEOPLE
from quarry.people.fallbacks import QueryToRead
from quarry.people.normalisation import cleaned_query, normalise
from quarry.people.prompts import cleanup_messages
from quarry.people.query.reader import constraints_of
from quarry.people.steps import PEOPLE_CLEANUP, PEOPLE_QUERY
from quarry.people.validation import validated
from quarry.platform.errors import ModelError
from quarry.platform.off_loop import off_loop
from quarry.retrieval.reading import read_question
from quarry.runs.run_log import Run
from quarry.services.services import Services
from quarry.spans.mention import Known, ParsedQuery, Word

READING_TURNS = 3
"""Turns of the model: the cleanup, the constraints, and one repair of these."""
CLEANUP_SECONDS = 6.0
"""The cleanup does least of all that a model does here; it must not use up the time of the rest."""


class ReadQuery(NamedTuple):
    """What a query asks for. `asks_nothing`: it is a greeting or the like, and no model was asked to read it."""

    constraints: Constraints
    asks_nothing: bool = False


async def read_query(query: str, services: Services, run: Run) -> ReadQuery:
    """What the query asks for: as a model reads it, else by its words and the values of the data. A failing model only degrades;
    raises DatabaseUnavailable.
    """
    with run.step("vocabulary"):
        reading = await read_question(services.reader, PEOPLE, query)
        read = normalise(await off_loop(constraints_of, reading.parsed, reading.question))
    if reading.parsed.asks_nothing:
        return ReadQuery(read, asks_nothing=True)
    read.query_cleaned = cleaned = query if _is_tidy(reading.parsed) else await _clean_up(query, run)
    asked = QueryToRead(query, cleaned, reading.parsed.reference_date, read)
    output = await decide(PEOPLE_QUERY, asked, run)
    if run.chat is None or PEOPLE_QUERY.name in run.degraded:
        return ReadQuery(read)
    with run.step("validate"):
        said = await off_loop(validated, output, query, cleaned)
        return ReadQuery(await as_in_data(said, services.reader))


def _is_tidy(parsed: ParsedQuery) -> bool:
    """Whether every word is an everyday one, a figure or a place, or is spelt as in the data: there is nothing to correct."""
    return all(
        is_everyday(token.key) or any(map(str.isdigit, token.key))
        for mention in parsed.mentions
        if isinstance(mention.value, Word)
        or (isinstance(mention.value, Known) and any(each.likeness < 1 for each in mention.value.values))
        for token in tokenise(parsed.said(mention))
    )


async def _clean_up(query: str, run: Run) -> str:
    """The query without slips of the pen; as it is where no model mends them."""
    if run.chat is None:
        return query
    with run.step(PEOPLE_CLEANUP) as record:
        if run.budget.allows_turn():
            run.budget.spend_turn()
            seconds = min(CLEANUP_SECONDS, run.budget.seconds_for_work)
            try:
                turn = await run.chat.take_turn(cleanup_messages(query), tools=(), seconds=seconds)
            except ModelError:
                pass
            else:
                record.usage = turn.usage
                run.budget.tokens += turn.usage.total
                return cleaned_query(query, turn.text)
        run.degrade(PEOPLE_CLEANUP, record)
        return query
