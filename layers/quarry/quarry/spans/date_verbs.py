"""Words in the names of dates that say what happened then: "closed" of `closed_on`."""

from __future__ import annotations

_IRREGULAR = frozenset(
    """
    paid sold sent bought made built written wrote taken given begun began born lent done held won lost met left brought kept
    drawn chosen spent broken seen shut put
    """.split()
)
DUE = frozenset(("due", "deadline"))
"""In the name of a date they say that something is to be done until then."""


def is_verb(event: str) -> bool:
    """Whether what happened is told by a participle ("opened"), not by a noun of any event ("order")."""
    return event.endswith("ed") or event in _IRREGULAR
