"""Reading a question without a model, over the sources that a caller may query: one look-up of values, then no more I/O. And an
explanation of the reading: what the words may mean, the likeliest queries, and the unread words.
"""

from __future__ import annotations

import datetime
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, NamedTuple

from pydantic import ValidationError

from quarry.agent.service import with_known_measures, with_known_values, with_ties
from quarry.agent.sources import DataAccess, MatchedValue, data_access
from quarry.language.word_forms import STOP_WORDS, Token, keys, phrase, stem, tokenise
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.query.contract import ExplainedQuery, ExplainedStatement, ExplainedWords, Explanation, ExplanationRequest
from quarry.query.execute import compile_query
from quarry.query.paths import source_of, with_currencies
from quarry.reader.candidates import text_of
from quarry.reader.learned import learned, pair_model
from quarry.reader.mentions import Mentions, ValueLink
from quarry.reader.names import FieldName, SourceName, grouped
from quarry.reader.reading import Reading, likely_conditions, read_question
from quarry.retrieval.known_values import LookUp, look_up
from quarry.schema.algebra import Condition, Query
from quarry.schema.source import Source
from quarry.services.services import Caller, Services
from quarry.spans.mention import Mention, Place, ValueMatch
from quarry.spans.places import find_places

PLACE_NAMES_MAX = 1_000
"""How many names of a place are looked up: a region has the names of all places in it."""
MATCHES_MAX = 20
"""How many values are shown, those with the most words of the question first."""


async def matched_values(
    question: str, names: Sequence[str], access: DataAccess, services: Services
) -> list[MatchedValue]:
    """Values of listed fields of these sources that the caller may see. Raises DatabaseUnavailable."""
    tokens = tokenise(question)
    matches = [
        MatchedValue(link.source, link.field, link.value, _phrase(question, tokens[link.first : link.last]))
        for link in await value_links(question, names, access, services)
    ]
    return list(dict.fromkeys(matches))[:MATCHES_MAX]


async def value_links(question: str, names: Sequence[str], access: DataAccess, services: Services) -> list[ValueLink]:
    """The values that words of a question may mean, in listed fields of these sources that the caller may see; those with the
    most words first. Raises DatabaseUnavailable.
    """
    places = {
        (field.listed[0].name, field.listed[1]): (name, field.name, field.listed[0])
        for name in names
        for field in access.schema.sources[name].fields.values()
        if field.listed is not None
    }
    if not places:
        return []
    tokens = tokenise(question)
    tables = list({table.name: table for _, _, table in places.values()}.values())
    place_names = await off_loop(_place_names, question, tokens, tables)
    also = await off_loop(_other_words, tokens, tables, place_names)
    matches = await look_up(access.acting(services).reader, tables, tokens, also=also, owners=access.owners)
    return await off_loop(_links, tokens, matches, places, place_names, {(each.first, each.last) for each in also})


class PlaceName(NamedTuple):
    """The words from `first` to before `last` of a question, which name a place."""

    first: int
    last: int
    text: str
    place: Place


def _place_names(question: str, tokens: Sequence[Token], tables: Sequence[Source]) -> list[PlaceName]:
    """The places that a question names; none where no table has a field of places."""
    if not any(facet.facet == "place" for table in tables for facet in table.facets.values()):
        return []
    return [
        PlaceName(*span_of(tokens, mention), question[mention.start : mention.end], mention.value)
        for mention in find_places(question, tokens)
        if isinstance(mention.value, Place) and not mention.is_latent
    ]


def _links(
    tokens: Sequence[Token],
    matches: Sequence[ValueMatch],
    places: Mapping[tuple[str, str], tuple[str, str, Source]],
    place_names: Sequence[PlaceName],
    other: Container[tuple[int, int]],
) -> list[ValueLink]:
    """The values of these fields, and the places that no row has. `other` are words that stand for other words."""
    relevant = [each for each in matches if any((table, each.value.facet) in places for table in each.value.tables)]
    best = sorted(_telling(relevant, tokens, other), key=lambda match: (match.first - match.last, -match.value.rows))
    links = [
        ValueLink(
            match.first, match.last, *places[table, match.value.facet][:2], match.value.value, match.value.rows,
            match.value.is_whole,
        )
        for match in best
        for table in match.value.tables
        if (table, match.value.facet) in places
    ]  # fmt: skip
    fields = [(source, field, table.facets[field]) for source, field, table in places.values()]
    of_places = [(source, field) for source, field, facet in fields if facet.facet == "place"]
    links = _united_places(place_names, links, of_places)
    return [*links, *_unknown_places(place_names, of_places, links)]


def _united_places(
    place_names: Sequence[PlaceName], links: Sequence[ValueLink], of_places: Container[tuple[str, str]]
) -> list[ValueLink]:
    """The links, with one for each field of places whose values a named place means: the spellings of it, or the places in it.
    A region is of the field of each source where most rows are in it: a city of a country's name is none.
    """
    merged = list(links)
    for first, last, text, place in place_names:
        same = (each for each in merged if (each.first, each.last) == (first, last))
        within = [each for each in same if (each.source, each.field) in of_places]
        by_field = grouped(((each.source, each.field), each) for each in within)
        one = [_as_one(same, text) for same in by_field.values()]
        if place.kind in ("region", "continent"):
            one = list({each.source: each for each in sorted(one, key=lambda each: each.rows)}.values())
        merged = [*one, *(each for each in merged if each not in within)]
    return merged


def _as_one(links: Sequence[ValueLink], phrase: str) -> ValueLink:
    """The values that words for a place mean in a field, as one."""
    if len(links) == 1:
        return links[0]
    rows = sum(each.rows for each in links)
    return replace(links[0], value=phrase, rows=rows, is_whole=True, means=tuple(each.value for each in links))


def _unknown_places(
    place_names: Sequence[PlaceName], of_places: Iterable[tuple[str, str]], links: Sequence[ValueLink]
) -> Iterator[ValueLink]:
    """The places that a question names and no row has, as values of the fields of places."""
    for first, last, text, place in place_names:
        if not any(link.first < last and first < link.last for link in links):
            kind = "city" if place.kind == "city" else "country"
            yield from (ValueLink(first, last, source, field, text) for source, field in of_places if field == kind)


def _other_words(tokens: Sequence[Token], tables: Sequence[Source], place_names: Sequence[PlaceName]) -> list[LookUp]:
    """Other words for words of a question: the names of places, and values with synonyms."""
    facets = [facet for table in tables for facet in table.facets.values()]
    stems = [stem(token.key) for token in tokens]
    synonyms = {tuple(map(stem, keys(words))): (value, each.name) for each in facets for words, value in each.synonyms}
    look_ups = [
        LookUp(first, first + length, *synonyms[words])
        for length in sorted({len(words) for words in synonyms})
        for first in range(len(stems) - length + 1)
        if (words := tuple(stems[first : first + length])) in synonyms
    ]
    names = ((each, name) for each in place_names for name in each.place.names[:PLACE_NAMES_MAX])
    return [*look_ups, *(LookUp(each.first, each.last, name) for each, name in names)]


def span_of(tokens: Sequence[Token], mention: Mention) -> tuple[int, int]:
    """The words of a mention: the first, and the one after the last."""
    within = [place for place, token in enumerate(tokens) if mention.start <= token.start < mention.end]
    return (within[0], within[-1] + 1) if within else (0, 0)


def _telling(
    matches: Sequence[ValueMatch], tokens: Sequence[Token], other: Container[tuple[int, int]] = ()
) -> list[ValueMatch]:
    """The matches without those of stop words only ("a", a grade), unless these are `other` words ("the US"), and without those
    of a part of another match's words.
    """
    spans = {(match.first, match.last) for match in matches}

    def is_telling(match: ValueMatch) -> bool:
        first, last = match.first, match.last
        is_part = any(a <= first and last <= b and (a, b) != (first, last) for a, b in spans)
        is_said = (first, last) in other or any(token.key not in STOP_WORDS for token in tokens[first:last])
        return is_said and not is_part

    return [match for match in matches if is_telling(match)]


def _phrase(question: str, tokens: Sequence[Token]) -> str:
    return question[tokens[0].start : tokens[-1].end] if tokens else ""


async def read_over(
    question: str,
    names: Sequence[str],
    access: DataAccess,
    services: Services,
    today: datetime.date,
    before: Reading | None = None,
) -> Reading:
    """What a question asks of these sources; it may continue the one `before`. Raises DatabaseUnavailable."""
    links = await value_links(question, names, access, services)
    schema = replace(access.schema, sources={name: access.schema.sources[name] for name in names})
    pairs = await off_loop(pair_model) if isinstance(services.embeddings, LocalEmbedding) else None
    return await off_loop(read_question, question, schema, links, today, await off_loop(learned), before, pairs)


def states_in_full(reading: Reading, conditions: Iterable[Condition], in_parts: Container[str] = ()) -> bool:
    """Whether the question says each value of the conditions in full: some words of a value may mean something else ("at home").
    Values of the fields `in_parts` may be said in part.
    """
    likely = {each.condition: each for each in likely_conditions(reading)}
    likely_ones = [likely[each] for each in conditions if each in likely]
    return all(each.stated == 1 or all(field in in_parts for field in each.fields) for each in likely_ones)


QUERIES_MAX = 8
"""How many candidates an explanation shows."""
VALUES_MAX = 3
LIKENESS_MIN = 0.5


async def explain(request: ExplanationRequest, caller: Caller, services: Services) -> Explanation:
    """How a question is read over the sources that a caller may query. No query is run.

    Raises InvalidInput for a source that does not exist, and DatabaseUnavailable.
    """
    access = await data_access(caller, services)
    names = _names(request, access)
    today = access.today
    if request.query is not None:
        return await _stated(as_query(request.query), access, services, today)
    before = await read_over(request.after, names, access, services, today) if request.after else None
    return explanation_of(await read_over(request.question, names, access, services, today, before))


def as_query(parameters: Mapping[str, Any]) -> Query:
    """The query that JSON says. Raises InvalidInput."""
    try:
        return Query.model_validate(parameters)
    except ValidationError as error:
        raise InvalidInput([FieldError("/query", each["msg"]) for each in error.errors()]) from None


async def _stated(query: Query, access: DataAccess, services: Services, today: datetime.date) -> Explanation:
    """The statement of a query, with its values as the data spells them."""
    source_of(access.schema, query.source, "/query/source")
    reader = access.acting(services).reader
    access = await with_known_measures(query, access, reader)
    query = await with_known_values(query, access, reader)
    statement = await off_loop(compile_query, with_currencies(with_ties(query), access.schema), access.schema, today)
    items = statement.parameters.items()
    parameters = {name: value if isinstance(value, str | int | float) else str(value) for name, value in items}
    stated = ExplainedStatement(sql=statement.sql.as_string(), parameters=parameters)
    return Explanation(verdict="confident", chance=1, unread=[], words=[], queries=[], statement=stated)


def _names(request: ExplanationRequest, access: DataAccess) -> list[str]:
    for place, name in enumerate(request.sources):
        source_of(access.schema, name, f"/sources/{place}")
    of_domain = [name for name in access.schema.sources if request.domain in (None, access.homes[name][0])]
    return list(request.sources) or of_domain


def explanation_of(reading: Reading) -> Explanation:
    """A reading as an explanation. Pure."""
    mentions = reading.mentions
    rows = zip_longest(reading.best[:QUERIES_MAX], reading.pair_scores[:QUERIES_MAX])
    return Explanation(
        verdict=reading.verdict,
        chance=round(reading.chance, 3),
        unread=list(reading.unread),
        words=[
            ExplainedWords(text=phrase(mentions.text, mentions.tokens, first, last), means=means)
            for first, last, means in sorted(_meanings(mentions))
        ],
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


def _meanings(mentions: Mentions) -> Iterator[tuple[int, int, str]]:
    """What words of the question may mean: the first, the one after the last, and the meaning."""
    for name, places in mentions.places.items():
        if isinstance(name, FieldName | SourceName) and places[0].likeness >= LIKENESS_MIN:
            label = f"{name.source}.{name.name}" if isinstance(name, FieldName) else name.name
            yield places[0].first, places[0].last, label
    meanings = [
        *(
            (each.place, "; ".join(f"{link.source}.{link.field} = {link.value}" for link in each.links[:VALUES_MAX]))
            for each in mentions.values
        ),
        *((each.place, f"number {each.op} {each.one:g}") for each in mentions.numbers),
        *((each.place, f"from {each.days.first} to {each.days.last}") for each in mentions.days),
        *((each.place, f"time of {each.one:g} months") for each in mentions.lengths),
        *((each.place, "text") for each in mentions.texts),
    ]
    yield from ((place.first, place.last, means) for place, means in meanings)
