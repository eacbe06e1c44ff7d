"""What kind of answer a question wants, and what of an earlier answer it takes up, by the words that say so."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import cast, get_args

from quarry.language.irregular import BE
from quarry.language.numerals import number_words
from quarry.language.stemming import stem
from quarry.language.tokens import Token
from quarry.spans.lexicon import TERM_WORDS_MAX, Found, Lexicon, PhraseTable, stems
from quarry.spans.measures import PAYMENTS, is_measuring
from quarry.spans.mention import Asked, AskedFor, Cue, FacetName, Reference

_FILE = "data/asked.toml"

_NOT_ASKED = ("refers", "pronouns", "others", "follows_up", "follows_up_unless_named", "narrows")
_OF_NUMBERS = ("average", "total")
"""What is asked for only beside the name of a number."""
NUMBER_WORDS_MAX = 5

NUMBERS: Mapping[str, int] = number_words(1, 15) | {"dozen": 12, "twenty": 20}
ORDINALS: Mapping[str, int] = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5, "last": -1, "other": 2,
}  # fmt: skip
LIMIT_MAX = 100
"""A larger number beside "top" or "first" is no number of answers."""

_COUNTED: frozenset[AskedFor] = frozenset(("most", "least", "first", "last", "largest", "smallest"))
_DIGITS = re.compile(r"\d{1,3}")
_SUPERLATIVE = re.compile(r"[^\W\d_]{3,}(?:iest|[^\W\d_]est)")
_NO_SUPERLATIVES = frozenset(
    """
    interest request test guest forest harvest protest invest best west quest contest suggest honest arrest nest rest chest
    digest modest conquest midwest northwest southwest manifest ingest attest detest latest priest pest vest crest zest inquest
    disinterest reforest bequest
    """.split()
)


def find_asked(tokens: Sequence[Token], lexicon: Lexicon) -> list[Found[Asked | Reference]]:
    """The words that say what is asked for, with a number beside them ("top 5"); and those that refer to an earlier answer."""
    words = [token.key for token in tokens]
    named = _named(tokens, lexicon)
    found: list[Found[Asked | Reference]] = [*_references(words)]
    for place in range(len(words)):
        phrase = _phrases("asked").longest_at(words, place)
        reckoned = _reckoned(words, place, named, lexicon)
        if reckoned and (phrase is None or reckoned.last >= phrase.last):
            found.append(reckoned)
        elif phrase is not None and place in named and phrase.meaning == "count" and lexicon.numbers:
            # a number that is called "quantity"
            continue
        elif (
            phrase is not None
            and words[phrase.first : phrase.last] == ["by"]
            and _describes(phrase.last, words, lexicon)
        ):
            # "by authors born in 1900" says whose
            continue
        elif words[place] == "last" and _COMPARING & {*words[place + 1 : place + 2]}:
            # "films that last longer than an hour"
            continue
        elif phrase is not None and (asked := _asked(phrase, words, named)):
            found.append(asked)
        elif _is_superlative(words, place, of_numbers=bool(lexicon.numbers)):
            found.append(_counted(place, place + 1, "largest", words))
        elif (
            lexicon.numbers
            and words[place] in _OF_QUALITY
            and (
                _is_participle(words, place + 1)
                or words[place + 1 : place + 2] in (["rating"], ["ratings"])
                or (place > 0 and words[place - 1] in ("rated", "reviewed"))
                or "by" in words[place + 2 : place + NUMBER_WORDS_MAX]
            )
        ):
            found.append(_counted(place, place + 1, _OF_QUALITY[words[place]], words))
    return found


_COMPARING = frozenset("at longer less more under over between up".split())
_OF_QUALITY: Mapping[str, AskedFor] = {"best": "largest", "worst": "smallest"}
"""Superlatives of what a participle behind them says by how much: "best rated", "worst paid"."""


def _is_participle(words: Sequence[str], place: int) -> bool:
    return place < len(words) and (words[place].endswith("ed") or words[place] == "paid")


_DESCRIBING = frozenset("who that whose born".split())


def _describes(place: int, words: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether what is named at `place` is told more of, and so is no kind of group: "authors from Norway", "authors born in"."""
    word_stems = [stem(word) for word in words[place : place + TERM_WORDS_MAX]]
    term = lexicon.term_at(words[place:], word_stems, 0) if word_stems else None
    if term is None or place + term.last >= len(words) or not words[place + term.last - 1].endswith("s"):
        return False
    following = words[place + term.last]
    return following in _DESCRIBING or (following.endswith("ed") and len(following) > len("need"))


def _reckoned(
    words: Sequence[str], place: int, named: Mapping[int, FacetName], lexicon: Lexicon
) -> Found[Asked | Reference] | None:
    """ "Average", "the total" and the like, before the name of a number or as one."""
    if not lexicon.numbers:
        return None
    for what in _OF_NUMBERS:
        phrase = _phrases(what).longest_at(words, place)
        if phrase is None:
            continue
        numbers = {at for at, name in named.items() if not name.grain and lexicon.numbers & {*name.facets}}
        is_number = (
            any(at in numbers for at in range(phrase.first, phrase.last))
            and "of" in words[phrase.first : phrase.last + 1]
        )
        # "cost the most on average"
        before = range(max(0, place - NUMBER_WORDS_MAX), place)
        is_behind = words[place : phrase.last] == ["on", "average"] and any(
            at in numbers or is_measuring(words[at]) for at in before
        )
        if (
            is_number
            or is_behind
            # "total unpaid fines"
            or (what == "total" and any(_are_payments(words, phrase.last + at, lexicon) for at in (0, 1)))
            or any(at in numbers for at in range(phrase.last, phrase.last + NUMBER_WORDS_MAX))
        ):
            return Found(phrase.first, phrase.last, Asked(cast(AskedFor, what)))
    return None


def _are_payments(words: Sequence[str], place: int, lexicon: Lexicon) -> bool:
    """Whether what is named at `place` are rows that are amounts themselves, and have a number."""
    word_stems = [stem(word) for word in words[place : place + TERM_WORDS_MAX]]
    term = lexicon.term_at(words[place:], word_stems, 0) if word_stems else None
    is_rows = term is not None and term.meaning == Cue("noun") and word_stems[term.last - 1] in PAYMENTS
    return is_rows and term is not None and bool(lexicon.owned.get((*word_stems[: term.last],)))


def opening_words(tokens: Sequence[Token], *, names_rows: bool) -> int:
    """How many words at the beginning take up an earlier question ("and", "what about"); 0 where none do. `names_rows`: the
    question says anew what kind of rows it is about.
    """
    weak = 0 if names_rows else _at_start("follows_up_unless_named", tokens)
    return max(_at_start("follows_up", tokens), weak)


def pronoun(tokens: Sequence[Token]) -> int | None:
    """The place of the first pronoun that may stand for what was answered before; None where there is none."""
    words = [token.key for token in tokens]
    return next((place for place in range(len(words)) if _phrases("pronouns").longest_at(words, place)), None)


def narrows(tokens: Sequence[Token]) -> bool:
    """Whether the question begins by asking for a part of what was answered ("only those", "which of them")."""
    return _at_start("narrows", tokens) > 0


def _at_start(part: str, tokens: Sequence[Token]) -> int:
    found = _phrases(part).longest_at([token.key for token in tokens], 0) if tokens else None
    return found.last if found else 0


@cache
def _phrases(part: str) -> PhraseTable[str]:
    text = files("quarry.spans").joinpath(_FILE).read_text(encoding="utf-8")
    headings = tomllib.loads(text)
    others = (*_NOT_ASKED, *_OF_NUMBERS)
    chosen = [heading for heading in headings if heading not in others] if part == "asked" else [part]
    return PhraseTable((phrase.strip(), heading) for heading in chosen for phrase in headings[heading].split(","))


def _named(tokens: Sequence[Token], lexicon: Lexicon) -> Mapping[int, FacetName]:
    """The facets that are named, by the place of the first word."""
    words, word_stems = [token.key for token in tokens], stems(tokens)
    found = (lexicon.term_at(words, word_stems, place) for place in range(len(words)))
    return {term.first: term.meaning for term in found if term and isinstance(term.meaning, FacetName)}


def _asked(phrase: Found[str], words: Sequence[str], named: Mapping[int, FacetName]) -> Found[Asked | Reference] | None:
    """What `phrase` asks for; None where its words mean something else, as "by" before no facet."""
    first, last, heading = phrase.first, phrase.last, phrase.meaning
    if heading.endswith("_opens"):
        if not _opens(words, first) or last >= len(words):
            return None
        heading = heading.removesuffix("_opens")
    grain = None
    if heading.endswith("_before_facet"):
        name = named.get(last) or (named.get(last + 1) if last < len(words) and words[last] in _ARTICLES else None)
        if name is None:
            return None
        heading, grain = heading.removesuffix("_before_facet"), name.grain
    if heading not in get_args(AskedFor):
        raise ValueError(f"{_FILE}: {heading} is nothing that can be asked for")
    what = cast(AskedFor, heading)
    return _counted(first, last, what, words) if what in _COUNTED else Found(first, last, Asked(what, grain=grain))


_ARTICLES = ("the", "a", "an", "each", "their")
_OPENING_WORDS_MAX = 3
_BEFORE_OPENING = frozenset(
    "and but please so can you could tell me also or then ok okay well now hi hello just".split()
)


def _opens(words: Sequence[str], place: int) -> bool:
    """Whether the word begins the question, or what is said behind its opening words."""
    return place <= _OPENING_WORDS_MAX and all(word in _BEFORE_OPENING for word in words[:place])


def _counted(first: int, last: int, what: AskedFor, words: Sequence[str]) -> Found[Asked | Reference]:
    """With the number that stands behind ("top 5") or before ("the two biggest")."""
    if last < len(words) and (number := _small_number(words[last])):
        return Found(first, last + 1, Asked(what, number))
    if first and (number := _small_number(words[first - 1])) and number > 1:
        return Found(first - 1, last, Asked(what, number))
    return Found(first, last, Asked(what))


def _small_number(word: str) -> int | None:
    if word in NUMBERS:
        return NUMBERS[word]
    if _DIGITS.fullmatch(word) and 0 < int(word) <= LIMIT_MAX:
        return int(word)
    return None


def _is_superlative(words: Sequence[str], place: int, *, of_numbers: bool = False) -> bool:
    """ "The tallest", "which is cheapest": an adjective that no list here knows. `of_numbers`: it may begin the question, or
    stand behind a verb of measure ("took longest").
    """
    word = words[place]
    if word in _NO_SUPERLATIVES or not _SUPERLATIVE.fullmatch(word):
        return False
    if place == 0 or is_measuring(words[place - 1]) or (of_numbers and place == len(words) - 1):
        return of_numbers
    return words[place - 1] in ("the", "is", "was", "are", "were", "our", "their", "its") or bool(
        _small_number(words[place - 1])
    )


def _references(words: Sequence[str]) -> Iterator[Found[Asked | Reference]]:
    for place in range(len(words)):
        if found := _phrases("refers").longest_at(words, place):
            yield _with_number(found, words)
        if (others := _phrases("others").longest_at(words, place)) and words[others.last : others.last + 1] != ["of"]:
            yield Found(others.first, others.last, Reference(is_to_others=True))
        if words[place] in ORDINALS and (reference := _ordinal(words, place)):
            yield reference


def _with_number(found: Found[str], words: Sequence[str]) -> Found[Asked | Reference]:
    """ "These two" are all that were shown, where they were two."""
    number = _small_number(words[found.last]) if found.last < len(words) else None
    if number and words[found.first] in ("these", "those"):
        return Found(found.first, found.last + 1, Reference(tuple(range(1, number + 1))))
    return Found(found.first, found.last, Reference())


_AUXILIARY = BE | {"have", "has", "had", "do", "does", "did"}


def _ordinal(words: Sequence[str], place: int) -> Found[Asked | Reference] | None:
    """ "The second one", "the first two", "the last one"; "the first two books" asks for the earliest."""
    first = place - 1 if place and words[place - 1] in ("the", "number") else place
    number = ORDINALS[words[place]]
    following = words[place + 1] if place + 1 < len(words) else ""
    if following in ("one", "result", "answer", "item", "hit", "entry"):
        return Found(first, place + 2, Reference((number,)))
    count = _small_number(following)
    if (
        count
        and number in (1, -1)
        and (place + 2 == len(words) or words[place + 2] in ("of", "ones", "results", "and", *_AUXILIARY))
    ):
        places = tuple(range(1, count + 1)) if number == 1 else tuple(range(-count, 0))
        return Found(first, place + 2, Reference(places))
    if not following and first < place and number > 1:
        return Found(first, place + 1, Reference((number,)))
    return None
