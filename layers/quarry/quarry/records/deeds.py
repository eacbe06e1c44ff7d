"""What a question asks something of – who did it, when or where it was done, what has such a price – and whether a text speaks of
it. Pure.

Who did it, or when, is told in any words; that it was done is mostly said in the question's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from quarry.language.everyday import is_everyday
from quarry.language.irregular import BE, is_past, other_forms
from quarry.language.nouns import is_plural
from quarry.language.stemming import stem, stem_set
from quarry.platform.text import STOP_WORDS, placed_words, significant_words, words
from quarry.records.quantities import MONTHS, asked_quantity
from quarry.spans.measures import MEASURING


@dataclass(frozen=True)
class Deed:
    """A deed or a thing that something is asked of. `name` completes "the records do not …", `forms` are the stems of the word's
    forms, `beginning` is how words of its kin begin ("build": "builder"), empty where none is meant; `beside`: the stems of what
    stands with it in what is asked. `of_all`: anything else that the question says may stand with it as well. `is_named`: a name
    is asked for, which stands in the same line.
    """

    name: str
    forms: frozenset[str]
    beginning: str = ""
    beside: frozenset[str] = frozenset()
    of_all: bool = False
    is_named: bool = False

    def is_told(self, passage: str, asked: Set[str] = frozenset()) -> bool:
        """Whether a passage speaks of it, beside enough of what stands with it in the question, of all that is `asked`."""
        speaking = [line for line in passage.split("\n") if any(map(self._is_form, words(_THING.sub(r"\1", line))))]
        if not any(not self.is_named or _has_name(line, asked) for line in speaking):
            return False
        beside = self.beside - self.forms
        others = frozenset(asked | beside if self.of_all else beside) - self.forms
        least = min(BESIDE_MAX, len(others), math.ceil(BESIDE_SHARE_MIN * len(beside)))
        return len(others.intersection(significant_words(passage))) >= least

    def _is_form(self, word: str) -> bool:
        return stem(word) in self.forms or bool(self.beginning and word.startswith(self.beginning))


BESIDE_SHARE_MIN = 0.33
"""So much of what stands with a deed in the question is spoken of beside it,"""
BESIDE_MAX = 2
"""but not more than so many words of it."""
_WHO = re.compile(r"\s*(?:and\s+)?who\b", re.IGNORECASE)
_WHAT_NAME = re.compile(
    r"\s*(?:and\s+)?what (?:is|was|are|were) "
    r"(?:the names? of (?P<of>[^,;?]+)|(?P<called>[^,;?]+?) (?:called|named)\b)",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_CALENDAR = re.compile(rf"{MONTHS}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?")
"""What begins with a capital and is no name."""
_WHEN = re.compile(
    r"\s*(?:and\s+)?(?P<asks>when|where|what|how|how (?:many|much)(?P<counted>(?: [^\s,;?]+){0,4}?))\s+"
    r"(?:(?P<be>is|are|was|were)|(?P<do>do|does|did|will|would))\s+",
    re.IGNORECASE,
)
_A_YEAR = re.compile(r"\s(?:a|per|each|every) (?:hour|day|night|week|month|year|season)\W*$", re.IGNORECASE)
_TAKING = re.compile(
    r"\s*(?:and\s+)?how long (?:do|does|did|will|would|has|had) it taken? (?:\w+ )?to\s+", re.IGNORECASE
)
_WHICH = re.compile(r"\s*(?:and\s+)?(?P<asks>which|what)\s+", re.IGNORECASE)
_HOW_MUCH = re.compile(
    r"\s*(?:and\s+)?(?:how (?:tall|high|deep|wide|heavy|long|old) (?:is|are|was|were) (?P<measured>[^,;?]*)"
    r"|(?:how much|what)\b(?:(?!\b(?:about|say|think)\b)[^,;?])*?"
    r"\b(?:cost|price|fee|fare|fine|penalty|charge|pay|pays|paid|spend|spends|spent)s?"
    r"(?: (?:each|every|per|an?) \w+)? (?:to \w+|for|on|of) (?P<bought>[^,;?]+)"
    r"|(?:how much|what) (?:do|does|did|will|would) (?P<priced>[^,;?]*?) (?:cost|weigh)\b)",
    re.IGNORECASE,
)
_BECOME = frozenset("become becomes became".split())
_DO = frozenset("do does did".split())
_MODAL_BE = frozenset("will would".split())
_MODAL = frozenset("will would can could may might must shall should did has have had".split())
_ARTICLES = frozenset("a an the this that these those my our your his her its their".split())
_THING = re.compile(rf"\b(?:{'|'.join(sorted(_ARTICLES))})\s([\w-]+\s)?\w+ing\b|\b\w+ings\b", re.IGNORECASE)
"""What ends in "-ing" and is no deed: "the old building", "buildings"."""
_SAYS_LITTLE = STOP_WORDS | frozenset(
    "make makes made take takes took get gets got give gives gave begin start end happen occur done held one went".split()
)
"""Verbs and the like that say by themselves nothing of what was done."""
_LIGHT = frozenset(
    map(stem, "new old young whole entire full first last next other same big small great little good".split())
)
"""What is seldom said again of a thing that was named so."""
_COMMON = frozenset(
    map(
        stem,
        """
        across afterwards allow along already although among another anybody anyway appear around bad become behind believe
        beside best better beyond business case concerning currently deal despite done either else end even eventually every
        everybody everyone everything exactly except folk guy hang hear help hope inside instead job keep kind like lot love
        mean mind moment moreover neither never nobody none nothing nowadays outside part people per person place point
        probably put quite rather recently regarding say see seem side since somebody sort start stuff suppose sure think
        though throughout time toward towards try turn unless upon use usual usually whatever whether whoever within without
        wonder work worse worst
        """.split(),
    )
)
"""What people say of anything."""
_WANTING = stem_set("want wish intend refuse attempt decide manage")
"""What is said of a deed that follows: "wanted to stay"."""
_PARTICLES = frozenset("up down out off away back over".split())
"""What gives a verb another meaning than its own: "turned down","""
_SHARES = frozenset("percentage proportion share fraction".split())
"""What is told as a number."""
_VOTING = stem_set("vote oppose object dissent")
_VOTES = stem_set("carried opposed opposing against abstained abstaining unanimously")
"""What minutes say of a vote."""
_PLACING = frozenset("at in of on".split())
"""but not before one of these: "a farm out on the road"."""
_SHORT_WORDS_MAX = 6
_PARTICIPLE_LETTERS_MIN = 4
_BEGINNING_LETTERS_MIN = 4
_KIN_LETTERS_MIN = 3
"""Of fewer letters no kin is told by its beginning."""
_AGENT = re.compile(r"(?:(\w)\1)?(?:er|or)$")
"""The ending of who does something: "winner"."""


def _has_name(line: str, asked: Set[str]) -> bool:
    """Whether a name stands in a line that is none of what is `asked`."""
    capitalised = (word for word in _LETTERS.findall(line) if word[0].isupper() and not _CALENDAR.fullmatch(word))
    return any(stem(word.lower()) not in asked and not is_everyday(word.lower()) for word in capitalised)


def asked_deed(question: str) -> Deed | None:
    """What a question asks of that is told where it is spoken of; none where it asks otherwise."""
    return (
        _asked_who(question)
        or _asked_name(question)
        or _asked_taking(question)
        or _asked_how_much(question)
        or _asked_when(question)
        or _asked_which(question)
    )


def names_in_passing(question: str) -> frozenset[str]:
    """The words of a question that records may well not have though they answer it: those of a measure ("fast"), what is seldom
    said again ("new"), what is said of anything ("moment"), and verbs that mean something else with the particle behind them
    ("turned down").
    """
    said = words(question)
    led = frozenset(
        word
        for place, word in enumerate(said[:-1])
        if said[place + 1] in _PARTICLES and _PLACING.isdisjoint(said[place + 2 : place + 3])
    )
    return led | {word for word in said if stem(word) in MEASURING | _LIGHT | _COMMON}


def _asked_who(question: str) -> Deed | None:
    """Who is asked for by what they did or are: "who built the mill?", "who is the miller of Ay?"."""
    match = _WHO.match(question)
    said = words(question[match.end() :]) if match else []
    if said and said[0] in BE | _BECOME:
        whole = _noun_phrase(said[1:])
        is_named = bool(whole) and whole[0] in _ARTICLES
        return _noun(
            f"say who {' '.join(said[: 1 + len(whole)])}", whole, _stems(said[1:]), of_all=True, is_named=is_named
        )
    place = int(bool(said) and said[0] in _MODAL)
    # "who did better" and "who wanted to …" name no deed
    if len(said) < place + 2 or said[place] in _SAYS_LITTLE or stem(said[place]) in _COMMON | _WANTING:
        return None
    return _verb(f"say who {' '.join(said[: place + 1])}", said[place], _stems(said), of_all=True)


def _asked_name(question: str) -> Deed | None:
    """What has a name that is asked for: "what is the name of the mill?", "what is the mill called?"."""
    match = _WHAT_NAME.match(question)
    text = next(filter(None, match.groups()), "") if match else ""
    whole, said = _noun_phrase(words(text)), words(text)
    return _noun(f"tell the name of “{' '.join(whole)}”", whole, _stems(said), of_all=True, is_named=True)


def _asked_when(question: str) -> Deed | None:
    """When, where, how or of how many something was done: "when was the mill built?", "where does Ada live?". Why it was, and
    whether, is told in any words: that it was not is seldom said at all.
    """
    match = _WHEN.match(question)
    if match is None:
        return None
    rest = _A_YEAR.sub("", question[match.end() :])
    said = [*placed_words(rest)]
    place = _verb_place([word for word, _, _ in said], match)
    if place is None or place >= len(said) or said[place][0] in _SAYS_LITTLE or not said[place][0].isalpha():
        return None
    verb, start, _ = said[place]
    if stem(verb) in MEASURING or (place + 1 < len(said) and said[place + 1][0] in _PARTICLES):
        return None
    subject, aux = rest[:start].strip(), (match["be"] or match["do"]).lower()
    if f" {subject}".endswith(" be"):
        subject, aux = subject.removesuffix("be").strip(), f"{aux} be"
    beside = _stems([*words(match["counted"] or ""), *(word for word, _, _ in said[:place])])
    name = " ".join(filter(None, ("say", match["asks"].lower(), subject, aux, verb)))
    return _verb(name, verb, beside) if beside else None


def _verb_place(said: Sequence[str], match: re.Match[str]) -> int | None:
    """Which of the words behind its first verb is the one that says what is done: the participle of a passive, or the last."""
    is_passive = match["be"] or (match["do"].lower() in _MODAL_BE and "be" in said)
    if is_passive and match["counted"]:
        return said.index("be") + 1 if "be" in said else 0
    if is_passive:
        place = next(_participles(said), 0)
        return place if place and BE.isdisjoint(said[:place]) else None
    is_short = 1 < len(said) <= _SHORT_WORDS_MAX and not (said[-2] in STOP_WORDS or said[-2].endswith("'s"))
    return len(said) - 1 if is_short and match["asks"].lower() != "what" else None


def _asked_taking(question: str) -> Deed | None:
    """What took so long: "how long did it take to build the mill?"."""
    match = _TAKING.match(question)
    said = words(question[match.end() :]) if match else []
    if len(said) < 2 or said[0] in _SAYS_LITTLE:
        return None
    return _verb(f"say how long it took to {said[0]}", said[0], _stems(said[1:]))


def _asked_which(question: str) -> Deed | None:
    """Which of a kind did something: "which mason built the mill?". Either the kind or the deed is spoken of. What several things
    there are is told in any words, and what has a quantity is no deed.
    """
    match = _WHICH.match(question)
    said = words(question[match.end() :]) if match else []
    whole = _noun_phrase(said)
    rest = said[len(whole) :]
    if match is None or asked_quantity(question):
        return None
    of_kind = _noun_phrase(rest[1:]) if rest[:1] == ["of"] else []
    rest = rest[len(of_kind) + 1 :] if of_kind else rest
    kind = whole[-1:]
    if rest and rest[0] in _DO:
        verb = rest[-1:]
    elif rest and rest[0] in BE:
        verb = [rest[place] for place in _participles(rest)][:1]
    elif rest and rest[0] in _MODAL:
        verb = rest[1:2]
    else:
        kind, verb = (kind, of_kind[-1:]) if of_kind else (whole[-2:-1], whole[-1:])
    # "what went wrong" asks for no kind
    if (
        not kind
        or kind[0] in _SHARES
        or (match["asks"].lower() == "what" and (is_plural(kind[0]) or whole[0] in _SAYS_LITTLE))
    ):
        return None
    told = [*kind, *(word for word in verb if word not in _SAYS_LITTLE)]
    forms = (form for word in told for form in (word, *other_forms(word)))
    name = f"say {match['asks'].lower()} {' '.join(whole)}"
    return Deed(name, frozenset(map(stem, forms)), beside=_stems(said), of_all=True)


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
    # how it is ("the broken lock") may be said in other words
    kind = (word for word in whole[:-1] if not _is_participle(word))
    return _noun(f"speak of “{' '.join(whole)}”", whole, _stems(kind) or _stems(others))


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


def _verb(name: str, word: str, beside: frozenset[str], *, of_all: bool = False) -> Deed:
    forms = (word, *other_forms(word))
    beginning = stem(forms[-1] if word.endswith("t") else word).rstrip("ei")
    kin = beginning if len(beginning) >= _KIN_LETTERS_MIN else ""
    stems = frozenset(map(stem, forms))
    return Deed(name, stems if _VOTING.isdisjoint(stems) else stems | _VOTES, kin, beside, of_all)


def _noun(
    name: str, whole: Sequence[str], beside: frozenset[str], *, of_all: bool = False, is_named: bool = False
) -> Deed | None:
    if not whole or whole[-1] in STOP_WORDS:
        return None
    word = whole[-1]
    deed = _AGENT.sub(r"\1", word)
    forms = (word, *other_forms(word), *other_forms(deed))
    beginning = "" if _is_participle(word) else word[: max(_BEGINNING_LETTERS_MIN, len(word) - 2)]
    return Deed(name, frozenset(map(stem, forms)), beginning, beside, of_all, is_named)


def _stems(said: Iterable[str]) -> frozenset[str]:
    """The stems of what says something, and no measure: "cost" stands beside all that is sold."""
    said = (word for word in said if word not in STOP_WORDS and not word.isdigit())
    return frozenset(map(stem, said)) - MEASURING - _LIGHT
