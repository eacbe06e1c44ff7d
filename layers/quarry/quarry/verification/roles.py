"""Who does what to whom: whether a statement has the words of a sentence of its source in another order, or another one of the
source's words in the place of one. Pure.

Two words have changed sides where a third one, such as the verb, stands between them in both: "A sued B" for "B sued A". A
passive turns them without a change ("B was sued by A").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise
from typing import Literal

from quarry.language.word_forms import STOP_WORDS
from quarry.platform.text import words
from quarry.verification.passages import COLON, Clause, Finding, Passage, clauses_of, exchanges
from quarry.verification.values import english, root_of

SHARED_MIN, SHARE_MIN = 3, 0.6
"""How many words of a statement, and which share of them, a sentence must have to be the one that it retells."""
PLACED_MAX, PLACES_MAX, BESIDE_MIN = 2, 4, 2
"""Words that stand in the place of so many others, at most, and the least words that are the same around them."""
TITLE_MAX = 2
"""Words side by side may name the same, whatever so short a word stands between ("the vet, Dr. Rouse")."""


@dataclass(frozen=True)
class Line:
    """The words of a sentence that carry meaning or deny, as stems in order. What stands before and behind a word of `turns` is
    turned by grammar: a passive with "by", or what a possessor has.
    """

    stems: Sequence[str]
    turns: frozenset[str]
    by: frozenset[str]
    """The words that "by" follows."""

    @classmethod
    def of(cls, text: str) -> Line:
        wording, stems = english(), list[str]()
        turns, by, turns_next = set[str](), set[str](), False
        for word in words(text):
            if word == "by" and stems:
                by.add(stems[-1])
            if wording.denies(word):
                stems.append(word)
            elif word not in STOP_WORDS and not word[0].isdigit():
                stems.append(root_of(word))
                turns.update(stems[-1:] if turns_next else ())
            turns_next = word.endswith(("'s", "s'"))
        return cls(stems, frozenset(turns | by), frozenset(by))

    @cached_property
    def place(self) -> dict[str, int]:
        """Where the words are that stand there once."""
        return {each: n for n, each in enumerate(self.stems) if self.stems.count(each) == 1}


def check_roles(text: str, passage: Passage, finding: Finding) -> None:
    """Whether the source has two words of the statement the other way round, or another word in its place."""
    mine = Line.of(text.replace("\0", " "))
    if _has_swapped_agent(mine, passage):
        finding.denied.append(passage.gettext("{source} says the reverse: who did it to whom"))
        return
    if len(mine.stems) < SHARED_MIN:
        return
    nearest = _nearest_sentence(mine, passage)
    if nearest is None:
        return
    theirs, quote = Line.of(nearest.text), nearest.text.strip()
    if _has_swapped_words(mine, theirs):
        finding.denied.append(passage.gettext("{source} says it the other way round: “{quote}”", quote=quote))
    elif another := _substitution(mine, theirs, passage):
        reasons = finding.wrong if another == "exchanged" else finding.weak
        reasons.append(passage.gettext("{source} says: “{quote}”", quote=quote))


def _has_swapped_agent(mine: Line, passage: Passage) -> bool:
    """Whether the source has what is done to somebody as done by them, or the other way round."""
    if not mine.by and "by" not in passage.words:
        return False
    names = {root_of(each) for each in passage.known_names}
    for done, doer in pairwise(mine.stems):
        if doer not in names:
            continue
        lines = [Line.of(each.text) for each in passage.sentences if done in each.stems and doer in each.stems]
        is_by = {done in each.by for each in lines if (done, doer) in pairwise(each.stems)}
        if is_by == {done not in mine.by}:
            return True
    return False


def _substitution(mine: Line, theirs: Line, passage: Passage) -> Literal["exchanged", "joined"] | None:
    """Whether one or two words that the source has elsewhere stand in the place of others of its sentence: "joined" where another
    sentence says them beside the same words, since a statement may join two.
    """
    matches = SequenceMatcher(None, mine.stems, theirs.stems, autojunk=False).get_matching_blocks()
    for start, one, other, beside in exchanges(mine.stems, theirs.stems, matches):
        end = start + len(one)
        # what stands at the end may only be more than the sentence says
        is_last = end == len(mine.stems)
        if is_last or len(one) > PLACED_MAX or len(other) > PLACES_MAX or beside < BESIDE_MIN:
            continue
        is_elsewhere = passage.stems.issuperset(one) and not {*one} & {*theirs.stems} and not {*other} & {*mine.stems}
        around = {*mine.stems[max(0, start - 1) : start], *mine.stems[end : end + 1]}
        is_joined = any(each.stems.issuperset(one) and each.stems & around for each in passage.sentences)
        if is_elsewhere and not _are_one(one, other, passage):
            return "joined" if is_joined else "exchanged"
    return None


def _are_one(one: Sequence[str], other: Sequence[str], passage: Passage) -> bool:
    """Whether the source has the words of both side by side, so that they may name the same."""
    for sentence in passage.sentences:
        if sentence.stems.isdisjoint(one) or sentence.stems.isdisjoint(other):
            continue
        stems = [root_of(word) for word in words(sentence.text) if len(word) > TITLE_MAX]
        if any((a in one and b in other) or (a in other and b in one) for a, b in pairwise(stems)):
            return True
    return False


def _nearest_sentence(mine: Line, passage: Passage) -> Clause | None:
    """The sentence that a statement retells; None where no one has enough of its words."""
    stems = frozenset(mine.stems)
    # what a colon names may stand before or behind what is said of it
    parts = [
        part for each in passage.sentences for part in (clauses_of(each.text, COLON) if ": " in each.text else [each])
    ]
    best = max(parts, key=lambda each: (len(each.stems & stems), -len(each.stems)), default=None)
    shared = len(best.stems & stems) if best is not None else 0
    return best if shared >= max(SHARED_MIN, SHARE_MIN * len(stems)) else None


def _has_swapped_words(mine: Line, theirs: Line) -> bool:
    """Whether two words have changed sides around a third one."""
    common = [each for each in mine.stems if each in mine.place and each in theirs.place]
    for pivot in common:
        here, there = mine.place[pivot], theirs.place[pivot]
        if (pivot in mine.turns) != (pivot in theirs.turns):
            continue
        sides = {(mine.place[each] < here, theirs.place[each] < there) for each in common if each != pivot}
        if {(True, False), (False, True)} <= sides:
            return True
    return False


_FROM_TO = re.compile(r"\b[Ff]rom (\S+(?: \S+)?) to (\S+)")
_INSTEAD = re.compile(r"(\w+) (?:instead of|rather than|not) (?:an? |the )?(\w+)")


def check_order(text: str, passage: Passage, finding: Finding) -> None:
    """Whether "from A to B" and "A instead of B" are so in the source."""
    for match in _FROM_TO.finditer(text):
        first, last = match[1].strip(".,"), match[2].strip(".,;)")
        if re.search(rf"from {re.escape(last)}\b.{{0,24}} to {re.escape(first)}\b", passage.all):
            finding.denied.append(passage.gettext("{source} says from {last} to {first}", last=last, first=first))
            continue
        starts_at = {each for each in (first, last) if re.search(rf"\bfrom {re.escape(each)}\b", passage.all)}
        if starts_at == {last}:
            finding.denied.append(passage.gettext("{source} says from {last}", last=last))
    low = passage.all.lower()
    for match in _INSTEAD.finditer(text.lower()):
        if re.search(rf"\b{re.escape(match[2])} (?:instead of|rather than) (?:an? |the )?{re.escape(match[1])}\b", low):
            finding.denied.append(passage.gettext("{source} says it the other way round"))
