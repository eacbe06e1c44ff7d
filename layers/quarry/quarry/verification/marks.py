"""A streamed answer with a dagger behind each statement that the check flags, for those who see its text alone. Pure."""

from __future__ import annotations

from collections.abc import Sequence

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


def footnote(reasons: Sequence[str], label: str = "") -> str:
    """The last line: the level of the answer, and why statements have a dagger."""
    if not reasons:
        return ""
    said = "; ".join(dict.fromkeys(reasons))
    return f"\n\n{DAGGER} {f'{label}. ' if label else ''}{said[0].upper()}{said[1:]}."
