"""How each thing that a question mentions is meant: NegEx and ConText (triggers, pseudo-triggers, direction, termination).

Read over the mentions in their order, in time linear in their number. What no trigger foresees: a negative word that rules
nothing out makes what else its clause mentions `doubtful`, so that it is not required.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from quarry.core.query.mention import (
    Assertion,
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
_FORWARD: frozenset[CueKind] = frozenset(("negates", "negates_verb", "negates_list", "negates_one", "negates_values"))
_BACKWARD: frozenset[CueKind] = frozenset(("negates_before", "negates_one_before"))
TRIGGERS: frozenset[CueKind] = (
    _FORWARD | _BACKWARD | {"requires", "prefers", "alike", "uncertain", "former", "harmless", "negative"}
)
_DIMENSIONS = (Place, DateRange, NumberRange, MoneyRange, Duration)
_VERB_FORM = re.compile(r"[^\W\d_]{2,}(?:ed|ing)")

Break = Literal["none", "comma", "hard"]


def read_assertions(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions with their assertion, and how each holds together with the one before it.

    `mentions` are in order, one for each word or run of words of `text`, cues among them.
    """
    clause = _Reading(text, mentions)
    _read_preferences(clause)
    _read_negations(clause)
    _read_joins(clause)
    return [
        replace(mention, assertion=assertion, joined_by=joined)
        if (assertion, joined) != (mention.assertion, mention.joined_by)
        else mention
        for mention, assertion, joined in zip(mentions, clause.assertions, clause.joined, strict=True)
    ]


@dataclass
class _Reading:
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
        return isinstance(value, (Known, Phrase, Word, FacetName, *_DIMENSIONS))

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
        self.assertions[place] = "negated"
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


# ---- required, preferred ----


def _read_preferences(reading: _Reading) -> None:
    meant: dict[CueKind, Assertion] = {
        "requires": "required", "requires_before": "required", "prefers": "preferred", "prefers_before": "preferred",
        "alike": "preferred",
    }  # fmt: skip
    for place in range(len(reading.units)):
        cue = reading.cue(place)
        if cue is None or cue not in meant:
            continue
        for other in _preference_scope(reading, place, cue):
            reading.assertions[other] = meant[cue]


def _preference_scope(reading: _Reading, place: int, cue: CueKind) -> list[int]:
    """What "only" or "preferably" is about: what follows it in its clause, or what stands before it where it closes one."""
    after = _clause_units(reading, place + 1)
    if cue.endswith("_before") or not after:
        return [] if cue == "alike" else _item_before(reading, place)
    return after


def _clause_units(reading: _Reading, first: int) -> list[int]:
    """The mentions from `first` to the end of the clause, over the commas of a list."""
    found: list[int] = []
    for place in range(first, min(first + SCOPE_UNITS_MAX, len(reading.units))):
        if not found and reading.breaks[place] == "none" and reading.leads_on(place):
            continue
        if reading.breaks[place] == "hard" or reading.cue(place) in ("ends", *TRIGGERS):
            break
        if reading.breaks[place] == "comma" and not (found and _are_alike(reading, found[-1], place)):
            break
        if reading.is_content(place):
            found.append(place)
    return found


def _item_before(reading: _Reading, place: int) -> list[int]:
    """The last mention before `place` in its clause, with those that are listed with it."""
    found: list[int] = []
    for before in range(place - 1, max(-1, place - 1 - SCOPE_UNITS_MAX), -1):
        if reading.is_content(before):
            beside = found and not (
                _are_alike(reading, before, found[-1])
                or (isinstance(reading.units[before].value, Word) and _touch(reading, before, found[-1]))
            )
            if beside:
                break
            found.append(before)
        elif reading.cue(before) in ("ends", *TRIGGERS):
            break
        if reading.breaks[before] == "hard" or (
            reading.breaks[before] == "comma"
            and not (len(found) > 1 and before and _are_alike(reading, before - 1, before))
        ):
            break
    return found


# ---- ruled out ----


def _read_negations(reading: _Reading) -> None:
    for place in range(len(reading.units)):
        if _has_minus(reading, place):
            reading.negate(place, place)
        elif _is_doubled(reading, place):
            continue
        elif (cue := reading.cue(place)) in _FORWARD:
            _rule_out_after(reading, place)
        elif cue in _BACKWARD:
            _rule_out_before(reading, place)
        elif cue in ("uncertain", "former"):
            reading.doubt(_item_after(reading, place))
        elif cue == "negative":
            reading.doubt_clause(reading.clause_starts[place], place)
    for place in range(len(reading.units)):
        if reading.cue(place) == "irrelevant_before":
            _leave_open(reading, place)


def _has_minus(reading: _Reading, place: int) -> bool:
    """ "-crypto", as in a search box."""
    start = reading.units[place].start
    if not reading.is_content(place) or start == 0 or reading.text[start - 1] != "-":
        return False
    return start == 1 or reading.text[start - 2].isspace()


def _is_doubled(reading: _Reading, place: int) -> bool:
    """Whether a "not" stands right before another one, or right behind it: "not without"."""
    if reading.cue(place) not in _FORWARD or reading.words(place) in ("nor", "neither"):
        return False
    touches_next = place + 1 < len(reading.units) and reading.breaks[place + 1] == "none"
    both = {reading.words(place), reading.words(place + 1) if touches_next else ""}
    opens = touches_next and reading.cue(place + 1) in _FORWARD and not both & {"nor", "neither"}
    follows = place > 0 and reading.breaks[place] == "none" and reading.cue(place - 1) in _FORWARD
    return opens or (follows and reading.words(place - 1) not in ("nor", "neither"))


def _rule_out_after(reading: _Reading, trigger: int) -> None:
    cue = reading.cue(trigger)
    scope = list(_item_after(reading, trigger)) if cue == "negates_one" else _scope_after(reading, trigger)
    values = [place for place in scope if reading.is_value(place)]
    if cue == "negates_values":
        scope = values
    if cue == "negates_verb" and values:
        # "never served in the army": the verb belongs to what is ruled out
        for place in scope:
            if place < values[0]:
                reading.assertions[place] = "doubtful"
        scope = values
    for place in scope:
        reading.negate(place, trigger)
    if not values and cue not in ("negates_values", "negates_one"):
        # "without experience in Berlin", or a "not" that reaches nothing: what else the clause mentions may be ruled out too
        first = trigger + 1 if scope else reading.clause_starts[trigger]
        reading.doubt_clause(first, trigger, only_names=bool(scope))


def _item_after(reading: _Reading, trigger: int) -> Iterator[int]:
    """The first mention behind `trigger`, and those that are joined to it by "or"."""
    joined = True
    for place in range(trigger + 1, min(trigger + 1 + SCOPE_UNITS_MAX, len(reading.units))):
        if reading.breaks[place] == "hard":
            return
        if reading.is_content(place):
            if not joined:
                return
            yield place
            joined = False
            if reading.cue(trigger) == "negates_one":
                return
        elif reading.cue(place) == "or":
            joined = True
        elif reading.cue(place) in ("ends", *TRIGGERS) or not joined:
            return


def _scope_after(reading: _Reading, trigger: int) -> list[int]:
    """What a "not" rules out: an item, and the items of its list."""
    scope = _Scope(reading, trigger)
    for place in range(trigger + 1, min(trigger + 1 + SCOPE_UNITS_MAX, len(reading.units))):
        if not scope.goes_on(place):
            break
    return scope.places


class _Scope:
    """What one trigger rules out, as it is read word by word."""

    def __init__(self, reading: _Reading, trigger: int) -> None:
        self.reading = reading
        self.trigger = trigger
        self.takes_list = reading.cue(trigger) == "negates_list"
        self.is_verbal = reading.cue(trigger) == "negates_verb"
        self.places: list[int] = []
        self.item: list[int] = []
        self.has_noun = False

    def goes_on(self, place: int) -> bool:
        """Takes in the unit at `place`; False where the scope ends before it."""
        reading, cue = self.reading, self.reading.cue(place)
        if reading.breaks[place] == "hard":
            return False
        if reading.breaks[place] == "comma":
            if not self._list_goes_on(place):
                return False
            self._next_item()
        if not self.places and reading.leads_on(place):
            return True
        if cue in TRIGGERS or cue in ("ends", "requires_before", "prefers_before", "irrelevant_before"):
            return False
        if cue in ("and", "or"):
            return self._joins(place, cue)
        if cue == "relates":
            return not self._item_is_full or (reading.words(place) == "of" and not self._is_dimension(self.item[-1]))
        if cue == "noun":
            self.has_noun = self.has_noun or bool(self.item)
        if self.is_verbal and isinstance(reading.units[place].value, FacetName) and self._is_verb(place):
            return True
        return self._takes(place) if reading.is_content(place) else True

    def _is_verb(self, place: int) -> bool:
        """Whether the name of a facet leads to a value here: "not published by", "not the architect …"."""
        following = place + 1
        return following < len(self.reading.units) and (
            self.reading.cue(following) in ("relates", "filler") or self.reading.is_value(following)
        )

    @property
    def _item_is_full(self) -> bool:
        """Whether a preposition begins something else: not behind a verb ("never served in")."""
        if not self.item or not self.is_verbal or any(self.reading.is_value(place) for place in self.item):
            return bool(self.item)
        is_bare_not = self.reading.words(self.trigger) == "not"
        last = self.item[-1]
        is_verb = _VERB_FORM.fullmatch(self.reading.words(last)) or self.reading.follows(last) == "by"
        return is_bare_not and not is_verb

    def _takes(self, place: int) -> bool:
        reading = self.reading
        if self.item and self._begins_anew(place):
            return False
        if sum(not reading.is_value(other) for other in self.item) >= ITEM_WORDS_MAX and not reading.is_value(place):
            return False
        if self.item and not self.is_verbal and _touch(reading, self.item[-1], place):
            reading.joined[place] = "or"
        self.item.append(place)
        self.places.append(place)
        return True

    def _begins_anew(self, place: int) -> bool:
        last = self.item[-1]
        if self.has_noun:
            return True
        if self.is_verbal and not self.reading.is_value(last):
            return False
        return self._is_dimension(place) or not _touch(self.reading, last, place)

    def _is_dimension(self, place: int) -> bool:
        return isinstance(self.reading.units[place].value, _DIMENSIONS)

    def _next_item(self) -> None:
        self.item = []
        self.has_noun = False

    def _joins(self, place: int, cue: CueKind) -> bool:
        """Whether a list goes on behind "or", or behind "and"."""
        if not self.places:
            return cue == "or"
        following = _next_content(self.reading, place + 1)
        if following is None:
            return False
        goes_on = cue == "or" or (
            self._is_listed(following) if self.takes_list else _are_alike(self.reading, self.places[-1], following)
        )
        if cue == "and" and not goes_on:
            # "no cats and quick": whether the second is ruled out too cannot be told of words
            self._doubt_word(following)
        if goes_on:
            self._next_item()
        return goes_on

    def _doubt_word(self, place: int) -> None:
        reading = self.reading
        both_words = not reading.is_value(place) and not reading.is_value(self.places[-1])
        if both_words and not any(reading.cue(between) for between in range(self.places[-1] + 2, place)):
            reading.assertions[place] = "doubtful"

    def _is_listed(self, place: int) -> bool:
        """Behind "except A and": anything but a dimension of another kind."""
        value, last = self.reading.units[place].value, self.reading.units[self.places[-1]].value
        return not isinstance(value, _DIMENSIONS[1:]) or type(value) is type(last)

    def _list_goes_on(self, place: int) -> bool:
        """Whether behind a comma the list of what is ruled out goes on: a name beside a name, or items up to an "or"."""
        if not self.places:
            return False
        following = _next_content(self.reading, place)
        if following is None:
            return False
        if self.reading.cue(place) == "or" or _reaches_or(self.reading, place):
            return True
        is_alike = _are_alike(self.reading, self.places[-1], following)
        if self.takes_list:
            return is_alike or _reaches_or(self.reading, place, with_and=True)
        return is_alike and self.reading.is_value(following) and following - place <= 1


def _next_content(reading: _Reading, first: int) -> int | None:
    """The mention at `first` or behind articles, prepositions and the like."""
    for place in range(first, min(first + ITEM_WORDS_MAX + 2, len(reading.units))):
        if reading.is_content(place):
            return place
        if reading.cue(place) not in ("filler", "relates", "light", "title", "and", "or", "noun"):
            return None
    return None


def _reaches_or(reading: _Reading, first: int, with_and: bool = False) -> bool:
    """Whether short items, with commas between them, lead to an "or"."""
    words = 0
    for place in range(first, min(first + SCOPE_UNITS_MAX, len(reading.units))):
        cue = reading.cue(place)
        if reading.breaks[place] == "comma":
            words = 0
        if cue == "or" or (with_and and cue == "and"):
            following = reading.cue(place + 1)
            return place > first and following not in TRIGGERS and following != "ends"
        if reading.breaks[place] == "hard" or cue in ("ends", "and", *TRIGGERS) or words > ITEM_WORDS_MAX:
            return False
        words += reading.is_content(place)
    return False


def _are_alike(reading: _Reading, first: int, second: int) -> bool:
    """Whether two mentions are of one facet or one dimension."""
    a, b = reading.units[first].value, reading.units[second].value
    if isinstance(a, Known) and isinstance(b, Known):
        return bool({value.facet for value in a.values} & {value.facet for value in b.values})
    if isinstance(a, Known) and isinstance(b, Place):
        a, b = b, a
    if isinstance(a, Place) and isinstance(b, Known):
        return bool({value.facet for value in a.known} & {value.facet for value in b.values})
    if isinstance(a, Word) and isinstance(b, Word):
        return a.is_name and b.is_name
    return type(a) is type(b) and isinstance(a, _DIMENSIONS)


def _touch(reading: _Reading, first: int, second: int) -> bool:
    """Whether only a space or a hyphen is between two mentions."""
    gap = reading.text[reading.units[first].end : reading.units[second].start]
    return len(gap) == 1 and (gap == "-" or gap.isspace())


def _rule_out_before(reading: _Reading, trigger: int) -> None:
    """ "… need not apply", "sugar-free": what stands before, with its list."""
    if reading.cue(trigger) == "negates_one_before":
        if trigger and reading.is_content(trigger - 1) and _touch(reading, trigger - 1, trigger):
            reading.negate(trigger - 1, trigger)
        return
    scope = _item_before(reading, trigger)
    for place in scope:
        reading.negate(place, trigger)
    first = min(scope, default=trigger)
    reading.doubt(range(max(reading.clause_starts[trigger], first - SCOPE_UNITS_MAX), first))


def _leave_open(reading: _Reading, cue: int) -> None:
    """ "No experience needed", "whether X or Y doesn't matter": what stands before is neither required nor ruled out.

    "Experience needed" alone insists on it.
    """
    scope = _item_before(reading, cue)
    if not scope:
        return
    is_plain = reading.words(cue) in ("needed", "required", "necessary")
    for place in scope:
        if not is_plain or reading.assertions[place] == "negated":
            reading.assertions[place] = "doubtful"
        elif reading.assertions[place] == "affirmed":
            reading.assertions[place] = "required"


# ---- lists ----

_WITHIN_LIST: frozenset[CueKind] = frozenset(("filler", "relates", "light", "noun", "title"))


def _read_joins(reading: _Reading) -> None:
    """What joins each mention to the one before it: "or" within one negation means neither, so "and"."""
    last: int | None = None
    said: CueKind | None = None
    has_comma = False
    pending: list[int] = []
    for place in range(len(reading.units)):
        cue = reading.cue(place)
        if reading.breaks[place] == "hard":
            last, said, has_comma, pending = None, None, False, []
        has_comma = has_comma or reading.breaks[place] == "comma"
        if cue in ("and", "or"):
            said = cue
        elif cue == "negates" and reading.words(place) == "nor":
            said = "and"
        elif cue == "ends":
            last, said, has_comma, pending = None, None, False, []
        elif reading.is_content(place):
            if last is not None:
                pending = _join(reading, last, place, said, has_comma, pending)
            last, said, has_comma = place, None, False


def _join(
    reading: _Reading, last: int, place: int, said: CueKind | None, has_comma: bool, pending: list[int]
) -> list[int]:
    """Joins `place` to `last`, and so those before them that only commas join; returns those that still wait for a word."""
    one_trigger = last in reading.by and reading.by.get(last) == reading.by.get(place)
    if one_trigger:
        if said or has_comma:
            reading.joined[place] = "and"
        return []
    is_alike = _are_alike(reading, last, place)
    if said is None:
        return [*pending, place] if has_comma and is_alike else []
    joined: Literal["and", "or"] = "or" if said == "or" else "and"
    for other in (*(pending if is_alike else ()), place):
        reading.joined[other] = joined
    return []
