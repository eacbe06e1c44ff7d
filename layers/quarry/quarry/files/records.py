"""What every format of file gives: records in order, each with its number in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Literal

from quarry.platform.errors import QuarryError

Unit = Literal["line", "row", "record"]
"""What a record's number counts: lines where the format has them, rows of a sheet."""

RECORD_MAX_BYTES = 4 * 1024 * 1024
COLUMNS_MAX = 1600
"""What a table of Postgres may have."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record by its line or number, from 1: its fields, as the file has them, or why it cannot be read."""

    number: int
    fields: object = None
    problem: str = ""


@dataclass(frozen=True)
class RecordFile:
    """An open file: its records, which can be read once, and how many bytes of it have been read so far.

    `columns` are those that the file names once for all records. Where a text may stand for a number, `cells_are_text`. `notes`
    say what was guessed of the file, and what in it is no record; they are whole when all records were read.
    """

    name: str
    unit: Unit
    records: Iterator[Record]
    bytes_read: Callable[[], int]
    columns: Sequence[str] = ()
    cells_are_text: bool = False
    notes: list[str] = field(default_factory=list)


class UnreadableFile(QuarryError):
    """The file as a whole cannot be read; the message names it and says why."""

    status = 422
    title = "Not readable"


class MalformedRecord(Exception):
    """A record cannot be read; the message says why. Those behind it may be good."""


def bounded_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file. Of a line that is too long only the beginning, so that it takes no more memory than another."""
    while line := file.readline(RECORD_MAX_BYTES + 1):
        rest = line
        while len(rest) > RECORD_MAX_BYTES and not rest.endswith(b"\n"):
            rest = file.readline(RECORD_MAX_BYTES + 1)
        yield line
