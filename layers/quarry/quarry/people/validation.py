"""A model's reading of a query, checked against its words: what no words say is dropped, and nothing is added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from quarry.language.tokens import Token, keys, stem, tokenise
from quarry.people.constraints import ANYBODY, about
from quarry.people.contract import Constraints
from quarry.people.facets import PEOPLE
from quarry.people.normalisation import normalise
from quarry.people.outputs import PeopleQuery, Quote
from quarry.people.places import spellings
from quarry.platform.contract import Assertion, Evidence
from quarry.spans.mention import Span

QUOTES_MAX = 100

_ASSERTIONS: Mapping[str, Assertion] = {"must": "affirmed", "should": "preferred", "exclude": "negated"}
_PLACES = frozenset({"city", "country", "location", "location_text", "preferred_locations", "or_preferred_locations"})
_SWITCHES = {"open_to_work_only": "open_to_work", "open_to_work": "open_to_work", "is_current": "is_current"}
"""Conditions that are true or false, with the facet whose names may say them."""


def validated(output: PeopleQuery, original: str, cleaned: str) -> Constraints:
    """The constraints of `output` that words of the query say, in their one form, with the characters that say them."""
    given = normalise(
        Constraints(
            query_original=original,
            query_cleaned=cleaned,
            must=output.must,
            should=output.should,
            exclude=output.exclude,
            query_embedding_text=output.query_embedding_text,
            confidence_score=output.confidence_score or 0.0,
        )
    )
    spoken = Spoken(original, cleaned, output.quotes[:QUOTES_MAX])
    evidence: list[Evidence] = []
    parts = {name: _said(name, getattr(given, name), spoken, evidence) for name in _ASSERTIONS}
    kept = normalise(given.model_copy(update=parts | {"evidence": evidence}))
    if not kept.query_embedding_text or _holds_excluded(kept):
        kept.query_embedding_text = about(kept) or (ANYBODY if kept.evidence else "")
    return kept


def _said(name: str, part: BaseModel, spoken: Spoken, evidence: list[Evidence]) -> BaseModel:
    """The part of the constraints with those of its values that are said; which words say them goes to `evidence`."""
    update: dict[str, Any] = {}
    for field, value in part:
        values = value if isinstance(value, list) else [] if value is None else [value]
        spans = [(each, spoken.span(name, field, each, values)) for each in values]
        found = [(each, span) for each, span in spans if span is not None]
        update[field] = [each for each, _ in found] if isinstance(value, list) else found[0][0] if found else None
        evidence += (
            Evidence(
                field=f"{name}.{field}", value=str(each).lower(), start=span.start, end=span.end,
                assertion=_ASSERTIONS[name],
            )
            for each, span in found
        )  # fmt: skip
    return part.model_copy(update=update)


def _holds_excluded(constraints: Constraints) -> bool:
    exclude = constraints.exclude
    text = _stems(constraints.query_embedding_text)
    names = (*exclude.company_norm, *exclude.keywords, *exclude.team_norm, *exclude.location)
    return any(_stems(name) <= text for name in names if keys(name))


@dataclass(frozen=True)
class _Words:
    """The words of a query by their stems, and the tokens that stand for them in the query as it was typed, if any do."""

    stems: Sequence[str]
    typed: Sequence[Token]

    def run(self, text: str) -> tuple[int, int] | None:
        """The first and the last of words that together hold all words of a text."""
        wanted = {stem(key) for key in keys(text)}
        if not wanted or not wanted <= set(self.stems):
            return None
        last = max(self.stems.index(each) for each in wanted)
        first, missing = last, set(wanted)
        while missing := missing - {self.stems[first]}:
            first -= 1
        return first, last


class Spoken:
    """The words of a query, as it was typed and as it was tidied up, and the words that a model quotes from it."""

    def __init__(self, original: str, cleaned: str, quotes: Sequence[Quote]) -> None:
        self._original, self._quotes = original, quotes
        typed = tokenise(original)
        tidied = [stem(token.key) for token in tokenise(cleaned)]
        self._words = (
            _Words([stem(token.key) for token in typed], typed),
            _Words(tidied, typed if len(tidied) == len(typed) else ()),
        )

    def span(self, part: str, field: str, value: Any, beside: Iterable[Any]) -> Span | None:
        """The characters that say a value: its own words, else words quoted for it that say no other value `beside` it."""
        own = self._own(field, value)
        if own is not None:
            return own
        others = [stem_set for each in beside if each != value and (stem_set := _stems(str(each)))]
        for quote in self._quotes:
            if quote.key in (f"{part}.{field}", field) and not any(each <= _stems(quote.words) for each in others):
                start = self._original.lower().find(quote.words.lower())
                if start >= 0 and keys(quote.words):
                    return Span(start, start + len(quote.words))
        return None

    def _own(self, field: str, value: Any) -> Span | None:
        for words in self._words:
            if isinstance(value, float):
                runs = ((place, place) for place, each in enumerate(words.stems) if each[:1].isdigit())
            else:
                runs = (run for each in _ways_to_say(field, value) if (run := words.run(each)))
            for first, last in runs:
                if not words.typed:
                    return Span(0, len(self._original))
                return Span(words.typed[first].start, words.typed[last].end)
        return None


def _ways_to_say(field: str, value: Any) -> Iterator[str]:
    """The words that say a value: any of them is enough."""
    if isinstance(value, bool):
        facet = PEOPLE.facet(_SWITCHES[field])
        yield from (facet.label, *facet.words) if value else ()
    elif field in _PLACES:
        yield from spellings(value)
    elif field == "role":
        yield from value.split("|")
    elif value[:4].isdigit() and value[4:5] == "-":
        yield value[:4]
    else:
        yield value.replace("_", " ")


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, keys(text)))
