"""What one "not" rules out: an item, and the items of its list, as they are read word by word."""

from __future__ import annotations

import re

from quarry.spans.clauses import (
    DIMENSIONS,
    ITEM_WORDS_MAX,
    SCOPE_UNITS_MAX,
    TRIGGERS,
    Clauses,
    are_alike,
    next_content,
    touch,
)
from quarry.spans.mention import (
    CueKind,
    FacetName,
)

_VERB_FORM = re.compile(r"[^\W\d_]{2,}(?:ed|ing)")


def leads_to_verb(clauses: Clauses, trigger: int) -> bool:
    """Whether a "not" is one of a verb: "did not study at", "except those who studied at", "neither live in"."""
    if clauses.words(trigger) in ("neither", "nor"):
        is_name = trigger + 1 < len(clauses.units) and isinstance(clauses.units[trigger + 1].value, FacetName)
        return is_name and clauses.cue(trigger + 2) == "relates"
    return clauses.cue(trigger) == "negates_verb" or clauses.follows(trigger).endswith(" who")


def scope_after(clauses: Clauses, trigger: int) -> list[int]:
    """What a "not" rules out: an item, and the items of its list."""
    scope = _Scope(clauses, trigger)
    for place in range(trigger + 1, min(trigger + 1 + SCOPE_UNITS_MAX, len(clauses.units))):
        if not scope.goes_on(place):
            break
    return scope.places


class _Scope:
    """What one trigger rules out, as it is read word by word."""

    def __init__(self, clauses: Clauses, trigger: int) -> None:
        self.clauses = clauses
        self.trigger = trigger
        self.takes_list = clauses.cue(trigger) == "negates_list"
        self.is_verbal = leads_to_verb(clauses, trigger)
        self.places: list[int] = []
        self.item: list[int] = []
        self.has_noun = False

    def goes_on(self, place: int) -> bool:
        """Takes in the unit at `place`; False where the scope ends before it."""
        clauses, cue = self.clauses, self.clauses.cue(place)
        if clauses.breaks[place] == "hard":
            return False
        if clauses.breaks[place] == "comma":
            if not self._list_goes_on(place):
                return False
            self._next_item()
        is_yet = place == self.trigger + 1 and clauses.words(place) == "yet"  # "are not yet paid"
        if not self.places and (clauses.leads_on(place) or is_yet):
            return True
        if cue in TRIGGERS or cue in ("ends", "requires_before", "prefers_before", "irrelevant_before"):
            return False
        if cue in ("and", "or"):
            return self._joins(place, cue)
        if cue == "relates":
            return not self._item_is_full or (clauses.words(place) == "of" and not self._is_dimension(self.item[-1]))
        if cue == "noun":
            self.has_noun = self.has_noun or bool(self.item)
        if self.is_verbal and isinstance(clauses.units[place].value, FacetName) and self._is_verb(place):
            return True
        return self._takes(place) if clauses.is_content(place) else True

    def _is_verb(self, place: int) -> bool:
        """Whether the name of a facet leads to a value here: "not published by", "not the architect …", "not serving rest", "not
        currently working at".
        """
        following = place + 1
        if following >= len(self.clauses.units):
            return False
        if self.clauses.is_value(following):
            return True
        if self.clauses.cue(following) in ("relates", "filler", "light"):
            # "never ordered anything" leads to nothing
            return next_content(self.clauses, following) is not None
        return self.clauses.is_content(following) and _VERB_FORM.fullmatch(self.clauses.words(place)) is not None

    @property
    def _item_is_full(self) -> bool:
        """Whether a preposition begins something else: not behind a verb ("never served in")."""
        if not self.item or not self.is_verbal or any(self.clauses.is_value(place) for place in self.item):
            return bool(self.item)
        is_bare_not = self.clauses.words(self.trigger) == "not"
        last = self.item[-1]
        is_verb = _VERB_FORM.fullmatch(self.clauses.words(last)) or self.clauses.follows(last) == "by"
        return is_bare_not and not is_verb

    def _takes(self, place: int) -> bool:
        clauses = self.clauses
        if self.item and self._begins_anew(place):
            return False
        if sum(not clauses.is_value(other) for other in self.item) >= ITEM_WORDS_MAX and not clauses.is_value(place):
            return False
        if self.item and not self.is_verbal and touch(clauses, self.item[-1], place):
            clauses.joined[place] = "or"
        self.item.append(place)
        self.places.append(place)
        return True

    def _begins_anew(self, place: int) -> bool:
        last = self.item[-1]
        if self.has_noun:
            return True
        if self.is_verbal and not self.clauses.is_value(last):
            return False
        return self._is_dimension(place) or not touch(self.clauses, last, place)

    def _is_dimension(self, place: int) -> bool:
        return isinstance(self.clauses.units[place].value, DIMENSIONS)

    def _next_item(self) -> None:
        self.item = []
        self.has_noun = False

    def _joins(self, place: int, cue: CueKind) -> bool:
        """Whether a list goes on behind "or", or behind "and"."""
        if not self.places:
            return cue == "or"
        following = next_content(self.clauses, place + 1)
        if following is None:
            return False
        goes_on = cue == "or" or (
            self._is_listed(following) if self.takes_list else are_alike(self.clauses, self.places[-1], following)
        )
        if cue == "and" and not goes_on:
            # "no cats and quick": whether the second is ruled out too cannot be told of words
            self._doubt_word(following)
        if goes_on:
            self._next_item()
        return goes_on

    def _doubt_word(self, place: int) -> None:
        clauses = self.clauses
        both_words = not clauses.is_value(place) and not clauses.is_value(self.places[-1])
        if both_words and not any(clauses.cue(between) for between in range(self.places[-1] + 2, place)):
            clauses.assertions[place] = "doubtful"

    def _is_listed(self, place: int) -> bool:
        """Behind "except A and": anything but a dimension of another kind."""
        value, last = self.clauses.units[place].value, self.clauses.units[self.places[-1]].value
        return not isinstance(value, DIMENSIONS[1:]) or type(value) is type(last)

    def _list_goes_on(self, place: int) -> bool:
        """Whether behind a comma the list of what is ruled out goes on: a name beside a name, or items up to an "or"."""
        if not self.places:
            return False
        following = next_content(self.clauses, place)
        if following is None:
            return False
        if self.clauses.cue(place) == "or" or _reaches_or(self.clauses, place):
            return True
        is_alike = are_alike(self.clauses, self.places[-1], following)
        if self.takes_list:
            return is_alike or _reaches_or(self.clauses, place, with_and=True)
        return is_alike and self.clauses.is_value(following) and following - place <= 1


def _reaches_or(clauses: Clauses, first: int, with_and: bool = False) -> bool:
    """Whether short items, with commas between them, lead to an "or"."""
    words = 0
    for place in range(first, min(first + SCOPE_UNITS_MAX, len(clauses.units))):
        cue = clauses.cue(place)
        if clauses.breaks[place] == "comma":
            words = 0
        if cue == "or" or (with_and and cue == "and"):
            following = clauses.cue(place + 1)
            return place > first and following not in TRIGGERS and following != "ends"
        if clauses.breaks[place] == "hard" or cue in ("ends", "and", *TRIGGERS) or words > ITEM_WORDS_MAX:
            return False
        words += clauses.is_content(place)
    return False
