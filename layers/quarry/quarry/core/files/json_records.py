"""Records of JSON: one a line, or the values of an array or one after another, which are read as they come."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO

from quarry.core.files.records import RECORD_MAX_BYTES, MalformedRecord, Record, bounded_lines

NOT_JSON = "is not valid JSON in UTF-8"

_READ_BYTES = 1 << 16
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


def json_lines(file: BinaryIO) -> Iterator[Record]:
    """A record for each line; empty lines are left out."""
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


def json_values(file: BinaryIO) -> Iterator[Record]:
    """A record for each value of an array, or of values that follow each other.

    What is malformed ends the file: where the next value begins cannot be known.
    """
    text = _Text(file)
    number = 0
    try:
        closing = text.take("[")
        while not (text.take("]") if closing else text.at_end()):
            number += 1
            if number > 1 and closing and not text.take(","):
                raise MalformedRecord(NOT_JSON)
            yield Record(number, text.value())
        if not text.at_end():
            number += 1
            raise MalformedRecord(NOT_JSON)
    except MalformedRecord as error:
        yield Record(max(number, 1), problem=f"{error}; what follows was not read")


class _Text:
    """The text of a file, of which only the value at hand is kept."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._held = ""
        self._at = 0
        self._ended = False

    def at_end(self) -> bool:
        return not self._next_character()

    def take(self, character: str) -> bool:
        """Whether it goes on with `character`, which is passed then."""
        if self._next_character() != character:
            return False
        self._at += 1
        return True

    def value(self) -> object:
        """The JSON value that begins here. Raises MalformedRecord."""
        self._next_character()
        tried = 0
        while True:
            # a value is tried again only when twice as much is there, so that the time stays linear
            while not self._ended and len(self._held) - self._at < 2 * tried:
                self._read()
            try:
                value, end = _DECODER.raw_decode(self._held, self._at)
            except RecursionError as error:
                raise MalformedRecord(NOT_JSON) from error
            except ValueError as error:
                tried = len(self._held) - self._at
                if self._ended or tried > RECORD_MAX_BYTES:
                    long = f", or longer than {RECORD_MAX_BYTES} bytes" if tried > RECORD_MAX_BYTES else ""
                    raise MalformedRecord(NOT_JSON + long) from error
            else:
                # a number at the end of what was read may go on
                if self._ended or end < len(self._held):
                    self._at = end
                    return value
                tried = len(self._held) - self._at

    def _next_character(self) -> str:
        """The next character that is no space, "" at the end."""
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
        try:
            self._held = self._held[self._at :] + self._decoder.decode(chunk, final=self._ended)
        except UnicodeDecodeError as error:
            raise MalformedRecord(NOT_JSON) from error
        self._at = 0
