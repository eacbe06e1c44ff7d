"""Web addresses in a model's text: only those that a cited source contains stay links.

A text that the model reads can make it write an address that reveals the question to its owner when someone follows it. So every
other address is put between backticks, and link syntax is escaped, even in code. No image stays one, since
showing it fetches it, and tags of markup are text. Pure.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

HELD_CHARACTERS_MAX = 2000
"""The most characters that are held back until it is known whether they are an address, and whether its source is cited."""

_ADDRESS = r"(?:[a-z][a-z0-9+.-]{0,31}://(?:\[[0-9a-f:.]{0,64}\])?|(?<![a-z0-9])www\.|mailto:|xmpp:)[^\s<>`\[\]]*"
_MAIL = r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
_BARE = re.compile(rf"{_ADDRESS}|{_MAIL}", re.IGNORECASE)
_BEHIND_ADDRESS = "\"'.,;:!?*_~()[]{}|"
_TARGET = r"(?:<[^<>\n]*>|(?:[^\s<>()]|\([^\s<>()]*\))*)"
_TAG = r"<(?=[a-z/!?]|[0-9][^\s<>]*[:@])"  # one of any kind, or an address in angle brackets
_IMAGE = r"!(?=\[(?!\d{1,4}\]))"
_PART = re.compile(
    rf"(?P<link>\](?P<sign>[(:])(?P<space>\s{{0,100}})(?P<target>{_TARGET}))|(?P<tag>{_TAG})|(?P<image>{_IMAGE})|(?P<bare>{_ADDRESS}|{_MAIL})",
    re.IGNORECASE,
)
_LEADS_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|[/\\]{2}|www\.", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_PASSED_OVER = re.compile(r"[\x00-\x20]")
_WEB = re.compile(r"^(?:https?://|mailto:)")
_TICKS = re.compile("`+")
CITATION = re.compile(r"\[(\d{1,4})\]")
"""A citation of a source by its number."""
_LAST_WORD = re.compile(r"[^\W_]+\Z")
_BEGINNINGS = ("https", "www", "mailto", "ftp")
_WORD_CHARACTERS_MAX = 64
_CITATION_CHARACTERS = 6
_UNFINISHED_LINK = re.compile(r"\][(:]\s{0,100}\Z")

ALWAYS = 0
"""Stands for the number of a source that needs no citation."""


def addresses_in(text: str) -> set[str]:
    """The web and mail addresses in a text, normalised for comparison."""
    return {_compared(match.group()) for match in _BARE.finditer(text)}


def plain_links(text: str, source: str = "") -> str:
    """`text` with addresses that are not in `source` as plain text."""
    links = LinkFilter({ALWAYS: source})
    return links.feed(text) + links.finish()


def said_in(data: Any) -> str:
    """All texts in a JSON value, on separate lines, for a source that is not a single text."""
    if isinstance(data, dict):
        data = [*data.values()]
    return "\n".join(map(said_in, data)) if isinstance(data, list) else data if isinstance(data, str) else ""


class LinkFilter:
    """Takes a text piece by piece and returns what can be sent; how it was cut does not matter.

    `sources` are texts by number. An address of one stays a link after `[number]`, or before it on the same line; one of number
    ALWAYS stays a link anywhere.
    """

    def __init__(self, sources: Mapping[int, str]) -> None:
        self._known: dict[str, set[int]] = {}
        for number, text in sources.items():
            for address in addresses_in(text):
                self._known.setdefault(address, set()).add(number)
        self._cited = {ALWAYS}
        self._held = ""
        self._ahead = 0  # how many of the held characters were sent
        self._sent = ""  # the end of what was sent
        self._runs: set[int] = set()  # the lengths of the runs of backticks so far

    def feed(self, piece: str) -> str:
        """The text that can be sent now."""
        self._held += piece
        end = self._settled()
        # the space before a held word is sent with it
        waits = end <= self._ahead or (end < len(self._held) and self._held[self._ahead : end].isspace())
        return "" if waits else self._release(end)

    def finish(self) -> str:
        """The rest, once no more pieces come."""
        return self._release(len(self._held), final=True)

    def _settled(self) -> int:
        """The end of the text in which no link or address can still begin or grow. A word of letters and digits is sent at once,
        unless it may begin a common address; it is still examined together with what follows it.
        """
        held = self._held
        end = next((at for at in range(len(held), 0, -1) if held[at - 1].isspace()), 0)
        if link := _UNFINISHED_LINK.search(held, max(0, end - 102), end):
            return link.start()
        word = held[end:].lower()
        begins = any(beginning.startswith(word) for beginning in _BEGINNINGS)
        is_plain = word.isalnum() and not begins and len(word) <= _WORD_CHARACTERS_MAX
        return len(held) if is_plain or len(word) > HELD_CHARACTERS_MAX else end

    def _release(self, end: int, *, final: bool = False) -> str:
        sent: list[str] = []
        start = 0
        for part in _PART.finditer(self._held, 0, end):
            if part.start() < start:
                continue
            sent.append(self._passed(start, part.start()))
            start = part.start()
            stays = self._stays(part, final)
            if stays is None:
                end = start
                break
            sent.append(self._written(part, stays=stays))
            start = part.end()
        sent.append(self._passed(start, end))
        # keep the last word, to examine it with what follows
        word = _LAST_WORD.search(self._held, max(start, end - _WORD_CHARACTERS_MAX), end)
        kept = word.start() if word else end
        self._ahead = max(self._ahead, end) - kept
        self._held = self._held[kept:]
        return "".join(sent)

    def _stays(self, part: re.Match[str], final: bool) -> bool | None:
        """Whether a part stays unchanged; None if that is not known yet."""
        if part["image"]:
            return False
        target = part["bare"] or _resolved(part["target"] or self._held[part.end() :].partition(">")[0])
        if part["link"] and not _LEADS_ELSEWHERE.match(target):
            return True
        if part["link"]:
            self._note_citations("]")
        numbers = self._known.get(_compared(target), frozenset[int]())
        if numbers & self._cited or not numbers:
            return bool(numbers)
        line, is_whole, _ = self._held[part.end() :].partition("\n")
        if numbers & {int(number) for number in CITATION.findall(line)}:
            return True
        return False if is_whole or final or len(line) > HELD_CHARACTERS_MAX else None

    def _passed(self, start: int, end: int) -> str:
        """Text that needs no change."""
        text = self._held[max(start, self._ahead) : end]
        self._note(text)
        return text

    def _note(self, text: str) -> None:
        self._runs |= {len(run) for run in _TICKS.findall(text)}
        self._note_citations(text)
        self._sent = (self._sent + text)[-_CITATION_CHARACTERS:]

    def _note_citations(self, text: str) -> None:
        """Record the citations in what was sent and in `text` after it."""
        self._cited |= {int(number) for number in CITATION.findall(self._sent + text)}

    def _written(self, part: re.Match[str], *, stays: bool) -> str:
        if stays:
            return self._passed(part.start(), part.end())
        if part["bare"]:
            return self._quoted(
                self._held[max(part.start(), self._ahead) : part.end()], self._held[part.end() : part.end() + 1]
            )
        # a backslash before it would cancel the escape
        sign = part["tag"] or part["image"]
        space = " " if sign and self._sent.endswith("\\") else ""
        sent = f"{space}\\{sign}" if sign else f"]\\{part['sign']}{part['space']}"
        self._note(sent)
        return sent + (self._plain(part["target"]) if part["link"] else "")

    def _plain(self, text: str) -> str:
        """Every address in a text as code."""
        sent, start = "", 0
        for match in _BARE.finditer(text):
            sent += text[start : match.start()]
            self._note(text[start : match.start()])
            sent += self._quoted(match.group(), text[match.end() : match.end() + 1])
            start = match.end()
        self._note(text[start:])
        return sent + text[start:]

    def _quoted(self, address: str, following: str) -> str:
        """An address as code, between runs of backticks of a new length, so that no earlier run pairs with it."""
        core = address.rstrip(_BEHIND_ADDRESS)
        behind = address[len(core) :]
        ticks = "`" * next(length for length in range(1, len(self._runs) + 2) if length not in self._runs)
        before = " " if self._sent.endswith(("`", "\\")) else ""
        after = " " if not behind and following == "`" else ""
        self._sent = behind or after or "`"
        return f"{before}{ticks}{core}{ticks}{after}{behind}"


def _resolved(target: str) -> str:
    """The meaning of a link's target: Markdown resolves entities and escapes, and browsers ignore control characters."""
    target = target[1:-1] if target.startswith("<") else target
    return _PASSED_OVER.sub("", _ESCAPED.sub(r"\1", html.unescape(target)))


def _compared(address: str) -> str:
    return _WEB.sub("", address.lower().rstrip(_BEHIND_ADDRESS)).rstrip("/")
