"""A streamed answer with a dagger behind each statement that the check flags, for those who see its text alone. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quarry.verification.wire import CheckedStatement

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
    said = "; ".join(dict.fromkeys(each.reason or "" for each in flagged))
    why = f"\n\n{DAGGER} {f'{label}. ' if label else ''}{said[:1].upper()}{said[1:]}." if flagged else ""
    return marked.finish([each.end for each in flagged]) + why
