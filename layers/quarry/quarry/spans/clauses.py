"""The mentions of a question as its clauses hold them: what stands beside what, and what is known of each so far."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from quarry.platform.contract import Assertion
from quarry.spans.mention import (
    Cue,
    CueKind,
    DateRange,
    Duration,
    FacetName,
    Known,
    Mention,
    MoneyRange,
    NumberRange,
    Phrase,
    Place,
    Word,
)

ITEM_WORDS_MAX = 3
"""So many words of no known value one item of what is ruled out may have."""
SCOPE_UNITS_MAX = 40
"""So many mentions and words a scope may reach."""

_HARD_BREAK = re.compile(r"[;:!?()\[\]\n]|\.(?:\s|$)|\s[-–—]\s")
_COMMA = re.compile(r"[,/]")
FORWARD: frozenset[CueKind] = frozenset(("negates", "negates_verb", "negates_list", "negates_one", "negates_values"))
BACKWARD: frozenset[CueKind] = frozenset(("negates_before", "negates_one_before"))
TRIGGERS: frozenset[CueKind] = (
    FORWARD | BACKWARD | {"requires", "prefers", "alike", "uncertain", "former", "harmless", "negative"}
)
DIMENSIONS = (Place, DateRange, NumberRange, MoneyRange, Duration)

Break = Literal["none", "comma", "hard"]


@dataclass
class Clauses:
    """The units of a question, and what is known of each so far. `by` is the place of the trigger that ruled a unit out."""

    text: str
    units: Sequence[Mention]
    breaks: list[Break] = field(init=False)
    assertions: list[Assertion] = field(init=False)
    joined: list[Literal["and", "or"] | None] = field(init=False)
    by: dict[int, int] = field(default_factory=dict)
    clause_starts: list[int] = field(init=False)
    clause_ends: list[int] = field(init=False)
    doubted: dict[tuple[int, bool], int] = field(default_factory=dict)
    """By the end of a clause, and whether names and places alone are doubted: from where on its mentions are."""

    def __post_init__(self) -> None:
        self.assertions = [unit.assertion for unit in self.units]
        self.joined = [None] * len(self.units)
        ends = [0, *(unit.end for unit in self.units)]
        self.breaks = [_break(self.text[end : unit.start]) for end, unit in zip(ends[:-1], self.units, strict=True)]
        self._find_clauses()

    def _find_clauses(self) -> None:
        """A clause begins at punctuation and behind "but"."""
        count = len(self.units)
        begins = [
            place == 0 or self.breaks[place] != "none" or self.words(place - 1) == "but" for place in range(count)
        ]
        self.clause_starts, self.clause_ends = [0] * count, [count] * count
        for place in range(1, count):
            self.clause_starts[place] = place if begins[place] else self.clause_starts[place - 1]
        for place in range(count - 2, -1, -1):
            self.clause_ends[place] = place + 1 if begins[place + 1] else self.clause_ends[place + 1]

    def cue(self, place: int) -> CueKind | None:
        if not 0 <= place < len(self.units):
            return None
        value = self.units[place].value
        return value.what if isinstance(value, Cue) else None

    def is_content(self, place: int) -> bool:
        value = self.units[place].value
        return isinstance(value, (Known, Phrase, Word, FacetName, *DIMENSIONS))

    def is_value(self, place: int) -> bool:
        return self.is_content(place) and not isinstance(self.units[place].value, Word)

    def words(self, place: int) -> str:
        unit = self.units[place]
        return self.text[unit.start : unit.end].lower()

    def follows(self, place: int) -> str:
        """The words behind `place`; empty where a clause begins there."""
        after = place + 1
        return self.words(after) if after < len(self.units) and self.breaks[after] == "none" else ""

    def leads_on(self, place: int) -> bool:
        """Whether "with" or "having" stands here, which behind a cue begins what the cue is about."""
        return self.words(place) in ("with", "having")

    def negate(self, place: int, trigger: int) -> None:
        # "not unfurnished" is furnished
        is_opposite = self.units[place].assertion == "negated"
        self.assertions[place] = "affirmed" if is_opposite else "negated"
        self.by[place] = trigger

    def doubt(self, places: Iterable[int]) -> None:
        for place in places:
            if self.is_value(place) and self.assertions[place] != "negated":
                self.assertions[place] = "doubtful"

    def doubt_clause(self, first: int, within: int, only_names: bool = False) -> None:
        """Doubts what the clause of `within` mentions from `first` on; what was doubted before is not gone through again."""
        end = self.clause_ends[within]
        last = min(end, self.doubted.get((end, only_names), end))
        self.doubt(
            place
            for place in range(first, last)
            if not only_names or isinstance(self.units[place].value, (Known, Place))
        )
        self.doubted[end, only_names] = min(first, last)


def _break(gap: str) -> Break:
    if _HARD_BREAK.search(gap):
        return "hard"
    return "comma" if _COMMA.search(gap) else "none"


def item_before(clauses: Clauses, place: int) -> list[int]:
    """The last mention before `place` in its clause, with those that are listed with it."""
    found: list[int] = []
    for before in range(place - 1, max(-1, place - 1 - SCOPE_UNITS_MAX), -1):
        if clauses.is_content(before):
            beside = found and not (
                are_alike(clauses, before, found[-1])
                or (isinstance(clauses.units[before].value, Word) and touch(clauses, before, found[-1]))
            )
            if beside:
                break
            found.append(before)
        elif clauses.cue(before) in ("ends", *TRIGGERS):
            break
        if clauses.breaks[before] == "hard" or (
            clauses.breaks[before] == "comma"
            and not (len(found) > 1 and before and are_alike(clauses, before - 1, before))
        ):
            break
    return found


def next_content(clauses: Clauses, first: int) -> int | None:
    """The mention at `first` or behind articles, prepositions and the like."""
    for place in range(first, min(first + ITEM_WORDS_MAX + 2, len(clauses.units))):
        if clauses.is_content(place):
            return place
        if clauses.cue(place) not in ("filler", "relates", "light", "title", "and", "or", "noun"):
            return None
    return None


def are_alike(clauses: Clauses, first: int, second: int) -> bool:
    """Whether two mentions are of one facet or one dimension."""
    a, b = clauses.units[first].value, clauses.units[second].value
    if isinstance(a, Known) and isinstance(b, Known):
        return bool({value.facet for value in a.values} & {value.facet for value in b.values})
    if isinstance(a, Known) and isinstance(b, Place):
        a, b = b, a
    if isinstance(a, Place) and isinstance(b, Known):
        return bool({value.facet for value in a.known} & {value.facet for value in b.values})
    if isinstance(a, Word) and isinstance(b, Word):
        return a.is_name and b.is_name
    return type(a) is type(b) and isinstance(a, DIMENSIONS)


def touch(clauses: Clauses, first: int, second: int) -> bool:
    """Whether only a space or a hyphen is between two mentions."""
    gap = clauses.text[clauses.units[first].end : clauses.units[second].start]
    return len(gap) == 1 and (gap == "-" or gap.isspace())
