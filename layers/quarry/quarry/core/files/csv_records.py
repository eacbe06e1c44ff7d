"""Records of CSV: a header, and under it rows of cells between commas, semicolons, tabs or vertical bars."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

from quarry.core.files.records import (
    COLUMNS_MAX,
    RECORD_MAX_BYTES,
    MalformedRecord,
    Record,
    UnreadableFile,
    bounded_lines,
)

DELIMITERS = "\t|;,"
"""In the order in which they are believed where all fit: the rarer it is in prose, the sooner."""

_SAMPLED_ROWS = 100
_UNNAMED = "column_{}"


def delimiter_of(head: str) -> str:
    """The delimiter of CSV that begins with `head`: the one that cuts most rows into as many cells as the header has, then the
    one that finds most cells there.
    """

    def fit(delimiter: str) -> tuple[bool, float, int]:
        rows = csv.reader(io.StringIO(head, newline="\n"), delimiter=delimiter)
        try:
            widths = [len(row) for row in islice(rows, _SAMPLED_ROWS) if row]
        except csv.Error:
            widths = []
        width = widths[0] if widths else 0
        return width > 1, widths.count(width) / max(len(widths), 1), width

    _allow_long_cells()
    best = max(DELIMITERS, key=fit)
    cuts, _, _ = fit(best)
    return best if cuts else ","


class CsvRecords:
    """The rows below the header, each a mapping from `names` to text. Left out are empty cells, rows that have no others, and the
    space around a text.

    A column that the header leaves empty is `column_N`, and one whose name stood there before is `name_2`; `columns` are those
    that the header names. Raises MalformedRecord for a header that cannot be read, and UnreadableFile where a quote is never
    closed: from there on nothing tells rows from text.
    """

    def __init__(self, file: BinaryIO, delimiter: str, name: str) -> None:
        _allow_long_cells()
        self._lines = _Lines(file, name)
        self._rows = csv.reader(self._lines, delimiter=delimiter, strict=True)
        header = self._next_row() or []
        if len(header) > COLUMNS_MAX:
            raise MalformedRecord(f"has more than {COLUMNS_MAX} cells")
        self.names = unique_names(header)
        self.columns = [name for name, cell in zip(self.names, header, strict=True) if cell]

    def __iter__(self) -> Iterator[Record]:
        while True:
            try:
                row = self._next_row()
                if row is None:
                    return
                fields = self._fields(row)
            except MalformedRecord as error:
                yield Record(self._lines.row_number, problem=str(error))
            else:
                yield Record(self._lines.row_number, fields)

    def _next_row(self) -> list[str] | None:
        """The cells of the next row that has any text; None at the end."""
        cells: list[str] = []
        while not any(cells):
            self._lines.begin_row()
            try:
                row = next(self._rows, None)
            except csv.Error as error:
                if self._lines.are_over:
                    raise self._lines.never_closed() from error
                raise MalformedRecord(f"is not valid CSV: {error}{self._lines.open_quote}") from error
            if row is None:
                return None
            cells = [cell.strip() for cell in row]
        return cells

    def _fields(self, row: Sequence[str]) -> dict[str, str]:
        if len(row) != len(self.names):
            raise MalformedRecord(f"has {len(row)} cells, the header {len(self.names)}")
        return {name: cell for name, cell in zip(self.names, row, strict=True) if cell}


class _Lines:
    """The lines of a file for csv.reader; `row_number` is that of the line that the row at hand begins on, and `are_over` whether
    the reader asked for more lines than there are.

    Raises MalformedRecord for a line that is too long or not UTF-8, UnreadableFile for a row that goes on over too many lines.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._lines = bounded_lines(file)
        self._name = name
        self._number = 0
        self._row_bytes = 0
        self._quote_number = self._quote_before = 1
        self.row_number = 1
        self.are_over = False

    def begin_row(self) -> None:
        self.row_number = self._quote_number = self._quote_before = self._number + 1
        self._row_bytes = 0

    @property
    def open_quote(self) -> str:
        """Where the quote opened that the latest line began in, as the end of a sentence; empty where it began in none."""
        return "" if self._number == self.row_number else f"; a quote was open since line {self._quote_before}"

    def never_closed(self, within: str = "") -> UnreadableFile:
        return UnreadableFile(
            f"{self._name}: the quote that opens on line {self._quote_number} is not closed{within}: close it, or double it "
            "where the text has a quote"
        )

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines, None)
        if line is None:
            self.are_over = True
            raise StopIteration
        self._number += 1
        self._row_bytes += len(line)
        self._quote_before = self._quote_number
        if self._row_bytes > RECORD_MAX_BYTES:
            if self._number > self.row_number:
                raise self.never_closed(f" within {RECORD_MAX_BYTES} bytes")
            raise MalformedRecord(f"is longer than {RECORD_MAX_BYTES} bytes; is a quote not closed?")
        # a row goes on within a quote alone: a line of it that has quotes, not counting doubled ones, closes it and opens another
        if self._number > self.row_number and b'"' in line.replace(b'""', b""):
            self._quote_number = self._number
        try:
            return line.decode("utf-8-sig" if self._number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise MalformedRecord("is not UTF-8") from error


def unique_names(header: Sequence[str]) -> list[str]:
    """A name for each column: as the header has it, numbered where it has none or has it twice."""
    names: dict[str, None] = {}
    given, copies = set(header), Counter[str]()
    for number, cell in enumerate(header, start=1):
        name = wanted = cell or _UNNAMED.format(number)
        while name in names or (name != wanted and name in given):
            copies[wanted] += 1
            name = f"{wanted}_{copies[wanted] + 1}"
        names[name] = None
    return list(names)


def _allow_long_cells() -> None:
    # the module's limit is the process's; ours is on whole rows
    csv.field_size_limit(2**31 - 1)
