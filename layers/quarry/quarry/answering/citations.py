"""Citations in a streamed answer: only markers that name a source reach the client.

A marker is `[1]`, `[1, 2]`, `[1 and 2]`, `[1-3]`, `[^1]`, `[Source 1]`, `[[1]]`, `【1】`, `【1†source】` or `［1］`, of at most
MARKER_CHARACTERS_MAX, possibly split over chunks. It leaves as `[1]`, several as `[1][2]`; numbers that name no source are
dropped, with the space before them, and so are those that what was said may not cite. A space is put between a marker and a
parenthesis behind it, which would be the address of a link. Code, fenced or inline, is left alone: a fence stands at the
beginning of a line, as Markdown has it, also in a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

MARKER_CHARACTERS_MAX = 4_000
INLINE_CODE_CHARACTERS_MAX = 500
RANGE_SOURCES_MAX = 20
LINE_CHARACTERS_MAX = 200
"""A fence does not begin further into a line."""
SAID_CHARACTERS_MAX = 600
"""The text before a marker that counts as its claim."""

_OPENING = "[【［"
_NAMED = r"†[^\[\]【】［］,;&\n]*+"
_NUMBER = rf"\s*+(?>(?:\^|sources?\s++)?)\d++(?>(?:{_NAMED})?)\s*+"
_NUMBERS = rf"({_NUMBER}(?>(?:(?:[,;&–-]\s*+(?>(?:and\s)?)|and\s){_NUMBER})*))"
_MARKER = re.compile(rf"\[\[{_NUMBERS}\]\]|\[{_NUMBERS}\]|【{_NUMBERS}】|［{_NUMBERS}］", re.IGNORECASE)
# the beginning of a marker
_MARKER_BEGINNING = re.compile(
    rf"(?:\[{{1,2}}|【|［)(?>(?:[\s\d,;&^–-]|and|sources?|{_NAMED})*)(?:an?|s(?:o(?:u(?:rc?)?)?)?)?\]?", re.IGNORECASE
)
_NUMBER_OR_RANGE = re.compile(rf"(\d+)(?:{_NAMED})?(?:\s*[–-]\s*(?:\^|sources?\s+)?\s*(\d+))?", re.IGNORECASE)
_INSIDE_MARKER = re.compile(r"[\s\d,;–-]*")
_PLAIN = re.compile(rf"[^`{re.escape(_OPENING)}]+")
# a longer run counts as several, so that nothing waits for its end
_TICKS = re.compile(r"`{1,100}")
_TICKS_MAX = 100
_LINE_PREFIX = r"(?>(?:[ \t>*+-]|\d{1,9}[.)])*)"
"""What may stand before a fence in its line."""
_BEFORE_FENCE = re.compile(_LINE_PREFIX)
CODE = re.compile(
    rf"^{_LINE_PREFIX}(`{{3,}})(?!`)[^`\n]*$.*?(?:^{_LINE_PREFIX}\1`*[ \t]*$|\Z)"
    rf"|(?<!`)(`+)(?!`)[^\n]{{0,{INLINE_CODE_CHARACTERS_MAX}}}?(?<!`)\2(?!`)",
    re.DOTALL | re.MULTILINE,
)
"""Code in a whole answer, as the filter sees it."""
_INLINE_CODE = re.compile(rf"(`+)(?!`)[^\n]{{0,{INLINE_CODE_CHARACTERS_MAX}}}?(?<!`)\1(?!`)")
_FENCE_TICKS_MIN = 3

MayCite = Callable[[str, int], bool]
"""Whether the text since the last marker may cite the source with a number."""


def _always(statement: str, number: int) -> bool:
    return True


class CitationFilter:
    """Feed it chunks of an answer; it gives back what may be sent, and holds back what may still become a marker.

    What it gives back in all is the same however the answer was cut. Its work is linear in the length of the answer.
    """

    def __init__(self, numbers: Collection[int], may_cite: MayCite = _always) -> None:
        self._numbers = frozenset(numbers)
        self._may_cite = may_cite
        self._said = ""  # the end of what was sent since the last marker
        self._held = ""
        self._space = ""  # seen last and not sent yet: it goes if a dropped marker follows
        self._fence_ticks = 0  # of the fence that is open
        self._in_brackets = False  # whether what was sent last is a bracket that digits would make a marker of
        self._behind_marker = False  # whether what was sent last is a marker
        self._line = ""  # the beginning of the line that was sent last
        self._behind_ticks = False  # whether what was sent last is a backtick
        self._dropped_behind_ticks = False

    def feed(self, chunk: str) -> str:
        """The text that can be sent now."""
        self._held += chunk
        return self._release(final=False)

    def finish(self) -> str:
        """The rest, once no more chunks come."""
        return self._release(final=True) + self._space

    def _release(self, *, final: bool) -> str:
        released: list[str] = []
        start = 0
        while start < len(self._held):
            end = self._piece_end(start, final)
            if end is None:
                break
            piece = self._held[start:end]
            released.append(sent := self._filtered(piece))
            self._said = "" if self._behind_marker and sent else (self._said + sent)[-SAID_CHARACTERS_MAX:]
            line = piece.rsplit("\n", 1)
            self._line = (line[1] if len(line) > 1 else self._line + piece)[:LINE_CHARACTERS_MAX]
            start = end
        self._held = self._held[start:]
        return "".join(released)

    def _piece_end(self, start: int, final: bool) -> int | None:
        """Where the piece at `start` ends: code, a fence, a marker, a lone bracket or plain text. None: not yet known."""
        plain = _PLAIN.match(self._held, start)
        if plain:
            return plain.end()
        if self._held[start] == "`":
            return self._code_end(start, final)
        return start + 1 if self._fence_ticks else self._marker_end(start, final)

    def _code_end(self, start: int, final: bool) -> int | None:
        held = self._held
        ticks_end = _ticks_end(held, start)
        ticks = ticks_end - start
        if ticks_end == len(held) and ticks < _TICKS_MAX and not final:
            return None
        if self._fence_ticks:
            return self._line_end(ticks_end, final) if self._may_close(ticks) else ticks_end
        if ticks >= _FENCE_TICKS_MIN and _BEFORE_FENCE.fullmatch(self._line):
            end = self._line_end(ticks_end, final)
            if end is None or "`" not in held[ticks_end:end]:
                return end
        if ticks == _TICKS_MAX:
            return ticks_end
        code = _INLINE_CODE.match(held, start)
        if code and (final or code.end() < len(held)):
            return code.end()
        limit = ticks_end + INLINE_CODE_CHARACTERS_MAX + ticks + 1
        unfinished = len(held) < limit and "\n" not in held[ticks_end:]
        # an opening tick that its line does not close is no code
        return None if unfinished and not final else ticks_end

    def _may_close(self, ticks: int) -> bool:
        return ticks >= self._fence_ticks and _BEFORE_FENCE.fullmatch(self._line) is not None

    def _line_end(self, start: int, final: bool) -> int | None:
        """Where the line ends, within the limit; None: not yet known."""
        end = self._held.find("\n", start, start + INLINE_CODE_CHARACTERS_MAX)
        if end >= 0:
            return end
        is_known = final or len(self._held) >= start + INLINE_CODE_CHARACTERS_MAX
        return min(len(self._held), start + INLINE_CODE_CHARACTERS_MAX) if is_known else None

    def _marker_end(self, start: int, final: bool) -> int | None:
        held = self._held
        limit = start + MARKER_CHARACTERS_MAX
        marker = _MARKER.match(held, start, limit)
        if marker:
            return marker.end()
        beginning = _MARKER_BEGINNING.match(held, start, limit)
        unfinished = beginning is not None and beginning.end() == len(held) < limit
        return None if unfinished and not final else start + 1

    def _filtered(self, piece: str) -> str:
        space, self._space = self._space, ""
        dropped_between, self._dropped_behind_ticks = self._dropped_behind_ticks, False
        behind_ticks, self._behind_ticks = self._behind_ticks, piece[-1] == "`"
        behind_marker, self._behind_marker = self._behind_marker, False
        if self._fence_ticks or piece[0] == "`":
            self._note_fence(piece)
            self._in_brackets = False
            # in "`a`[9]`" the ticks around a dropped marker must not grow together: they would close no code
            return (" " if dropped_between and piece[0] == "`" else space) + piece
        marker = _MARKER.fullmatch(piece)
        if marker is None:
            # a space is held back, and goes with a marker that is dropped
            self._behind_ticks = behind_ticks and piece == " "
            self._behind_marker = behind_marker and piece == " "
            self._space = " " if piece.endswith(" ") else ""
            self._in_brackets = piece in _OPENING or (self._in_brackets and _INSIDE_MARKER.fullmatch(piece) is not None)
            if behind_marker and piece.startswith("("):
                space = " "
            return space + piece.removesuffix(" ")
        named = [number for number in _numbers(marker[marker.lastindex or 0]) if number in self._numbers]
        cited = "".join(f"[{number}]" for number in named if self._may_cite(self._said, number))
        if cited:
            self._in_brackets = False
            self._behind_marker = True
            return space + cited
        self._behind_marker = behind_marker
        self._behind_ticks = self._dropped_behind_ticks = behind_ticks
        # in "[2[9]7]" the two sides of a dropped marker must not grow together into another one
        return " " if self._in_brackets else ""

    def _note_fence(self, piece: str) -> None:
        ticks = _ticks_end(piece, 0)
        if not ticks:
            return
        rest = piece[ticks:]
        if self._fence_ticks:
            if self._may_close(ticks) and not rest.strip():
                self._fence_ticks = 0
        elif ticks >= _FENCE_TICKS_MIN and "`" not in rest and _BEFORE_FENCE.fullmatch(self._line):
            self._fence_ticks = ticks


def _ticks_end(text: str, start: int) -> int:
    """Where the run of backticks at `start` ends; `start` itself if there is none."""
    ticks = _TICKS.match(text, start)
    return ticks.end() if ticks else start


def _numbers(listed: str) -> list[int]:
    numbers: list[int] = []
    for first, last in ((int(each[1]), int(each[2] or each[1])) for each in _NUMBER_OR_RANGE.finditer(listed)):
        numbers += range(first, min(last, first + RANGE_SOURCES_MAX) + 1) if last >= first else (first, last)
    return list(dict.fromkeys(numbers))
