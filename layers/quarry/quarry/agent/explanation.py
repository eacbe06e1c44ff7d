"""How a question is read without a chat model: what its words may mean, the likeliest queries, and what was not read."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from itertools import zip_longest

from quarry.agent.reading import read_over
from quarry.agent.sources import Asked, what_may_be_asked
from quarry.language.tokens import phrase
from quarry.query.contract import ExplainedQuery, ExplainedWords, Explanation, ExplanationRequest
from quarry.query.paths import source_of
from quarry.reader.candidates import text_of
from quarry.reader.names import FieldName, SourceName
from quarry.reader.reading import Reading
from quarry.reader.said import Place
from quarry.services.services import Caller, Services

QUERIES_MAX = 8
"""The candidates that an explanation shows."""
VALUES_MAX = 3
LIKENESS_MIN = 0.5


async def explain(request: ExplanationRequest, caller: Caller, services: Services) -> Explanation:
    """How a question is read over the sources that a caller may ask. No query is run.

    Raises InvalidInput for a source that does not exist, and DatabaseUnavailable.
    """
    asked = await what_may_be_asked(caller, services)
    names = _names(request, asked)
    today = datetime.datetime.now(datetime.UTC).date()
    before = await read_over(request.after, names, asked, services, today) if request.after else None
    return explanation_of(await read_over(request.question, names, asked, services, today, before))


def _names(request: ExplanationRequest, asked: Asked) -> list[str]:
    for place, name in enumerate(request.sources):
        source_of(asked.schema, name, f"/sources/{place}")
    return list(request.sources) or [
        name for name in asked.schema.sources if request.domain in (None, asked.homes[name][0])
    ]


def explanation_of(reading: Reading) -> Explanation:
    """What a reading holds, for people. Pure."""
    rows = zip_longest(reading.best[:QUERIES_MAX], reading.pair_scores[:QUERIES_MAX])
    return Explanation(
        verdict=reading.verdict,
        chance=round(reading.chance, 3),
        unread=list(reading.unread),
        words=list(_words(reading)),
        queries=[
            ExplainedQuery(
                text=text_of(candidate.composed),
                query=dict(candidate.query),
                score=round(candidate.score, 2),
                pair_score=None if pair is None else round(pair, 2),
                probability=round(chance, 4),
            )
            for (candidate, chance), pair in rows
        ],
    )


def _words(reading: Reading) -> Iterator[ExplainedWords]:
    """Words of the question in their order, each with what they may mean."""
    said = reading.said
    for first, last, means in sorted(_meanings(reading)):
        yield ExplainedWords(text=phrase(said.text, said.tokens, first, last), means=means)


def _meanings(reading: Reading) -> Iterator[tuple[int, int, str]]:
    said = reading.said
    for named, places in said.named.items():
        if isinstance(named, FieldName | SourceName) and places[0].likeness >= LIKENESS_MIN:
            label = f"{named.source}.{named.name}" if isinstance(named, FieldName) else named.name
            yield places[0].first, places[0].last, label
    meant: list[tuple[Place, str]] = [
        *(
            (each.place, "; ".join(f"{link.source}.{link.field} = {link.value}" for link in each.links[:VALUES_MAX]))
            for each in said.values
        ),
        *((each.place, f"number {each.op} {each.one:g}") for each in said.numbers),
        *((each.place, f"from {each.days.first} to {each.days.last}") for each in said.days),
        *((each.place, f"time of {each.one:g} months") for each in said.lengths),
        *((each.place, "text") for each in said.texts),
    ]
    yield from ((place.first, place.last, means) for place, means in meant)
