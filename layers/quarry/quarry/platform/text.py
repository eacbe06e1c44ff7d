"""Checking, comparing and marking text.

The types that every contract uses refuse text that Postgres or a tokenizer cannot process.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Set
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
    said, terms = {*significant_words(arguments)}, words(question)
    for size in (1, 2):
        for start in range(len(terms) - size + 1):
            run = terms[start : start + size]
            place = place_of_demonym(" ".join(run))
            if place is not None and said.issuperset(significant_words(place)):
                said.update(map(stem, run))
    return [word for word in dict.fromkeys(terms) if word not in STOP_WORDS and stem(word) not in said]


def is_in_other_script(text: str) -> bool:
    """Whether most letters of a text are not Latin."""
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(not unicodedata.name(letter, "").startswith("LATIN") for letter in letters) > len(letters)


def topic_text(text: str, small_talk: Set[str] = STOP_WORDS) -> str:
    """`text` without the words that carry no topic, in order; the whole text if no word is left."""
    return " ".join(word for word in words(text) if word not in small_talk) or text


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
_SENT_BACK = re.compile(r"(?:id|ids|.*_ids?|.*Ids?|values?|facets|filters|.*Filters|arguments|request|.*[cC]ursor)")
"""Names of fields whose values clients send back, which must stay unchanged."""


def shown(value: Any) -> Any:
    """A JSON value with visible texts, except those that clients send back."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {name: each if _SENT_BACK.fullmatch(name) else shown(each) for name, each in value.items()}
    return [shown(each) for each in value] if isinstance(value, list) else value


def shown_json(text: str) -> str:
    """The same for JSON as a text."""
    if visible(text) == text:
        return text
    try:
        value = json.loads(text)
    except ValueError:
        return escaped(text)
    return escaped(json.dumps(shown(value), ensure_ascii=False, separators=(",", ":")))


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
