"""What a question is about in few words: the text to embed, phrases that combine its constraints, and how much was understood."""

from __future__ import annotations

from itertools import pairwise, product

from quarry.language.tokens import unique
from quarry.people.contract import Constraints
from quarry.spans.mention import Cue, FacetName, Known, Mention, ParsedQuery, Phrase, Place, Word

SEARCH_PHRASES_MIN, SEARCH_PHRASES_MAX = 5, 15
PHRASE_WORDS_MAX = 6

WORD_UNDERSTOOD = 0.5
"""What a word counts for that was kept as a keyword, beside one that was recognised."""
CONFIDENCE_MAX = 0.95

ANYBODY = "people"
"""What is embedded of a question that does nothing but rule somebody out."""

_TOPICAL = frozenset({"title", "degree", "skill", "team", "domain"})
"""Facets whose own names say what somebody does ("a team lead", "in the field of")."""
_NAMES = frozenset({"company", "school", "workplace", "home", "preferred_place", "name"})


def embedding_text_of(parsed: ParsedQuery, asked_about: str | None = None) -> str:
    """The topical words in their order, then companies, places and people; nothing that is ruled out, nor the name of the facet
    that is asked about ("which skill is most common").
    """
    names = [parsed.said(mention) for mention in parsed.mentions if _is_name(mention)]
    runs = _topical_runs(parsed, asked_about)
    about = " ".join([*map(" ".join, runs), *unique(names, str.casefold)])
    if not about and any(mention.assertion == "negated" for mention in parsed.mentions):
        return ANYBODY
    return about


def search_phrases(parsed: ParsedQuery, constraints: Constraints, asked_about: str | None = None) -> list[str]:
    """The question's own phrases, then these with a company or place, then its words with them; where it gives as many,
    SEARCH_PHRASES_MIN to SEARCH_PHRASES_MAX.
    """
    must = constraints.must
    topical = _topical_runs(parsed, asked_about)
    runs = [" ".join(run[:PHRASE_WORDS_MAX]) for run in topical][:SEARCH_PHRASES_MAX]
    terms = unique(term for run in topical for term in run)[:SEARCH_PHRASES_MAX]
    beside = [*must.company_norm[:SEARCH_PHRASES_MIN], *([must.location_text] if must.location_text else [])]
    phrases = [*runs, *(f"{run} {name}" for run, name in product(runs, beside)), *beside]
    for more in (
        (f"{term} {name}" for term, name in product(terms, beside)),
        (f"{one} {other}" for one, other in pairwise(terms)),
        terms,
    ):
        if len(set(phrases)) < SEARCH_PHRASES_MIN:
            phrases += more
    return list(unique(phrase.lower() for phrase in phrases))[:SEARCH_PHRASES_MAX]


def confidence(parsed: ParsedQuery) -> float:
    """The share of the mentions that say something which were recognised."""
    weights = [
        WORD_UNDERSTOOD if isinstance(mention.value, Word) else 1.0
        for mention in parsed.mentions
        if not isinstance(mention.value, Cue)
    ]
    return round(min(CONFIDENCE_MAX, sum(weights) / len(weights)), 2) if weights else 0.0


def _topical_runs(parsed: ParsedQuery, asked_about: str | None) -> list[list[str]]:
    """The mentions that say whom to find, as they were typed, those that stand side by side together."""
    runs: list[list[str]] = [[]]
    end = 0
    for mention in parsed.mentions:
        is_topical = _is_topical(mention, asked_about)
        if not is_topical or parsed.text[end : mention.start].strip():
            runs.append([])
        if is_topical:
            runs[-1].append(parsed.said(mention))
        end = mention.end
    return [run for run in runs if run]


def _is_topical(mention: Mention, asked_about: str | None) -> bool:
    if mention.assertion in ("negated", "doubtful"):
        return False
    if isinstance(mention.value, Known):
        return not _is_name(mention)
    if isinstance(mention.value, FacetName):
        return asked_about not in mention.value.facets and bool(_TOPICAL & set(mention.value.facets))
    return isinstance(mention.value, (Word, Phrase))


def _is_name(mention: Mention) -> bool:
    if mention.assertion in ("negated", "doubtful"):
        return False
    if isinstance(mention.value, Known):
        return {known.facet for known in mention.value.values} <= _NAMES
    return isinstance(mention.value, Place)
