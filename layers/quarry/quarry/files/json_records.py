"""Records of JSON, read as they come: one a line, the values of an array, or values one after another."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import BinaryIO

from quarry.files.records import RECORD_MAX_BYTES, MalformedRecord, Record, UnreadableFile, bounded_lines

NOT_JSON = "is not valid JSON in UTF-8"

_READ_BYTES = 1 << 16
_DEPTH_MAX = 4
"""How many objects deep records are searched for."""
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


class TooLong(MalformedRecord):
    """A value that is longer than a record may be, or never ends."""


def json_lines(file: BinaryIO) -> Iterator[Record]:
    """A record for each line; empty lines are skipped."""
    for number, line in enumerate(bounded_lines(file), start=1):
        if not line.strip():
            continue
        try:
            yield Record(number, _parsed(line))
        except MalformedRecord as error:
            yield Record(number, problem=str(error))


def _parsed(line: bytes) -> object:
    if len(line) > RECORD_MAX_BYTES:
        raise MalformedRecord(f"is longer than {RECORD_MAX_BYTES} bytes")
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise MalformedRecord(NOT_JSON) from error


def json_values(file: BinaryIO, name: str = "", notes: list[str] | None = None) -> Iterator[Record]:
    """A record for each value of an array, or of values one after another. For a single object, a record for each object of
    the only list of objects in it; the rest of that object is added to `notes`.

    A malformed value ends the file: the start of the next one is unknown. Raises UnreadableFile where a single object holds
    several such lists.
    """
    text = _Text(file)
    number = 0
    try:
        closing = text.take("[")
        while not (text.take("]") if closing else text.at_end()):
            number += 1
            if number > 1 and closing and not text.take(","):
                raise MalformedRecord(NOT_JSON)
            if number == 1 and not closing:
                value = yield from _envelope(text, name, notes if notes is not None else [])
                if value is None:
                    return
                yield Record(number, value)
            else:
                yield Record(number, text.value())
        if not text.at_end():
            number += 1
            raise MalformedRecord(NOT_JSON)
    except MalformedRecord as error:
        yield Record(max(number, 1), problem=f"{error}; the rest was not read")


def _envelope(text: _Text, name: str, notes: list[str]) -> Generator[Record, None, object]:
    """The records in the first value, if it is an object that holds a list of them; otherwise returns that value.

    An object longer than a record may be is assumed to hold such a list, which is read as it comes.
    """
    begin = text.mark()
    try:
        value = text.value()
    except TooLong:
        text.rewind(begin)
        yield from _long_envelope(text, name, notes)
        return None
    if not isinstance(value, dict) or not text.at_end():
        return value
    lists = dict(_lists_in(value))
    if not lists:
        return value
    if len(lists) > 1:
        raise UnreadableFile(f"{name}: holds several lists, {', '.join(lists)}: write each to its own file")
    [(path, records)] = lists.items()
    _note_members(name, path, [key for key in value if key != path.partition(".")[0]], notes)
    yield from (Record(number, each) for number, each in enumerate(records, start=1))
    return None


def _lists_in(value: Mapping[str, object], depth: int = 1) -> Iterator[tuple[str, list[object]]]:
    """The lists of objects in an object, by path: its own, or else those of the only object in it."""
    lists = [(key, each) for key, each in value.items() if isinstance(each, list) and each]
    own = [(key, each) for key, each in lists if all(isinstance(record, dict) for record in each)]
    inner = [(key, each) for key, each in value.items() if isinstance(each, dict)]
    if own:
        yield from own
    elif len(inner) == 1 and depth < _DEPTH_MAX:
        yield from ((f"{inner[0][0]}.{path}", each) for path, each in _lists_in(inner[0][1], depth + 1))


def _long_envelope(text: _Text, name: str, notes: list[str]) -> Iterator[Record]:
    found, others, number = "", list[str](), 0
    text.expect("{")
    while True:
        key = str(text.value())
        text.expect(":")
        if text.take("["):
            if found:
                raise UnreadableFile(f"{name}: holds several lists, {found}, {key}: write each to its own file")
            found = key
            while not text.take("]"):
                if number:
                    text.expect(",")
                number += 1
                yield Record(number, text.value())
        else:
            others.append(key)
            text.value()
        if text.take("}"):
            break
        text.expect(",")
    if not text.at_end():
        raise MalformedRecord(NOT_JSON)
    _note_members(name, found, others, notes)


def _note_members(name: str, key: str, others: Sequence[str], notes: list[str]) -> None:
    beside = f"; left out {', '.join(others)}" if others else ""
    notes.append(f"{name}: its records are in {key!r}{beside}")


class _Text:
    """The text of a file, of which only the current value is kept in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._held = ""
        self._passed = 0
        self._at = 0
        self._ended = False

    def at_end(self) -> bool:
        return not self._next_character()

    def take(self, character: str) -> bool:
        """Whether the next character is `character`; if so, it is consumed."""
        if self._next_character() != character:
            return False
        self._at += 1
        return True

    def expect(self, character: str) -> None:
        """Consume a character. Raises MalformedRecord where it is another."""
        if not self.take(character):
            raise MalformedRecord(NOT_JSON)

    def mark(self) -> int:
        """The current position, which can be returned to until a value is read."""
        self._next_character()
        return self._passed + self._at

    def rewind(self, mark: int) -> None:
        self._at = mark - self._passed

    def value(self) -> object:
        """The JSON value that begins here. Raises MalformedRecord, TooLong."""
        self._next_character()
        tried = 0
        while True:
            # tried again only with twice as much text, so that the time stays linear
            while not self._ended and len(self._held) - self._at < 2 * tried:
                self._read()
            try:
                value, end = _DECODER.raw_decode(self._held, self._at)
            except RecursionError as error:
                raise MalformedRecord(NOT_JSON) from error
            except ValueError as error:
                tried = len(self._held) - self._at
                if self._ended or tried > RECORD_MAX_BYTES:
                    if tried > RECORD_MAX_BYTES:
                        raise TooLong(f"{NOT_JSON}, or longer than {RECORD_MAX_BYTES} bytes") from error
                    raise MalformedRecord(NOT_JSON) from error
            else:
                # a number at the end of the buffer may continue
                if self._ended or end < len(self._held):
                    self._at = end
                    return value
                tried = len(self._held) - self._at

    def _next_character(self) -> str:
        """The next character that is not white space; "" at the end."""
        while True:
            space = _SPACE.match(self._held, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._held):
                return self._held[self._at]
            if self._ended:
                return ""
            self._read()

    def _read(self) -> None:
        chunk = self._file.read(_READ_BYTES)
        self._ended = not chunk
        self._passed += self._at
        try:
            self._held = self._held[self._at :] + self._decoder.decode(chunk, final=self._ended)
        except UnicodeDecodeError as error:
            raise MalformedRecord(NOT_JSON) from error
        self._at = 0
