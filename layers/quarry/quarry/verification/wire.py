"""What goes into the check of an answer, and what it found, as clients get it. Opening a kept answer needs nothing of the
check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from quarry.platform.contract import LazyModel

if TYPE_CHECKING:
    from quarry.verification.check import Verification
import datetime
from collections.abc import Iterable, Sequence

Level = Literal["high", "medium", "low"]


class Trust(NamedTuple):
    """A level, and its ground in words."""

    level: Level
    label: str


class SourceText(NamedTuple):
    """A source of an answer, by its number: all of its text, and who says it."""

    n: int
    title: str
    body: str
    topic: str = ""
    author: str = ""
    date: datetime.date | None = None


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


def checked_statements(verification: Verification) -> list[CheckedStatement]:
    """The statements that claim something."""
    return [
        CheckedStatement(start=each.start, end=each.end, state=each.state, reason=each.reason or None)
        for each in verification.statements
        if each.state != "comment"
    ]


DAGGER = "†"
PIECES_MAX = 2
"""Pieces that are held back: what is flagged comes in the last ones."""


class MarkedText:
    """Give it the pieces of the text, and at the end where its flagged statements end; it gives back what can be shown."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._shown = 0

    def feed(self, piece: str) -> str:
        """The text that can be shown now."""
        self._pieces.append(piece)
        if len(self._pieces) <= PIECES_MAX:
            return ""
        first = self._pieces.pop(0)
        self._shown += len(first)
        return first

    def withdrawn(self, reason: str) -> str:
        """What to show in place of the pieces so far, which are no part of the answer: those behind it are a new text."""
        is_shown = self._shown > 0
        self._pieces, self._shown = [], 0
        return f"\n\n*Withdrawn: {reason[:1].lower()}{reason[1:]}*\n\n" if is_shown else ""

    def finish(self, ends: Sequence[int] = ()) -> str:
        """The rest, with its daggers."""
        text, self._pieces = "".join(self._pieces), []
        for end in sorted(ends, reverse=True):
            place = end - self._shown
            if 0 < place <= len(text):
                place -= text[:place].endswith("|")
                text = f"{text[:place].rstrip(' ')}{DAGGER}{text[place:]}"
        self._shown += len(text)
        return text


def marked_end(marked: MarkedText, statements: Iterable[CheckedStatement], label: str = "") -> str:
    """The rest of a text with its daggers, and a last line that says why."""
    flagged = [each for each in statements if each.state == "flagged"]
    reasons = "; ".join(dict.fromkeys(each.reason or "" for each in flagged))
    why = f"\n\n{DAGGER} {f'{label}. ' if label else ''}{reasons[:1].upper()}{reasons[1:]}." if flagged else ""
    return marked.finish([each.end for each in flagged]) + why
