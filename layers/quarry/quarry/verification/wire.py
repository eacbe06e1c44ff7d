"""What the check of an answer found, as clients get it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from quarry.platform.lazy_model import LazyModel

if TYPE_CHECKING:
    from quarry.verification.check import Verification
    from quarry.verification.trust import Trust


class CheckedStatement(LazyModel):
    """A statement of an answer, at `answer[start:end]`: borne out by what it rests on (`verified`), neither borne out nor
    contradicted (`plausible`), or contradicted or without anything behind it (`flagged`). `reason` says why it is not verified.
    """

    start: int
    end: int
    state: Literal["verified", "plausible", "flagged"]
    reason: str | None = None


class Confidence(LazyModel):
    """How far an answer can be believed, and the ground of it in words."""

    level: Literal["high", "medium", "low"]
    label: str


def confidence_of(trust: Trust | None) -> Confidence | None:
    """A level as clients get it."""
    return Confidence(level=trust.level, label=trust.label) if trust is not None else None


def checked_statements(found: Verification) -> list[CheckedStatement]:
    """The statements that claim something."""
    return [
        CheckedStatement(start=each.start, end=each.end, state=each.state, reason=each.reason or None)
        for each in found.statements
        if each.state != "comment"
    ]
