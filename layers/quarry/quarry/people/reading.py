"""Reading a query for people: by the chat model where there is one, else by its segments and what was learned of them."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import NamedTuple

from quarry.language.tokens import tokenise
from quarry.language.word_forms import is_everyday
from quarry.models.step import decide
from quarry.people.as_query import RankedQuery, payload_of, query_of
from quarry.people.as_read import constraints_of
from quarry.people.checks import as_in_data
from quarry.people.facets import PEOPLE
from quarry.people.meaning import learned, read_parts
from quarry.people.normalisation import cleaned_query, normalise
from quarry.people.prompts import cleanup_messages
from quarry.people.segments import TOKENS_MAX, Cut, measured, put_together, to_look_up
from quarry.people.steps import PEOPLE_CLEANUP, PEOPLE_QUERY, QueryToRead
from quarry.people.validation import validated
from quarry.platform.errors import ModelError
from quarry.platform.off_loop import off_loop
from quarry.postgres.pool import Database
from quarry.retrieval.vocabulary import look_up
from quarry.runs.run_log import Run
from quarry.services.services import Services

READING_TURNS = 3
"""Turns of the model: the cleanup, the constraints, and one repair of these."""
CLEANUP_SECONDS = 6.0
"""The cleanup does least of all that a model does here; it must not use up the time of the rest."""


class ReadQuery(NamedTuple):
    """What a query asks for. `is_tidy`: every word is an everyday one or spelt as in the data: there is nothing to correct."""

    asked: RankedQuery
    is_tidy: bool


async def read_query(query: str, services: Services, run: Run) -> RankedQuery:
    """What the query asks for. A failing model only degrades; raises DatabaseUnavailable."""
    today = datetime.datetime.now(datetime.UTC).date()
    with run.step("vocabulary"):
        asked, is_tidy = await read_without_model(query, services.reader, today)
    cleaned = query if is_tidy else await _clean_up(query, run)
    asked = replace(asked, cleaned=cleaned)
    output = await decide(PEOPLE_QUERY, QueryToRead(cleaned, today, payload_of(asked)), run)
    if run.chat is None or PEOPLE_QUERY.name in run.degraded:
        return asked
    with run.step("validate"):
        said = await as_in_data(await off_loop(validated, output, query, cleaned), services.reader)
        return query_of(said)


async def read_without_model(query: str, database: Database, today: datetime.date) -> ReadQuery:
    """The query read by its segments, in one look-up of values. Raises DatabaseUnavailable."""
    tokens = tokenise(query)[:TOKENS_MAX]
    found = await off_loop(measured, query, tokens, today)
    forms, doubtful = await off_loop(to_look_up, tokens, found)
    vocabulary = await look_up(database, [PEOPLE], tokens, forms=forms, doubtful=doubtful)
    return await off_loop(lambda: read_cut(put_together(query, tokens, found, vocabulary.matches)))


def read_cut(query: Cut) -> ReadQuery:
    """What the segments of a query ask for."""
    read = read_parts(query, learned())
    return ReadQuery(query_of(normalise(constraints_of(query, read))), _is_tidy(query))


def _is_tidy(query: Cut) -> bool:
    return all(
        any(each.likeness == 1 for each in segment.values) if segment.values
        else segment.value is not None or _are_everyday(query, segment.first, segment.last)
        for segment in query.segments
    )  # fmt: skip


def _are_everyday(query: Cut, first: int, last: int) -> bool:
    return all(is_everyday(token.key) or any(map(str.isdigit, token.key)) for token in query.tokens[first:last])


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
