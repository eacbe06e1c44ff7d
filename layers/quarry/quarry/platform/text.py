"""Checking, comparing and marking text.

The types that every contract uses refuse text that Postgres or a tokenizer cannot process.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler, StringConstraints
from pydantic_core.core_schema import CoreSchema, no_info_after_validator_function

from quarry.language.word_forms import STOP_WORDS, place_of_demonym, stem

QUERY_MAX_CHARACTERS = 2000
IDENTIFIER_MAX_CHARACTERS = 64
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def storable(text: str) -> str:
    """`text`, if Postgres and UTF-8 can represent it; else raises ValueError."""
    if "\x00" in text:
        raise ValueError("must not contain the NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not contain half a surrogate pair; send valid Unicode") from None
    return text


_TAGS = r"\U000e0020-\U000e007f"
_CONTROLS = r"\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0001"
_LINE_ENDS = r"\u2028\u2029"
INVISIBLE_CHARACTERS = _CONTROLS + _LINE_ENDS
"""The characters that `visible` removes, as a set of a pattern, without tags, which it removes only in some places."""
_INVISIBLE = re.compile(rf"[{_CONTROLS}]|(?<![\U0001f3f4{_TAGS}])[{_TAGS}]+")
_LINE_END = re.compile(f"[{_LINE_ENDS}]")
_EITHER = re.compile(f"[{INVISIBLE_CHARACTERS}{_TAGS}]")


def visible(text: str) -> str:
    """`text` without invisible characters that change how it reads: direction controls and characters without width.

    The joiners U+200C and U+200D stay, which Persian, Indic scripts and emoji need, and so do tags of flags. Separators of lines
    and paragraphs become line breaks.
    """
    # a pass with a set takes an eighth of the time of the patterns, and most texts end here
    if text.isascii() or _EITHER.search(text) is None:
        return text
    return _LINE_END.sub("\n", _INVISIBLE.sub("", text))


CleanText = Annotated[str, AfterValidator(storable)]
"""Any text that can be stored: no NUL, no lone surrogate."""


@dataclass(frozen=True)
class _Storable:
    """Refuses what Postgres or UTF-8 cannot represent; `pattern` says so in the JSON schema of the type."""

    pattern: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(storable, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "pattern": self.pattern}


Storable = _Storable(r"^[^\x00]*$")
"""Put after other constraints of a text type."""
StorableWords = _Storable(r"^[^\x00]*[^\s\x00][^\x00]*$")
"""The same for a text that must not be empty after trimming."""
QueryText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=QUERY_MAX_CHARACTERS),
    StorableWords,
    BeforeValidator(lambda text: visible(text) if isinstance(text, str) else text),
]
"""A question: 1 to 2,000 characters after trimming and removing invisible ones; positions refer to the result."""
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=IDENTIFIER_MAX_CHARACTERS), Storable]
"""An id in a request: 1 to 64 characters, ours or the data owner's."""


def words(text: str) -> list[str]:
    """The words of `text` in order, in lower case, punctuation dropped."""
    # not by `placed_words`, which takes 50 % longer: this runs for every record
    return [match.group().lower().replace("’", "'") for match in _WORD.finditer(text)]


def placed_words(text: str) -> Iterator[tuple[str, int, int]]:
    """As `words`, each with its start and end."""
    for match in _WORD.finditer(text):
        yield match.group().lower().replace("’", "'"), match.start(), match.end()


def significant_words(text: str) -> list[str]:
    """The stems of the words that carry a topic, each once, in order of appearance."""
    return list(dict.fromkeys(stem(word) for word in words(text) if word not in STOP_WORDS))


def left_out(question: str, arguments: str) -> list[str]:
    """The words of a question that carry a topic and that the arguments of its search, as text, have in no form: "European" is
    a form of "Europe".
    """
    stems, terms = {*significant_words(arguments)}, words(question)
    for size in (1, 2):
        for start in range(len(terms) - size + 1):
            run = terms[start : start + size]
            place = place_of_demonym(" ".join(run))
            if place is not None and stems.issuperset(significant_words(place)):
                stems.update(map(stem, run))
    return [word for word in dict.fromkeys(terms) if word not in STOP_WORDS and stem(word) not in stems]


def is_in_other_script(text: str) -> bool:
    """Whether most letters of a text are not Latin."""
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(not unicodedata.name(letter, "").startswith("LATIN") for letter in letters) > len(letters)


def topic_text(text: str) -> str:
    """`text` without the words that carry no topic, in order; the whole text if no word is left."""
    return " ".join(word for word in words(text) if word not in STOP_WORDS) or text


def shorten(text: str, limit: int) -> str:
    """`text` on one line and at most `limit` characters, cut at a word and closed with an ellipsis."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(" ", 1)[0].rstrip(",;:—–- ") + "…"


def piece_pattern(text: str) -> str:
    """A LIKE pattern that finds a piece of text, whose own wildcards stand for themselves."""
    for special in ("\\", "%", "_"):
        text = text.replace(special, f"\\{special}")
    return f"%{text}%"


def fence(text: str) -> str:
    """Text that cannot close the block around it."""
    return text.replace("<", "‹").replace(">", "›")


_SHOWN_INVISIBLE = re.compile(f"[{INVISIBLE_CHARACTERS}]")
_RETURNED_FIELDS = re.compile(
    r"(?:id|ids|.*_ids?|.*Ids?|values?|facets|filters|.*Filters|arguments|request|.*[cC]ursor)"
)
"""Names of fields whose values clients send back, which must stay unchanged."""


def visible_value(value: Any) -> Any:
    """A JSON value with visible texts, except those that clients send back."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {name: each if _RETURNED_FIELDS.fullmatch(name) else visible_value(each) for name, each in value.items()}
    return [visible_value(each) for each in value] if isinstance(value, list) else value


def visible_json(text: str) -> str:
    """The same for JSON as a text."""
    if visible(text) == text:
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return escaped(text)
    return escaped(json.dumps(visible_value(value), ensure_ascii=False, separators=(",", ":")))


def escaped(text: str) -> str:
    """JSON with its invisible characters written as escapes."""
    return text if text.isascii() else _SHOWN_INVISIBLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1]


MATCH_START, MATCH_END = "\ue000", "\ue001"
"""Surround a matched word in a snippet from SQL, which removes both characters from its texts."""


def mark(snippet: str) -> str:
    """A snippet from SQL as HTML: everything is escaped except `<mark>` around the matched words."""
    return html.escape(snippet).replace(MATCH_START, "<mark>").replace(MATCH_END, "</mark>")


def unmark(marked: str) -> str:
    """The plain text of a marked snippet."""
    return "".join(part for part, _ in marked_parts(marked))


def marked_parts(marked: str) -> Iterator[tuple[str, bool]]:
    """The parts of a marked snippet in order, as plain text, each with whether it is a matched word."""
    rest = marked
    while rest:
        before, _, behind = rest.partition("<mark>")
        inside, closed, after = behind.partition("</mark>")
        if not closed:
            break
        yield from ((html.unescape(part), is_match) for part, is_match in ((before, False), (inside, True)) if part)
        rest = after
    if rest:
        yield html.unescape(rest), False


_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]*+(?=@)|(?<=password=)\S+", re.IGNORECASE)


def without_credentials(text: str) -> str:
    """A text in which stars stand for the user of a URL and for a password."""
    return _CREDENTIALS.sub("***", text)


EXACT_MAX = 2**53 - 1
"""The largest whole number that is exact in every reader of JSON: many hold numbers in 64 bits of floating point."""


def exact(value: Any) -> Any:
    """A value of JSON with its whole numbers beyond `EXACT_MAX` as text."""
    match value:
        case bool():
            return value
        case int():
            return value if abs(value) <= EXACT_MAX else str(value)
        case list():
            return [exact(each) for each in value]
        case dict():
            return {key: exact(each) for key, each in value.items()}
        case _:
            return value


# Web addresses in a model's text: only those that a cited source contains stay links. A text that the model reads can make
# it write an address that reveals the question to its owner when someone follows it. So every other address is put between
# backticks, and link syntax is escaped, even in code. No image stays one, since showing it fetches it, and tags of markup are
# text.

BUFFER_CHARACTERS_MAX = 2000
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
        self._numbers_of: dict[str, set[int]] = {}
        for number, text in sources.items():
            for address in addresses_in(text):
                self._numbers_of.setdefault(address, set()).add(number)
        self._cited = {ALWAYS}
        self._buffer = ""
        self._ahead = 0  # how many of the held characters were sent
        self._tail = ""  # the end of what was sent
        self._runs: set[int] = set()  # the lengths of the runs of backticks so far

    def feed(self, piece: str) -> str:
        """The text that can be sent now."""
        self._buffer += piece
        end = self._settled()
        # the space before a held word is sent with it
        waits = end <= self._ahead or (end < len(self._buffer) and self._buffer[self._ahead : end].isspace())
        return "" if waits else self._release(end)

    def finish(self) -> str:
        """The rest, once no more pieces come."""
        return self._release(len(self._buffer), final=True)

    def _settled(self) -> int:
        """The end of the text in which no link or address can still begin or grow. A word of letters and digits is sent at once,
        unless it may begin a common address; it is still examined together with what follows it.
        """
        text = self._buffer
        end = next((at for at in range(len(text), 0, -1) if text[at - 1].isspace()), 0)
        if link := _UNFINISHED_LINK.search(text, max(0, end - 102), end):
            return link.start()
        word = text[end:].lower()
        begins = any(beginning.startswith(word) for beginning in _BEGINNINGS)
        is_plain = word.isalnum() and not begins and len(word) <= _WORD_CHARACTERS_MAX
        return len(text) if is_plain or len(word) > BUFFER_CHARACTERS_MAX else end

    def _release(self, end: int, *, final: bool = False) -> str:
        pieces: list[str] = []
        start = 0
        for part in _PART.finditer(self._buffer, 0, end):
            if part.start() < start:
                continue
            pieces.append(self._passed(start, part.start()))
            start = part.start()
            stays = self._stays(part, final)
            if stays is None:
                end = start
                break
            pieces.append(self._part_text(part, stays=stays))
            start = part.end()
        pieces.append(self._passed(start, end))
        # keep the last word, to examine it with what follows
        word = _LAST_WORD.search(self._buffer, max(start, end - _WORD_CHARACTERS_MAX), end)
        rest = word.start() if word else end
        self._ahead = max(self._ahead, end) - rest
        self._buffer = self._buffer[rest:]
        return "".join(pieces)

    def _stays(self, part: re.Match[str], final: bool) -> bool | None:
        """Whether a part stays unchanged; None if that is not known yet."""
        if part["image"]:
            return False
        target = part["bare"] or _resolved(part["target"] or self._buffer[part.end() :].partition(">")[0])
        if part["link"] and not _LEADS_ELSEWHERE.match(target):
            return True
        if part["link"]:
            self._note_citations("]")
        numbers = self._numbers_of.get(_compared(target), frozenset[int]())
        if numbers & self._cited or not numbers:
            return bool(numbers)
        line, is_whole, _ = self._buffer[part.end() :].partition("\n")
        if numbers & {int(number) for number in CITATION.findall(line)}:
            return True
        return False if is_whole or final or len(line) > BUFFER_CHARACTERS_MAX else None

    def _passed(self, start: int, end: int) -> str:
        """Text that needs no change."""
        text = self._buffer[max(start, self._ahead) : end]
        self._note(text)
        return text

    def _note(self, text: str) -> None:
        self._runs |= {len(run) for run in _TICKS.findall(text)}
        self._note_citations(text)
        self._tail = (self._tail + text)[-_CITATION_CHARACTERS:]

    def _note_citations(self, text: str) -> None:
        """Record the citations in what was sent and in `text` after it."""
        self._cited |= {int(number) for number in CITATION.findall(self._tail + text)}

    def _part_text(self, part: re.Match[str], *, stays: bool) -> str:
        if stays:
            return self._passed(part.start(), part.end())
        if part["bare"]:
            return self._quoted(
                self._buffer[max(part.start(), self._ahead) : part.end()], self._buffer[part.end() : part.end() + 1]
            )
        # a backslash before it would cancel the escape
        sign = part["tag"] or part["image"]
        space = " " if sign and self._tail.endswith("\\") else ""
        start = f"{space}\\{sign}" if sign else f"]\\{part['sign']}{part['space']}"
        self._note(start)
        return start + (self._plain(part["target"]) if part["link"] else "")

    def _plain(self, text: str) -> str:
        """Every address in a text as code."""
        result, start = "", 0
        for match in _BARE.finditer(text):
            result += text[start : match.start()]
            self._note(text[start : match.start()])
            result += self._quoted(match.group(), text[match.end() : match.end() + 1])
            start = match.end()
        self._note(text[start:])
        return result + text[start:]

    def _quoted(self, address: str, following: str) -> str:
        """An address as code, between runs of backticks of a new length, so that no earlier run pairs with it."""
        core = address.rstrip(_BEHIND_ADDRESS)
        behind = address[len(core) :]
        ticks = "`" * next(length for length in range(1, len(self._runs) + 2) if length not in self._runs)
        before = " " if self._tail.endswith(("`", "\\")) else ""
        after = " " if not behind and following == "`" else ""
        self._tail = behind or after or "`"
        return f"{before}{ticks}{core}{ticks}{after}{behind}"


def _resolved(target: str) -> str:
    """The meaning of a link's target: Markdown resolves entities and escapes, and browsers ignore control characters."""
    target = target[1:-1] if target.startswith("<") else target
    return _PASSED_OVER.sub("", _ESCAPED.sub(r"\1", html.unescape(target)))


def _compared(address: str) -> str:
    return _WEB.sub("", address.lower().rstrip(_BEHIND_ADDRESS)).rstrip("/")
