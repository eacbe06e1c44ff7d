"""What every file format produces: records in order, each with its number in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Literal

from quarry.platform.errors import QuarryError

Unit = Literal["line", "row", "record"]
"""What a record's number counts: lines if the format has them, rows of a spreadsheet, or records."""

RECORD_MAX_BYTES = 4 * 1024 * 1024
COLUMNS_MAX = 1600
"""The most columns of a Postgres table."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record with its line or number, from 1: its fields as in the file, or why it cannot be read."""

    number: int
    fields: object = None
    problem: str = ""


@dataclass(frozen=True)
class RecordFile:
    """An open file: its records, which can be read once, and the number of bytes read so far.

    `columns` are those named once for all records. `cells_are_text`: a text may be a number. `notes` say what was guessed
    about the file and what was left out; they are complete after the last record.
    """

    name: str
    unit: Unit
    records: Iterator[Record]
    bytes_read: Callable[[], int]
    columns: Sequence[str] = ()
    cells_are_text: bool = False
    notes: list[str] = field(default_factory=list)


class UnreadableFile(QuarryError):
    """The file as a whole cannot be read. The message names it and says why."""

    status = 422
    title = "Not readable"


class MalformedRecord(Exception):
    """A record cannot be read. The message says why. Later records may be good."""


def bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file. A line that is too long is truncated, to limit memory."""
    while line := file.readline(RECORD_MAX_BYTES + 1):
        rest = line
        while len(rest) > RECORD_MAX_BYTES and not rest.endswith(b"\n"):
            rest = file.readline(RECORD_MAX_BYTES + 1)
        yield line
