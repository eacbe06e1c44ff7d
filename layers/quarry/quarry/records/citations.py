"""Citations in a streamed answer: only markers that name a source reach the client.

A marker is `[1]`, `[1, 2]`, `[1-3]`, `[[1]]` or `【1】`, possibly split over chunks. It leaves as `[1]`, several as `[1][2]`; numbers
that name no source are dropped, with the space before them. Code, fenced or inline, is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection

MARKER_CHARACTERS_MAX = 40
RANGE_SOURCES_MAX = 20

_OPENING = "[【"
_MARKER = re.compile(r"(?:\[{1,2}|【)\s*(\d{1,6}(?:\s*[,;–-]\s*\d{1,6})*)\s*(?:\]{1,2}|】)")
# what may still grow into a marker; no nested repetition, so it is matched in linear time
_MARKER_BEGINNING = re.compile(r"(?:\[{1,2}|【)[\s\d,;–-]*\]?")
_FENCE = "```"


class CitationFilter:
    """Feed it chunks of an answer; it gives back what may be sent, and holds back what may still become a marker."""

    def __init__(self, numbers: Collection[int]) -> None:
        self._numbers = frozenset(numbers)
        self._held = ""
        self._fenced = False

    def feed(self, chunk: str) -> str:
        """The text that can be sent now."""
        self._held += chunk
        return self._release(final=False)

    def finish(self) -> str:
        """The rest, once no more chunks come."""
        return self._release(final=True)

    def _release(self, *, final: bool) -> str:
        released: list[str] = []
        while self._held:
            size = self._next_piece(final)
            if size == 0:
                break
            piece, self._held = self._held[:size], self._held[size:]
            released.append(self._filtered(piece))
        return "".join(released)

    def _next_piece(self, final: bool) -> int:
        """How many characters at the start of what is held form a whole piece: code, a marker, or plain text. 0: not yet known."""
        held = self._held
        if held[0] == "`":
            return self._code_length(final)
        if self._fenced:
            return self._text_length("`")
        spaces = len(held) - len(held.lstrip(" "))
        if spaces == len(held):
            return len(held) if final else 0
        if held[spaces] in _OPENING:
            return self._marker_length(spaces, final)
        return spaces + self._text_length("`[【 ", spaces)

    def _text_length(self, stops: str, start: int = 0) -> int:
        length = start
        while length < len(self._held) and self._held[length] not in stops:
            length += 1
        return length - start

    def _code_length(self, final: bool) -> int:
        held = self._held
        ticks = len(held) - len(held.lstrip("`"))
        if ticks == len(held) and not final:
            return 0
        if ticks >= len(_FENCE) or self._fenced:
            return ticks
        closing = held.find("`" * ticks, ticks)
        line_end = held.find("\n", ticks)
        if closing != -1 and (line_end == -1 or closing < line_end):
            return closing + ticks
        # an opening tick that its line does not close is no code
        return ticks if final or line_end != -1 else 0

    def _marker_length(self, spaces: int, final: bool) -> int:
        held = self._held
        marker = _MARKER.match(held, spaces)
        if marker and (final or marker.end() < len(held)):
            return marker.end()
        beginning = _MARKER_BEGINNING.match(held, spaces)
        unfinished = beginning is not None and beginning.end() == len(held)
        if unfinished and not final and len(held) - spaces <= MARKER_CHARACTERS_MAX:
            return 0
        return marker.end() if marker else spaces + 1

    def _filtered(self, piece: str) -> str:
        if piece.startswith(_FENCE):
            self._fenced = not self._fenced
            return piece
        if self._fenced or piece[0] == "`":
            return piece
        marker = _MARKER.fullmatch(piece.lstrip(" "))
        if marker is None:
            return piece
        cited = "".join(f"[{number}]" for number in _numbers(marker.group(1)) if number in self._numbers)
        return piece[: len(piece) - len(piece.lstrip(" "))] + cited if cited else ""


def cited_numbers(text: str) -> list[int]:
    """The numbers that a filtered text cites, each once, in order."""
    return list(dict.fromkeys(int(number) for number in re.findall(r"\[(\d{1,6})\]", text)))


def _numbers(listed: str) -> list[int]:
    numbers: list[int] = []
    for part in re.split(r"\s*[,;]\s*", listed):
        ends = [int(end) for end in re.split(r"\s*[–-]\s*", part)]
        first, last = ends[0], ends[-1]
        numbers += range(first, min(last, first + RANGE_SOURCES_MAX) + 1) if last >= first else ends
    return list(dict.fromkeys(numbers))
