"""What a question asks something of – who did it, when or where it was done, what has such a price – and whether a text speaks of
it. Pure.

Who did it, or when, is told in any words; that it was done is mostly said in the question's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from quarry.core.language.irregular import is_past, other_forms
from quarry.core.language.stemming import stem
from quarry.core.query.measures import MEASURING
from quarry.core.text import STOP_WORDS, placed_words, significant_words, words


@dataclass(frozen=True)
class Deed:
    """A deed or a thing that something is asked of. `name` completes "the records do not …", `forms` are the stems of the word's
    forms, `beginning` is how words of its kin begin ("build": "builder"), empty where none is meant; `beside`: the stems of what
    stands with it in the question, None where that is all else.
    """

    name: str
    forms: frozenset[str]
    beginning: str = ""
    beside: frozenset[str] | None = None

    def is_told(self, passage: str, asked: Set[str] = frozenset()) -> bool:
        """Whether a passage speaks of it, beside anything of what stands with it in the question, of all that is `asked`."""
        said = words(passage)
        if not any(stem(word) in self.forms or (self.beginning and word.startswith(self.beginning)) for word in said):
            return False
        others = (asked if self.beside is None else self.beside) - self.forms
        return not others or not others.isdisjoint(significant_words(passage))


_WHO = re.compile(r"\s*(?:and\s+)?who\b", re.IGNORECASE)
_WHEN = re.compile(
    r"\s*(?:and\s+)?(?:(?P<asks>when|where|why|what|how)\s+)?(?:(?P<be>is|are|was|were)|(?P<do>do|does|did|will|would))\s+",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(
    r"\s*(?:and\s+)?(?:how (?:tall|high|deep|wide|heavy|long|old) (?:is|are|was|were) (?P<measured>[^,;?]*)"
    r"|(?:how much|what)\b(?:(?!\b(?:about|say|think)\b)[^,;?])*?"
    r"\b(?:cost|price|fee|fare|fine|penalty|charge|pay|pays|paid|spend|spends|spent)s?"
    r"(?: (?:each|every|per|an?) \w+)? (?:to \w+|for|on|of) (?P<bought>[^,;?]+)"
    r"|(?:how much|what) (?:do|does|did|will|would) (?P<priced>[^,;?]*?) (?:cost|weigh)\b)",
    re.IGNORECASE,
)
_BE = frozenset("is are was were".split())
_MODAL = frozenset("will would can could may might must shall should did has have had".split())
_ARTICLES = frozenset("a an the this that these those my our your his her its their".split())
_SAYS_LITTLE = STOP_WORDS | frozenset(
    "make makes made take takes took get gets got give gives gave begin start end happen occur done held one".split()
)
"""Verbs and the like that say by themselves nothing of what was done."""
_LIGHT = frozenset(
    map(stem, "new old young whole entire full first last next other same big small great little good".split())
)
"""What is seldom said again of a thing that was named so."""
_WHEN_WHERE_WHY = ("when", "where", "why")
_SHORT_WORDS_MAX = 6
_PARTICIPLE_LETTERS_MIN = 4
_BEGINNING_LETTERS_MIN = 4
_KIN_LETTERS_MIN = 3
"""Of fewer letters no kin is told by its beginning."""
_AGENT = re.compile(r"(?:(\w)\1)?(?:er|or)$")
"""The ending of who does something: "winner"."""


def asked_deed(question: str) -> Deed | None:
    """What a question asks of that is told where it is spoken of; none where it asks otherwise."""
    return _asked_who(question) or _asked_when(question) or _asked_how_much(question)


def _asked_who(question: str) -> Deed | None:
    """Who is asked for by what they did or are: "who built the mill?", "who is the miller of Ay?"."""
    match = _WHO.match(question)
    said = words(question[match.end() :]) if match else []
    if said and said[0] in _BE:
        whole = _noun_phrase(said[1:])
        return _noun(f"say who {' '.join(said[: 1 + len(whole)])}", whole, None)
    place = int(bool(said) and said[0] in _MODAL)
    if len(said) < place + 2 or said[place] in _SAYS_LITTLE:
        return None
    return _verb(f"say who {' '.join(said[: place + 1])}", said[place], None)


def _asked_when(question: str) -> Deed | None:
    """When, where, why or whether something was done: "when was the mill built?", "where does Ada live?"."""
    match = _WHEN.match(question)
    if match is None:
        return None
    rest = question[match.end() :]
    said = [*placed_words(rest)]
    place = _verb_place([word for word, _, _ in said], match)
    if place is None or said[place][0] in _SAYS_LITTLE or not said[place][0].isalpha():
        return None
    verb, start, _ = said[place]
    subject, aux = rest[:start].strip(), (match["be"] or match["do"]).lower()
    if subject.endswith(" be"):
        subject, aux = subject.removesuffix(" be"), f"{aux} be"
    beside = _stems([word for word, _, _ in said[:place]])
    return _verb(f"say {(match['asks'] or 'whether').lower()} {subject} {aux} {verb}", verb, beside) if beside else None


def _verb_place(said: Sequence[str], match: re.Match[str]) -> int | None:
    """Which of the words behind its first verb is the one that says what is done: the participle of a passive, or the last."""
    if match["be"] or "be" in said:
        place = next(_participles(said), 0)
        return place if place and _BE.isdisjoint(said[:place]) else None
    is_short = 1 < len(said) <= _SHORT_WORDS_MAX and said[-2] not in STOP_WORDS
    return len(said) - 1 if is_short and (match["asks"] or "").lower() in _WHEN_WHERE_WHY else None


def _asked_how_much(question: str) -> Deed | None:
    """What has a measure or a price that is asked for: "how much is paid for a ticket?"."""
    match = _HOW_MUCH.match(question)
    text = next(filter(None, match.groups()), "") if match else ""
    whole = _noun_phrase(words(text))
    if not match or (whole and whole[0].endswith("ing")):
        return None
    others = words(text)[len(whole) :] + words(question[match.end() :])
    if len(whole) > 1 and (whole[-1].endswith("ing") or _is_participle(whole[-1])) and whole[-1] in text:
        whole.pop()  # "the elm standing"; of one in capitals it is the name
    return _noun(f"speak of “{' '.join(whole)}”", whole, _stems(whole[:-1]) or _stems(others))


def _participles(said: Sequence[str]) -> Iterator[int]:
    """The places of words that may end a passive: behind them comes no noun."""
    for place, (word, behind) in enumerate(zip(said, [*said, ""][1:], strict=True)):
        if _is_participle(word) and (not behind or behind in STOP_WORDS):
            yield place


def _is_participle(word: str) -> bool:
    return is_past(word) or (len(word) >= _PARTICIPLE_LETTERS_MIN and word.endswith("ed"))


def _noun_phrase(said: Sequence[str]) -> list[str]:
    """The words up to a preposition or the like."""
    whole = list[str]()
    for word in said:
        if word in STOP_WORDS and not (word in _ARTICLES and not whole):
            break
        whole.append(word)
    return whole


def _verb(name: str, word: str, beside: frozenset[str] | None) -> Deed:
    forms = (word, *other_forms(word))
    beginning = stem(forms[-1] if word.endswith("t") else word).rstrip("ei")
    return Deed(name, frozenset(map(stem, forms)), beginning if len(beginning) >= _KIN_LETTERS_MIN else "", beside)


def _noun(name: str, whole: Sequence[str], beside: frozenset[str] | None) -> Deed | None:
    if not whole or whole[-1] in STOP_WORDS:
        return None
    word = whole[-1]
    deed = _AGENT.sub(r"\1", word)
    forms = (word, *other_forms(word), *other_forms(deed))
    beginning = "" if _is_participle(word) else word[: max(_BEGINNING_LETTERS_MIN, len(word) - 2)]
    return Deed(name, frozenset(map(stem, forms)), beginning, beside)


def _stems(said: Sequence[str]) -> frozenset[str]:
    """The stems of what says something, and no measure: "cost" stands beside all that is sold."""
    return frozenset(stem(word) for word in said if word not in STOP_WORDS) - MEASURING - _LIGHT
