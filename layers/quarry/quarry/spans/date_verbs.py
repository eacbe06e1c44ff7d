"""Which of a row's dates a verb speaks of: "closed in May" is when it was closed, whatever its status.

A participle that a date's column is called after ("opened", of `opened_at`) is the name of that date. One that is only like a
value ("opened" where a status is "open") is no value before a date. What happened on no date that there is cannot be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from quarry.language.stemming import stem
from quarry.language.tokens import keys
from quarry.spans.mention import Cue, Known, Mention, Place, Value, Word

HELPER_BEFORE_MAX = 80
"""So many characters before a verb its "did" may stand."""
_SHARED_LETTERS_MIN = 4
_HELPED = re.compile(r"\b(?:did|does|do)\b", re.IGNORECASE)

_GENERIC = frozenset(
    "date day time at on datetime timestamp ts dt utc tz year month when the of was is first last".split()
)
_IRREGULAR = frozenset(
    """
    paid sold sent bought made built written wrote taken given begun began born lent done held won lost met left brought kept
    drawn chosen spent broken seen shut put
    """.split()
)
_CLOSING = frozenset(map(stem, "closed resolved finished completed solved".split()))
"""Verbs for what ends a row's matter: what was resolved was closed then."""
DUE = frozenset(("due", "deadline"))
"""In the name of a date they say that something is to be done until then."""


def events_of(*names: str) -> tuple[str, ...]:
    """The words in the names of a date that say what happened then: "closed" of `closed_at`, "due" of `due_date`."""
    called = (keys(name.replace("_", " ")) for name in names)
    # until when something is to happen is not when it did: `return_by`
    said = (_without_period(key) for words in called if words[-1:] != ("by",) for key in words)
    return tuple(dict.fromkeys(key for key in said if key not in _GENERIC and key.isalpha()))


def _without_period(word: str) -> str:
    """What a German compound dates: "entstehung" of "entstehungsjahr"."""
    for period in ("jahr", "datum"):
        if word.endswith(period) and word != period:
            return word.removesuffix(period).removesuffix("s")
    return word


def closes(word: str, events: Iterable[str]) -> bool:
    """Whether a date that is called by `events` is when a row's matter ended, as a verb says."""
    return stem(word) in _CLOSING and any(stem(event) in _CLOSING for event in events)


def _made(text: str, mentions: Sequence[Mention], events: Mapping[str, tuple[str, ...]]) -> str | None:
    """The date of the rows' making that is called as they are: `booked_at` of bookings."""
    nouns = {stem(text[each.start : each.end].split()[-1].lower()) for each in mentions if each.value == Cue("noun")}
    called = [facet for facet, said in events.items() if not nouns.isdisjoint(map(stem, said))]
    return called[0] if len(called) == 1 else None


def _forms(deed: str) -> tuple[tuple[str, ...], ...]:
    """The stems of a verb, with its particle, and of its participle."""
    verb, *particle = deed.split()
    return tuple((stem(form), *map(stem, particle)) for form in (verb, f"{verb}ed"))


def _of_facets(value: Value, facets: Set[str]) -> Known | Place | None:
    """What is known, as values of these facets alone; None where it is none of theirs."""
    if isinstance(value, Known) and (values := tuple(each for each in value.values if each.facet in facets)):
        return Known(values)
    if isinstance(value, Place) and (values := tuple(each for each in value.known if each.facet in facets)):
        return replace(value, known=values)
    return None


def participle(text: str, mention: Mention) -> str | None:
    """The mention as the participle of a verb, or the verb behind "did", in small letters; None where it is none."""
    value = mention.value
    is_free = isinstance(value, (Known, Word)) or (isinstance(value, Cue) and value.what == "light")
    word = text[mention.start : mention.end]
    if not is_free or not word.isalpha() or not word.islower():
        return None
    if is_participle(word):
        return word
    is_verb_of_helper = isinstance(value, Known) and _HELPED.search(
        text[max(0, mention.start - HELPER_BEFORE_MAX) : mention.start]
    )
    return word if is_verb_of_helper and _is_inflected(mention, word) else None


def is_participle(word: str) -> bool:
    """Whether a word, in lower case, is by its form the participle of a verb."""
    is_regular = len(word) > _SHARED_LETTERS_MIN and word.endswith("ed") and not word.endswith("eed")
    return is_regular or word in _IRREGULAR


def _is_inflected(mention: Mention, word: str) -> bool:
    """Whether the word is another form of the values that it was taken for."""
    return isinstance(mention.value, Known) and all("".join(keys(each.value)) != word for each in mention.value.values)


def is_verb(event: str) -> bool:
    """Whether what happened is told by a participle ("opened"), not by a noun of any event ("order")."""
    return event.endswith("ed") or event in _IRREGULAR
