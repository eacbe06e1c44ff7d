"""What every file format produces: records in order, each with its number in the file. Rows of cells become records below the
row that names the columns, without titles, totals and repeated headers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import BinaryIO, Literal

from quarry.files.forms import ReadOptions, cell_types, cut, form_of, plain_number
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


SAMPLED_ROWS = 100
_SAMPLED_CHARACTERS = 1 << 20
_EXCERPT_MAX = 60
_UNNAMED = "column_{}"


@dataclass(frozen=True, slots=True)
class Row:
    """Cells with the line or row on which they begin, from 1; "" is an empty cell. Or why they cannot be read."""

    number: int
    cells: Sequence[object] = ()
    problem: str = ""


class HeadedRows:
    """The records below the header, each a mapping from `names`, without empty cells.

    A column without a name is `column_N`, and a repeated name becomes `name_2`; `columns` are those with a name of their own.
    Raises UnreadableFile where the header cannot be read, or may be a row of data.
    """

    def __init__(self, rows: Iterator[Row], name: str, unit: Unit, options: ReadOptions, notes: list[str]) -> None:
        self._name, self._unit, self._options, self._notes = name, unit, options, notes
        self._failure: UnreadableFile | None = None
        self._rest = rows
        self._sample = list(self._sampled())
        header = self._header()
        if len(header) > COLUMNS_MAX:
            raise UnreadableFile(f"{name}: the header has more than {COLUMNS_MAX} cells")
        self._header_cells = header
        self.names = unique_names(header)
        self.columns = [name for name, cell in zip(self.names, header, strict=True) if cell]

    def __iter__(self) -> Iterator[Record]:
        totals = Totals(len(self.names))
        previous: Row | None = None
        repeated: list[int] = []
        for row in chain(self._sample, self._unsampled()):
            if self._repeats_header(row):
                repeated.append(row.number)
                continue
            if previous is not None:
                totals.add(previous.cells)
                yield self._record(previous)
            previous = row
        if previous is not None and not self._is_left_out(previous, totals):
            yield self._record(previous)
        if repeated:
            lines = ", ".join(map(str, repeated[:3])) + (f" and {len(repeated) - 3} more" if len(repeated) > 3 else "")
            self._notes.append(f"{self._name}: left out {self._unit} {lines}, which repeats the column names")

    def _sampled(self) -> Iterator[Row]:
        """The first rows. An error that ends the file is raised after they have been read."""
        characters = rows = 0
        while rows < SAMPLED_ROWS and characters < _SAMPLED_CHARACTERS:
            try:
                row = next(self._rest, None)
            except UnreadableFile as error:
                if not rows:
                    raise
                self._failure = error
                return
            if row is None:
                return
            rows += 1
            characters += sum(len(cell) for cell in row.cells if isinstance(cell, str))
            yield row

    def _unsampled(self) -> Iterator[Row]:
        if self._failure is not None:
            raise self._failure
        yield from self._rest

    def _header(self) -> list[str]:
        """The cells of the header; empty where there are no rows. Removes the header and everything above it from the sample."""
        if not self._sample:
            return []
        if self._options.header == 0:
            width = max(len(row.cells) for row in self._sample)
            self._notes.append(f"{self._name}: its columns have no names and become column_1 to column_{width}")
            return [""] * width
        place = self._place()
        header = self._sample[place]
        if header.problem:
            raise UnreadableFile(f"{self._name}: the header {header.problem}")
        for row in self._sample[:place]:
            cells = ", ".join(str(cell) for cell in row.cells if cell != "")
            excerpt = cut(cells or row.problem, _EXCERPT_MAX)
            self._notes.append(f"{self._name}: left out {self._unit} {row.number}, above the header: {excerpt}")
        self._sample = self._sample[place + 1 :]
        filled = (place for row in (header, *self._sample) for place, cell in enumerate(row.cells, 1) if cell != "")
        width = max(filled, default=0)
        return [str(cell) for cell in header.cells[:width]]

    def _place(self) -> int:
        if self._options.header is not None:
            line = self._options.header
            for place, row in enumerate(self._sample):
                if row.number == line:
                    return place
            raise UnreadableFile(f"{self._name}: no row near its start begins on {self._unit} {line}")
        if self._sample[0].problem:
            return 0
        readable = [row for row in self._sample if not row.problem]
        header = readable[header_place([row.cells for row in readable])]
        place = self._sample.index(header)
        below = [row.cells for row in self._sample[place + 1 :]]
        if like := like_values(header.cells, below):
            example = cut(like, _EXCERPT_MAX)
            raise UnreadableFile(
                f"{self._name}: {self._unit} {header.number} may be a row of data instead of column names ({example}):"
                f" use --no-header if it is, --header {header.number} if it is not"
            )
        return place

    def _repeats_header(self, row: Row) -> bool:
        header, cells = self._header_cells, row.cells
        is_likely = any(header) and len(cells) >= len(header) and str(cells[0]) == header[0]
        return is_likely and [*map(str, cells)] == [*header, *([""] * (len(cells) - len(header)))]

    def _record(self, row: Row) -> Record:
        try:
            if row.problem:
                raise MalformedRecord(row.problem)
            return Record(row.number, self._fields(row.cells))
        except MalformedRecord as error:
            return Record(row.number, problem=str(error))

    def _fields(self, cells: Sequence[object]) -> dict[str, object]:
        width = len(self.names)
        if len(cells) != width and (len(cells) < width or any(cell != "" for cell in cells[width:])):
            raise MalformedRecord(f"has {len(cells)} cells, the header {len(self.names)}")
        return {name: cell for name, cell in zip(self.names, cells, strict=False) if cell != ""}

    def _is_left_out(self, last: Row, totals: Totals) -> bool:
        """Whether the last row holds totals of those above and is left out, which is noted."""
        if self._options.total is False or last.problem:
            return False
        place = f"{self._name}: {self._unit} {last.number}"
        if self._options.total:
            self._notes.append(f"{self._name}: left out {self._unit} {last.number}, the last one, as totals")
            return True
        summed = totals.summed_by(last.cells)
        if not summed:
            return False
        place_of_column, is_certain = summed
        column = f"{self.names[place_of_column]} {last.cells[place_of_column]}"
        if is_certain:
            self._notes.append(
                f"{self._name}: left out {self._unit} {last.number}, which sums up those above ({column}): --no-total keeps it"
            )
        else:
            self._notes.append(f"{place} may sum up those above ({column}): --total leaves it out")
        return is_certain


def header_place(rows: Sequence[Sequence[object]]) -> int:
    """The index of the row that names the columns: after titles, which fill few cells, the first row that fills more than
    half as many cells as most rows do.
    """
    filled = [sum(cell != "" for cell in row) for row in rows]
    typical = sorted(filled)[len(filled) // 2] if filled else 0
    place = next((place for place, count in enumerate(filled) if 2 * count > typical), 0)
    is_header = place + 1 < len(rows) and not like_values(rows[place], rows[place + 1 :])
    return place if is_header else 0


def like_values(header: Sequence[object], below: Sequence[Sequence[object]]) -> str:
    """Why a row holds values instead of column names: one of its cells is of the same kind as all cells below, or is repeated
    below; "" where nothing suggests it.
    """
    names = [*map(str, header)]
    for place, name in enumerate(names):
        values = [
            str(row[place]) for row in below if place < len(row) and row[place] != "" and [*map(str, row)] != names
        ]
        if name and values and (name in values or _is_of_their_kind(name, values)):
            return f"{name!r} over {values[0]!r}"
    return ""


def _is_of_their_kind(name: str, values: Sequence[str]) -> bool:
    sort = _sort(name)
    if sort == "other" or any(_sort(value) != sort for value in values):
        return False
    # a year above other numbers is a column name
    return not _is_year(name) or all(map(_is_year, values))


def _sort(text: str) -> str:
    types = cell_types(text)
    if "numeric" in types:
        return "number"
    return "date" if "timestamptz" in types else form_of(text).sort


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isascii() and text.isdigit()


def unique_names(header: Sequence[str]) -> list[str]:
    """A name for each column: as in the header, numbered where it is missing or repeated."""
    names: dict[str, None] = {}
    header_names, copies = set(header), Counter[str]()
    for number, cell in enumerate(header, start=1):
        name = plain_name = cell or _UNNAMED.format(number)
        while name in names or (name != plain_name and name in header_names):
            copies[plain_name] += 1
            name = f"{plain_name}_{copies[plain_name] + 1}"
        names[name] = None
    return list(names)


SUMMED_ROWS_MIN = 2
CERTAIN_FROM_ROWS = 3
"""The sums of fewer numbers may agree by chance."""


class Totals:
    """The sum of each column, None once it has held anything but numbers, and its number of values."""

    def __init__(self, width: int) -> None:
        self._rows = 0
        self._values = [0] * width
        self._sums: list[Decimal | None] = [Decimal(0)] * width

    def add(self, cells: Sequence[object]) -> None:
        """Add a row."""
        self._rows += 1
        for place, cell in enumerate(cells[: len(self._sums)]):
            if cell == "":
                continue
            self._values[place] += 1
            if (total := self._sums[place]) is not None:
                number = _number(cell)
                self._sums[place] = None if number is None else total + number

    def summed_by(self, cells: Sequence[object]) -> tuple[int, bool] | None:
        """The first column whose sum is in these cells, and whether that is certain: they also lack a value that all rows have.

        None where there is none, or the cells may be an ordinary row.
        """
        column: int | None = None
        lacks, differs = False, False
        for place, (values, total, cell) in enumerate(zip(self._values, self._sums, cells, strict=False)):
            number = None if cell == "" else _number(cell)
            is_missing = cell == "" or (total is not None and number is None)
            lacks = lacks or (values == self._rows and is_missing)
            if total is None or values < SUMMED_ROWS_MIN or number is None:
                continue
            if number and number == total:
                column = place if column is None else column
            else:
                differs = True
        are_many = self._rows >= CERTAIN_FROM_ROWS
        if column is None or not (are_many or lacks) or (differs and not lacks):
            return None
        return column, lacks and are_many and not differs


def _number(cell: object) -> Decimal | None:
    if isinstance(cell, bool) or not isinstance(cell, (str, int, float, Decimal)):
        return None
    text = str(cell)
    if isinstance(cell, str) and "numeric" not in cell_types(cell):
        text = plain_number(cell, ".") or plain_number(cell, ",") or ""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
