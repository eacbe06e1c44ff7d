"""What a query is about in few words: the text to embed, phrases that combine its constraints, how much of it was understood."""

from __future__ import annotations

from itertools import pairwise, product

from quarry.people.contract import Constraints
from quarry.people.parsing.moods import Mood, is_small_talk
from quarry.people.parsing.reading import Reading
from quarry.people.parsing.tokens import unique

SEARCH_PHRASES_MIN, SEARCH_PHRASES_MAX = 5, 15
PHRASE_WORDS_MAX = 6

_ABOUT = frozenset({"skill", "topic", "word", "seniority", "employment", "team"})

WORD_UNDERSTOOD = 0.5
"""What a word counts for that was kept as a keyword, beside one that was recognised."""
CONFIDENCE_MAX = 0.95


def gist(reading: Reading, moods: list[Mood]) -> str:
    """The topical words in their order, then companies and places; nothing that is ruled out."""
    names = [
        span.value.partition(":")[2] if span.kind == "place" else span.value
        for span in reading.of_kind("company", "place")
        if moods[span.first] not in ("excluded", "unrelated")
    ]
    return " ".join([*(" ".join(run) for run in _topical_runs(reading, moods)), *unique(names)])


def search_phrases(constraints: Constraints, reading: Reading, moods: list[Mood]) -> list[str]:
    """The query's own phrases, then these with a company or place, then its words with them; where the query gives as many,
    SEARCH_PHRASES_MIN to SEARCH_PHRASES_MAX.
    """
    must = constraints.must
    runs = [" ".join(run[:PHRASE_WORDS_MAX]) for run in _topical_runs(reading, moods)]
    terms = unique(
        reading.words(span)
        for span in reading.of_kind("skill", "topic", "word", "seniority", "employment")
        if moods[span.first] not in ("excluded", "unrelated")
    )
    beside = [*must.company_norm, *([must.location_text] if must.location_text else [])]
    phrases = [*runs, *(f"{run} {name}" for run, name in product(runs, beside)), *beside]
    for more in (
        (f"{term} {name}" for term, name in product(terms, beside)),
        (f"{one} {other}" for one, other in pairwise(terms)),
        terms,
    ):
        if len(set(phrases)) < SEARCH_PHRASES_MIN:
            phrases += more
    return list(unique(phrase.lower() for phrase in phrases))[:SEARCH_PHRASES_MAX]


def confidence(reading: Reading) -> float:
    """The share of the words that say something which were recognised."""
    weights = [
        WORD_UNDERSTOOD if reading.kind_at(place) == "word" else 1.0
        for place in range(len(reading.tokens))
        if reading.kind_at(place) is not None or not is_small_talk(reading, place)
    ]
    return round(min(CONFIDENCE_MAX, sum(weights) / len(weights)), 2) if weights else 0.0


def _topical_runs(reading: Reading, moods: list[Mood]) -> list[list[str]]:
    """The words that say whom to find, as they were typed, those that stand side by side together."""
    runs: list[list[str]] = [[]]
    for place, token in enumerate(reading.tokens):
        topical = reading.kind_at(place) in _ABOUT and moods[place] not in ("excluded", "unrelated")
        if not topical or reading.starts_clause(place):
            runs.append([])
        if topical:
            runs[-1].append(token.text)
    return [run for run in runs if run]
