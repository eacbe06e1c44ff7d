"""How likely the records that a search found answer its question: one fitted probability.

A logistic regression weighs what is known of a search: how near the nearest record is, which words of the question the records
hold, and how well the best sentence answers by the pair model. `tools/fit/answerability.py` fits the weights to questions over
several collections and writes them to `weights/answerability.json`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from quarry.platform.text import significant_words
from quarry.records.asked_words import AskedWord, asked_words, names_held_by_none
from quarry.records.extraction import Quote, chosen, read_sentences
from quarry.records.facts import Facts, doubt, nothing_held
from quarry.records.fitted import fitted_for
from quarry.records.intent import is_asked
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
    found = await read_sentences(query, said or first.sources, toolset.services)
    quotes = chosen(found)
    if "query_embedding" in toolset.run.degraded:
        # what a failing model would have found is not known
        return Facts(authors=authors, quotes=quotes, chance=1.0)
    with toolset.run.step("records_answerability"):
        asked = await asked_words(query, first, toolset)
    has_meaning = any(each.has_meaning for each in toolset.types)
    fitted = fitted_for(toolset.services.embeddings.name if has_meaning else "")
    likely = fitted.probability(features_of(first, asked, found))
    names = names_held_by_none(toolset, asked)
    missing = names or [each.word for each in asked if each.is_missing and not each.is_near]
    # a record that holds every word may answer, however short the question is, and so may what the person asked about said
    may_answer = bool(said) or _is_all_held(asked)
    is_refused = bool(names) or (likely < fitted.refused_below and not may_answer)
    if is_refused and is_asked(query):
        return Facts(nothing_held(query, missing, first.sources), is_all=True, chance=min(likely, fitted.refused_below))
    doubted = doubt(missing) if likely < fitted.doubted_below else ""
    return Facts(authors=authors, doubt=doubted, quotes=quotes, chance=likely, likely=fitted.level(likely))


def features_of(first: Searched, asked: Sequence[AskedWord], found: Sequence[Quote]) -> dict[str, float]:
    """What is known of a search: how much it found, how near the nearest is (cosine), its words, its sentences. Pure."""
    near = sorted((each.similarity or 0.0 for each in first.ranked), reverse=True)[:NEAREST]
    features = {
        "always": 1.0,
        # of more records the nearest is nearer by chance
        "found": math.log1p(len(first.ranked)),
        "similarity": near[0],
        "similarity gap": near[0] - fmean(near),
        "sentence share": max((each.share for each in found), default=0.0),
    }
    best = sorted((each.answers for each in found if each.answers is not None), reverse=True)
    if best:
        # where several sentences answer alike, that they do says less of each
        features |= {"asked": 1.0, "answers": best[0], "answers gap": best[0] - best[min(1, len(best) - 1)]}
    total = sum(each.weight for each in asked)
    if total:
        missing = sum(each.weight for each in asked if each.is_missing and not each.is_near)
        features |= {
            "held weight": math.log1p(_most_held(asked) / max(each.weight for each in asked)),
            "missing": missing / total,
            "title": float(_is_title_asked(asked, found)),
        }
    return features


def _is_title_asked(asked: Sequence[AskedWord], found: Sequence[Quote]) -> bool:
    """Whether the title or topic of a record holds all of the words: then the whole record answers."""
    stems = {stem for each in asked for stem in significant_words(each.word)}
    titles = {quote.source.n: f"{quote.source.text.title} {quote.source.text.topic or ''}" for quote in found}
    return bool(stems) and any(stems <= {*significant_words(title)} for title in titles.values())


def _most_held(asked: Sequence[AskedWord]) -> float:
    keys = {key for each in asked for key in each.holders}
    return max((sum(each.weight for each in asked if key in each.holders) for key in keys), default=0.0)


def _is_all_held(asked: Sequence[AskedWord]) -> bool:
    """Whether a single record holds all of the words."""
    return _most_held(asked) > ALL * sum(each.weight for each in asked)
