"""Phrases of a closed list, found in a text as the longest that begins at each word; and the words that a table brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from quarry.language.nouns import deed_of, plural
from quarry.language.stemming import stem, stem_set, stems_of
from quarry.language.tokens import Token, keys
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.date_verbs import is_verb
from quarry.spans.measures import QUANTITIES
from quarry.spans.mention import Cue, FacetName, Grain

Meaning = TypeVar("Meaning")

PERIODS: Mapping[str, Grain] = {
    "day": "day", "date": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year",
}  # fmt: skip


@dataclass(frozen=True)
class Found(Generic[Meaning]):
    """The words `first` to `last` (not included) and what they mean."""

    first: int
    last: int
    meaning: Meaning


@dataclass(frozen=True)
class LookUp:
    """A phrase that the words `first` to `last` (not included) may stand for, to be looked up as if it stood there."""

    first: int
    last: int
    phrase: str
    facet: str | None = None


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word.removesuffix("s")


def stems(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(stem(token.key) for token in tokens)


def _by_noun(tables: Iterable[SearchTable], of: Callable[[SearchTable], Meaning]) -> dict[tuple[str, ...], Meaning]:
    """What is so `of` each of the tables, by the stems of what its rows are called."""
    return {stems_of(noun): told for own in tables for told in [of(own)] for noun in own.nouns}


_SERVING = stem_set("servings serves portions seats sleeps capacity guests persons")
"""What a number is called that says for how many people something is."""


def _terms(table: SearchTable) -> Iterator[tuple[str, FacetName | Cue]]:
    for noun in table.nouns:
        yield from ((name, Cue("noun")) for name in (noun, plural(noun)))
    if table.reckons:
        # "the heaviest piece of equipment"
        yield from ((said, Cue("filler")) for said in ("piece of", "item of"))
    yield from _facet_terms(table)


def _facet_terms(table: SearchTable) -> Iterator[tuple[str, FacetName | Cue]]:
    named: dict[tuple[str, ...], list[str]] = {}
    written: dict[tuple[str, ...], str] = {}
    for facet in table.facets:
        if facet.kind == "words":
            # what a row says is the row: "how many texts mention …"
            yield from ((name, Cue("noun")) for name in (facet.label, *facet.words))
            continue
        if facet.counts or (facet.kind == "text" and table.reckons):
            # that a row lacks a text is said in more words than its name
            continue
        counted = [unit for unit in facet.units if facet.kind == "number" and unit not in PERIODS]
        # a quantity is of units, whatever these are
        said = {*facet.name_words}
        is_of_units = facet.kind == "number" and said & QUANTITIES and not said & _LIMITS
        counted += ["unit", "piece"] if is_of_units else []
        for name in (facet.label, facet.plural, *facet.words, *counted, *_turned(facet)):
            phrase = tuple(_singular(key) for key in keys(name))
            written.setdefault(phrase, name)
            if facet.name not in named.setdefault(phrase, []):
                named[phrase].append(facet.name)
    for phrase, facets in named.items():
        yield written[phrase], FacetName(tuple(facets))
    if table.date:
        for word, grain in PERIODS.items():
            yield word, FacetName((table.date,), grain)


_LIMITS = frozenset("min minimum max maximum reorder limit target threshold".split())
"""What the name of a number says that it is not of what there is."""


def _turned(facet: Facet) -> Iterator[str]:
    """A facet's name as it is said in a sentence: "type of boat" for `boat_type`, "needs a licence" for `needs_licence`."""
    match facet.name_words:
        case (first, last) if facet.kind == "boolean":
            yield from (f"{first} {article} {last}" for article in ("a", "an", "the"))
        case (first, last) if facet.kind in ("value", "title", "place"):
            yield from (f"{last} of {article}{first}" for article in ("", "the ", "a "))


def _deeds(facet: Facet) -> tuple[str, ...]:
    match facet.name_words:
        case (*_, last) if facet.is_listed and (deed := deed_of(last)):
            return (deed,)
        case (verb, "by" | "to") if facet.is_listed and is_verb(verb):
            return (verb.removesuffix("ed"),)
        case (verb, particle, "by") if facet.is_listed and is_verb(verb):
            # "checked in by"
            return (f"{verb.removesuffix('ed')} {particle}",)
    return ()


def _leads(facets: Sequence[Facet]) -> Mapping[str, frozenset[str]]:
    leads: dict[str, set[str]] = {}
    for facet in facets:
        for lead in facet.leads:
            leads.setdefault(lead.lower(), set()).add(facet.name)
    return {lead: frozenset(names) for lead, names in leads.items()}
