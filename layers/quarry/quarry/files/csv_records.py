"""Rows of CSV, with commas, semicolons, tabs or vertical bars between the cells."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import BinaryIO

from quarry.files.records import RECORD_MAX_BYTES, MalformedRecord, UnreadableFile, bounded_lines
from quarry.files.rows import SAMPLED_ROWS, Row

DELIMITERS = "\t|;,"
"""In order of preference: the rarer in prose, the earlier."""

_HINT = "sep="
"""The first line that some spreadsheets write, followed by the delimiter."""
_MISPLACED_CR = "new-line character"


def delimiter_of(head: str) -> str:
    """The delimiter of CSV that begins with `head`: the one that its first line names, or else the one that splits most rows
    into the same number of cells; then one that also splits the first row, then the one with most cells.
    """

    def fit(delimiter: str) -> tuple[bool, float, bool, int]:
        rows = csv.reader(io.StringIO(head, newline="\n"), delimiter=delimiter)
        try:
            widths = [len(row) for row in islice(rows, SAMPLED_ROWS) if row]
        except csv.Error:
            widths = []
        counts = Counter(width for width in widths if width > 1)
        width, count = max(counts.items(), key=lambda each: (each[1], each[0]), default=(0, 0))
        return width > 1, count / max(len(widths), 1), widths[:1] > [1], width

    if hinted := hinted_delimiter(head):
        return hinted
    _allow_long_cells()
    best = max(DELIMITERS, key=fit)
    return best if fit(best)[0] else ","


def hinted_delimiter(head: str) -> str | None:
    """The delimiter that the first line names, if it contains nothing else."""
    line = head.partition("\n")[0].removeprefix("\ufeff").rstrip("\r").strip('"')
    is_hint = line[: len(_HINT)].lower() == _HINT and len(line) == len(_HINT) + 1
    return line[-1] if is_hint else None


class CsvRows:
    """The rows with any text, cells stripped.

    Raises UnreadableFile where a quote is never closed: everything after it could be text. `encoding` returns the encoding as
    known so far.
    """

    def __init__(
        self, file: BinaryIO, delimiter: str, name: str, encoding: Callable[[], str] = lambda: "UTF-8"
    ) -> None:
        _allow_long_cells()
        self._lines = _Lines(file, name, encoding)
        self._delimiter = delimiter
        self._rows = csv.reader(self._lines, delimiter=delimiter, strict=True)

    def __iter__(self) -> Iterator[Row]:
        while True:
            self._lines.begin_row()
            try:
                cells = next(self._rows, None)
            except MalformedRecord as error:
                yield Row(self._lines.row_number, problem=str(error))
                continue
            except csv.Error as error:
                if self._lines.are_over:
                    raise self._lines.never_closed() from error
                yield Row(self._lines.row_number, problem=self._why(error))
                continue
            if cells is None:
                return
            cells = [cell.strip() for cell in cells]
            # without quotes, the delimiter in the hint has split it
            is_hint = self._delimiter.join(cells).lower() == _HINT + self._delimiter
            if any(cells) and not (self._lines.row_number == 1 and is_hint):
                yield Row(self._lines.row_number, cells)

    def _why(self, error: csv.Error) -> str:
        if str(error).startswith(_MISPLACED_CR):
            return "has a line break (CR) within a cell: put the cell in quotes"
        return f"has text after a closing quote: double each quote that belongs to a text{self._lines.open_quote}"


class _Lines:
    """The lines of a file for csv.reader. `row_number` is the line on which the current row begins; `are_over` says that the
    reader asked for more lines than there are.

    Raises MalformedRecord for a line that is too long or not in its encoding, UnreadableFile for a row that never ends.
    """

    def __init__(self, file: BinaryIO, name: str, encoding: Callable[[], str]) -> None:
        self._lines = bounded_lines(file)
        self._encoding = encoding
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
        """Where the quote around the start of the latest line opened, as the end of a sentence; "" where none was open."""
        return "" if self._number == self.row_number else f"; a quote is open since line {self._quote_before}"

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
        # a row continues only within a quote: a line with quotes that are not doubled closes it and opens another
        if self._number > self.row_number and b'"' in line.replace(b'""', b""):
            self._quote_number = self._number
        try:
            return line.decode("utf-8-sig" if self._number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise MalformedRecord(f"is not {self._encoding()}") from error


def _allow_long_cells() -> None:
    # the module's limit is global; ours applies to whole rows
    csv.field_size_limit(2**31 - 1)
