"""How likely the records that a search found answer its question: one fitted probability.

A logistic regression weighs what is known of a search: how near the nearest records are and how far before the others, which
words of the question they hold, and how well the best sentence answers by the pair model. `tools/fit/answerability.py` fits the
weights to questions over several collections and writes them to `weights/answerability.json`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from quarry.language.numerals import is_number, words_of
from quarry.platform.text import placed_words
from quarry.records.asked_words import AskedWord, asked_words, names_held_by_none
from quarry.records.candidates import RecordKey
from quarry.records.extraction import Quote, extract
from quarry.records.facts import Facts
from quarry.records.fitted import fitted_for
from quarry.records.intent import is_asked
from quarry.records.refusals import doubt, nothing_held
from quarry.records.tools import Searched, SearchToolset

NEAREST = 10
"""Records whose similarities say how far the nearest stands out."""
ALL = 0.999
"""This share of a sum of weights is all of it, however it was rounded."""


async def facts_of(query: str, first: Searched, toolset: SearchToolset) -> Facts:
    """What is known before anything is quoted: that the records hold nothing that answers, with the nearest that they do hold; or
    that what is quoted may not answer. Raises DatabaseUnavailable.
    """
    authors = toolset.reading.authors
    if not first.ranked:
        return Facts(authors=authors)
    said = [each for each in first.sources if each.text.author in authors]
    quotes = await extract(query, said or first.sources, toolset.services)
    if "query_embedding" in toolset.run.degraded:
        # what a failing model would have found is not known
        return Facts(authors=authors, quotes=quotes, chance=1.0)
    with toolset.run.step("records_answerability"):
        asked = await asked_words(query, first, toolset)
    fitted = fitted_for(toolset.services.embeddings.name if _has_meaning(first) else "")
    likely = fitted.probability(features_of(query, first, asked, quotes))
    names = names_held_by_none(toolset, asked)
    missing = names or [each.word for each in asked if each.is_missing and not each.is_near]
    # a record that holds every word may answer, however short the question is, and so may what the person asked about said
    may_answer = bool(said) or is_all_held(asked)
    is_refused = bool(names) or (likely < fitted.refused_below and not may_answer)
    if is_refused and is_asked(query):
        return Facts(nothing_held(query, missing, first.sources), is_all=True, chance=min(likely, fitted.refused_below))
    doubted = doubt(missing) if likely < fitted.doubted_below else ""
    return Facts(authors=authors, doubt=doubted, quotes=quotes, chance=likely)


def _has_meaning(first: Searched) -> bool:
    return any(each.similarity is not None for each in first.ranked)


def features_of(query: str, first: Searched, asked: Sequence[AskedWord], quotes: Sequence[Quote]) -> dict[str, float]:
    """What is known of a search, by name. Pure."""
    found = {"always": 1.0}
    found |= _nearness(first, quotes if is_asked(query) else ())
    found |= _coverage(asked)
    found |= dict(_held_by_quotes(query, quotes))
    return found


def _nearness(first: Searched, quotes: Sequence[Quote]) -> dict[str, float]:
    """How near the nearest record is (cosine), how far it stands out, and how well the best sentence answers (log-odds)."""
    near = sorted((each.similarity or 0.0 for each in first.ranked), reverse=True)[:NEAREST]
    found = {"similarity": near[0], "similarity gap": near[0] - fmean(near)}
    answers = [each.answers for each in quotes if each.answers is not None]
    return found | ({"asked": 1.0, "answers": max(answers)} if answers else {})


def _coverage(asked: Sequence[AskedWord]) -> dict[str, float]:
    """How much of the question's words, by their weight, the best record holds, and how much no record does."""
    total = sum(each.weight for each in asked)
    if not total:
        return {}
    most_held = _most_held(asked)
    rarest = sorted(asked, key=lambda each: -each.weight)[:2]
    together = frozenset[RecordKey].intersection(*(each.holders for each in rarest))
    return {
        "held": most_held / total,
        "held weight": math.log1p(most_held / rarest[0].weight),
        "rarest together": float(bool(together)),
        "all held": float(is_all_held(asked)),
        "missing": sum(each.weight for each in asked if each.is_missing and not each.is_near) / total,
        "words": math.log1p(len(asked)),
    }


def _most_held(asked: Sequence[AskedWord]) -> float:
    keys = {key for each in asked for key in each.holders}
    return max((sum(each.weight for each in asked if key in each.holders) for key in keys), default=0.0)


def is_all_held(asked: Sequence[AskedWord]) -> bool:
    """Whether a single record holds all of the words."""
    return _most_held(asked) > ALL * sum(each.weight for each in asked)


def _held_by_quotes(query: str, quotes: Sequence[Quote]) -> Iterator[tuple[str, float]]:
    """How much of the question, of its numbers and of its names the best sentences hold."""
    yield "sentence share", max((quote.share for quote in quotes), default=0.0)
    said = {word for quote in quotes for word in words_of(f"{quote.source.text.title} {quote.text}")}
    numbers = [word for word in words_of(query) if is_number(word)]
    names = [query[start:end] for _, start, end in placed_words(query) if start and query[start].isupper()]
    if numbers:
        yield "numbers lacking", sum(word not in said for word in numbers) / len(numbers)
    if names:
        yield "names lacking", sum(name.lower() not in said for name in names) / len(names)
