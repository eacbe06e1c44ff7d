"""Which of a row's dates a verb speaks of: "closed in May" is when it was closed, whatever its status.

A participle that a date's column is called after ("opened", of `opened_at`) is the name of that date. One that is only like a
value ("opened" where a status is "open") is no value before a date. What happened on no date that there is cannot be told.
"""

from __future__ import annotations

from quarry.language.tokens import keys

_GENERIC = frozenset(
    "date day time at on datetime timestamp ts dt utc tz year month when the of was is first last".split()
)
_IRREGULAR = frozenset(
    """
    paid sold sent bought made built written wrote taken given begun began born lent done held won lost met left brought kept
    drawn chosen spent broken seen shut put
    """.split()
)
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


def is_verb(event: str) -> bool:
    """Whether what happened is told by a participle ("opened"), not by a noun of any event ("order")."""
    return event.endswith("ed") or event in _IRREGULAR
