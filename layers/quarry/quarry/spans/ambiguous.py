"""What rows of one table are called and rows of another refer to: "customers" that are counted, and orders "by customer"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from quarry.language.tokens import Token, says_something_by_case
from quarry.platform.text import STOP_WORDS
from quarry.spans.lexicon import Found, Lexicon, stems
from quarry.spans.measures import MONEY_VERBS
from quarry.spans.mention import Cue, FacetName

_ARTICLES = frozenset("the a an".split())
_GROUPING = frozenset("by per each every".split())
_WHICH = frozenset("which what whose top best worst".split())
_DESCRIBED_BY = frozenset("from in of with who that".split())
_DIFFERENT = frozenset("different distinct unique".split())
_MOST = frozenset("most least fewest highest lowest largest smallest biggest greatest best top".split())


def facet_places(tokens: Sequence[Token], lexicon: Lexicon) -> frozenset[int]:
    """Where a word that rows are called by is the name of a facet here, by what stands beside it."""
    if not lexicon.owned:
        return frozenset()
    words, word_stems = [token.key for token in tokens], stems(tokens)
    terms = {
        place: term for place in range(len(tokens)) if (term := lexicon.term_at(words, word_stems, place)) is not None
    }
    nouns = {place: term for place, term in terms.items() if term.meaning == Cue("noun")}
    found = set[int]()
    for place, term in nouns.items():
        facet = lexicon.facet_terms.longest_at(word_stems, place)
        if facet is None or facet.last != term.last:
            continue
        numbers = set(_numbers(terms, lexicon)) - lexicon.owned.get(word_stems[place : term.last], frozenset())
        others = {other for other in nouns if not place <= other < term.last}
        if _is_facet(tokens, words, word_stems, term, others, has_numbers=bool(numbers)):
            found.add(place)
    return frozenset(found)


def _numbers(terms: Mapping[int, Found[FacetName | Cue]], lexicon: Lexicon) -> Iterator[str]:
    for term in terms.values():
        if isinstance(term.meaning, FacetName) and term.meaning.grain is None:
            yield from lexicon.numbers & {*term.meaning.facets}


def _is_facet(
    tokens: Sequence[Token],
    words: Sequence[str],
    word_stems: Sequence[str],
    term: Found[FacetName | Cue],
    others: set[int],
    *,
    has_numbers: bool,
) -> bool:
    first = term.first
    while first and words[first - 1] in _ARTICLES:
        first -= 1
    before = words[first - 1] if first else ""
    if before.isdigit() and first > 1:
        before = words[first - 2]
    is_of_others = bool(others) or has_numbers
    if before in _GROUPING:
        # "by captains from Norway" says who, "by captain" how it is told
        return not (
            before == "by"
            and words[term.last - 1].endswith("s")
            and {*words[term.last : term.last + 1]} & _DESCRIBED_BY
        )
    if before in _DIFFERENT:
        return bool(others)
    superlatives = (word for place, word in enumerate(words) if not (place and words[place - 1] == "at"))
    if before in _WHICH and (not _MOST.isdisjoint(superlatives) or any(word.endswith("est") for word in words)):
        # "which customer spent the most" names no number
        return has_numbers or any(other > term.first for other in others) or bool(MONEY_VERBS & {*word_stems})
    following = tokens[term.last] if term.last < len(tokens) else None
    if following is None or not says_something_by_case(tokens) or not is_of_others:
        return False
    return following.is_capital and following.key not in STOP_WORDS and before not in ("many", "of")
