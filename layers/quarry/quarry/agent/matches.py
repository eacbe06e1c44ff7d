"""The values of the data that words of a question may mean, for a model to use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quarry.agent.card import MatchedValue
from quarry.agent.sources import Asked
from quarry.language.stemming import stem, stems_of
from quarry.language.tokens import Token, tokenise
from quarry.platform.text import STOP_WORDS
from quarry.reader.values import ValueLink
from quarry.retrieval.facets import SearchTable
from quarry.retrieval.vocabulary import look_up
from quarry.services.services import Services
from quarry.spans.lexicon import LookUp
from quarry.spans.mention import ValueMatch

MATCHES_MAX = 20
"""So many values are shown, those first of which most words were said."""


async def matched_values(question: str, names: Sequence[str], asked: Asked, services: Services) -> list[MatchedValue]:
    """Values of listed fields of these sources that the caller may see. Raises DatabaseUnavailable."""
    tokens = tokenise(question)
    found = [
        MatchedValue(link.source, link.field, link.value, _said(question, tokens[link.first : link.last]))
        for link in await value_links(question, names, asked, services)
    ]
    return list(dict.fromkeys(found))[:MATCHES_MAX]


async def value_links(question: str, names: Sequence[str], asked: Asked, services: Services) -> list[ValueLink]:
    """What words of a question may mean in listed fields of these sources that the caller may see, what most words say first.
    Raises DatabaseUnavailable.
    """
    places = {
        (field.listed[0].name, field.listed[1]): (name, field.name, field.listed[0])
        for name in names
        for field in asked.schema.sources[name].fields.values()
        if field.listed is not None
    }
    if not places:
        return []
    tokens = tokenise(question)
    tables = {table.name: table for _, _, table in places.values()}
    reader = asked.acting(services).reader
    also = _synonyms(tokens, tables.values())
    vocabulary = await look_up(reader, list(tables.values()), tokens, also=also, owners=asked.owners)
    best = sorted(_telling(vocabulary.matches, tokens), key=lambda match: (match.first - match.last, -match.value.rows))
    return [
        ValueLink(
            match.first, match.last, *places[table, match.value.facet][:2], match.value.value, match.value.rows,
            match.value.is_whole,
        )
        for match in best
        for table in match.value.tables
        if (table, match.value.facet) in places
    ]  # fmt: skip


def _synonyms(tokens: Sequence[Token], tables: Iterable[SearchTable]) -> list[LookUp]:
    """The values that words stand for by what their fields declare ("rejected", a result Defeated)."""
    said = [stem(token.key) for token in tokens]
    declared = dict.fromkeys(
        (stems_of(word), value, facet.name)
        for table in tables
        for facet in table.facets
        for word, value in facet.synonyms
    )
    return [
        LookUp(first, first + len(words), value, facet)
        for words, value, facet in declared
        for first in range(len(said) - len(words) + 1)
        if words and said[first : first + len(words)] == [*words]
    ]


def _telling(matches: Sequence[ValueMatch], tokens: Sequence[Token]) -> list[ValueMatch]:
    """The matches without those of small words alone ("a", a grade), and of a part of the words that another one explains."""
    spans = {(match.first, match.last) for match in matches}

    def is_telling(match: ValueMatch) -> bool:
        first, last = match.first, match.last
        is_part = any(a <= first and last <= b and (a, b) != (first, last) for a, b in spans)
        return not is_part and any(token.key not in STOP_WORDS for token in tokens[first:last])

    return [match for match in matches if is_telling(match)]


def _said(question: str, tokens: Sequence[Token]) -> str:
    return question[tokens[0].start : tokens[-1].end] if tokens else ""
