"""Comparisons with the name of a number between them and the number: "below age 30", "above a rating of 4", "minimum age 12".

The name is blanked, and what is left reads as any comparison does ("below 30"). So every cue that bounds a number bounds it here
too. The number is one mention, the cue another that says nothing more; between them stands the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from quarry.language.numerals import numeral_value
from quarry.language.tokens import Token
from quarry.spans.bounds import leads_to
from quarry.spans.lexicon import Lexicon, stems
from quarry.spans.mention import Cue, Duration, FacetName, Mention, MoneyRange, NumberRange
from quarry.spans.numbers import COPULAS
from quarry.spans.quantities import dimension_of

NAMES_MAX = 8
"""So many names before numbers are looked at."""
_ARTICLES = ("a", "an", "the")

Find = Callable[[str, Sequence[Token]], Sequence[Mention]]


@dataclass(frozen=True)
class _Name:
    """A facet's name at `text[start:end]`, and where the number behind it begins."""

    facets: tuple[str, ...]
    start: int
    end: int
    number: int


def with_named_comparisons(
    text: str, tokens: Sequence[Token], dimensions: Sequence[Mention], lexicon: Lexicon, find: Find
) -> list[Mention]:
    """The dimensions, those that a comparison before the name of a number bounds in place of the bare ones; `find` finds what
    numbers a text holds.
    """
    names = [each for each in _names(tokens, dimensions, lexicon) if leads_to(text, each.start)][:NAMES_MAX]
    found: list[Mention] = []
    for name in names:
        if not any(name.number < each.end and each.start <= name.number for each in found):
            found += _compared(text, tokens, name, names, find)
    numbers = [each for each in found if each.value != Cue("filler")]
    kept = [
        each
        for each in dimensions
        if not (isinstance(each.value, NumberRange | MoneyRange | Duration) and any(map(each.overlaps, numbers)))
    ]
    return [*kept, *found]


def _names(tokens: Sequence[Token], dimensions: Sequence[Mention], lexicon: Lexicon) -> Iterator[_Name]:
    """The names of numbers right before a number, in order; only "of" or an article may stand between."""
    starts = {each.start for each in dimensions if isinstance(each.value, NumberRange | MoneyRange | Duration)}
    words, word_stems = [token.key for token in tokens], stems(tokens)
    for place, token in enumerate(tokens):
        if not lexicon.numbers or token.start not in starts:
            continue
        behind = place - 1
        while behind > 0 and words[behind] in (*COPULAS, *_ARTICLES):
            behind -= 1
        for first in range(max(0, behind - 2), behind + 1):
            term = lexicon.term_at(words, word_stems, first)
            if term is None or term.last != behind + 1 or not isinstance(term.meaning, FacetName):
                continue
            if lexicon.numbers & {*term.meaning.facets} and term.meaning.grain is None:
                yield _Name(term.meaning.facets, tokens[first].start, tokens[behind].end, token.start)
                break


def _compared(
    text: str,
    tokens: Sequence[Token],
    name: _Name,
    names: Sequence[_Name],
    find: Find,
) -> Iterator[Mention]:
    """The number that the words before `name` bound, and these words."""
    # a number before has bounds of its own
    begins = max((each.end for each in tokens if each.end <= name.start and _is_numeral(each.key)), default=0)
    blanked = " " * begins + text[begins:]
    for each in names:
        if each.facets == name.facets and each.start >= begins:
            blanked = blanked[: each.start] + " " * (each.number - each.start) + blanked[each.number :]
    for mention in find(blanked, tokens):
        unit = mention.value.unit if isinstance(mention.value, NumberRange) else None
        if mention.start < name.start < mention.end and (unit is None or dimension_of(unit)):
            yield replace(mention, start=name.number)
            cue = text[mention.start : name.start]
            yield Mention(Cue("filler"), mention.start, mention.start + len(cue.rstrip()))


def _is_numeral(word: str) -> bool:
    return word[:1].isdigit() or numeral_value(word) is not None
