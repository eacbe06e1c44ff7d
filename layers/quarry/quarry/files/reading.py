"""Opens a file of records: detects its format by name or content, unpacks it, and converts its text to UTF-8.
Reads records of CSV and JSON; those of spreadsheets are in `sheet_records`.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, BinaryIO, cast

from quarry.files.encodings import FileSource, Unpacked, Utf8, copied
from quarry.files.forms import GUESSED, Format, ReadOptions
from quarry.files.records import (
    RECORD_MAX_BYTES,
    SAMPLED_ROWS,
    HeadedRows,
    MalformedRecord,
    Record,
    RecordFile,
    Row,
    Unit,
    UnreadableFile,
    bounded_lines,
)
from quarry.files.sheet_records import SheetRows

_ENDINGS: dict[str, Format] = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".parquet": "parquet",
    ".xlsx": "sheet", ".xlsm": "sheet", ".xlsb": "sheet", ".xls": "sheet", ".ods": "sheet",
}  # fmt: skip
_PACKED = ".gz"
_PACKED_MAGIC = b"\x1f\x8b"
_BINARY: tuple[tuple[bytes, Format], ...] = (
    (b"PAR1", "parquet"), (b"PK\x03\x04", "sheet"), (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "sheet"),
)  # fmt: skip
_NO_RECORDS = ((b"%PDF", "a PDF"), (b"<", "HTML or XML"))
"""How files begin that people load by mistake."""
_CONTROLS = bytes({*range(32)} - {*b"\t\n\r\f\x1b"})
_SAMPLE_BYTES, _CONTROLS_MAX, _CONTROLS_SHARE = 4096, 3, 0.02
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEAD_BYTES = 1 << 16


@contextmanager
def open_records(path: Path) -> Iterator[RecordFile]:
    """A file's records, in the format that its name and content suggest. Raises OSError, UnreadableFile, also while reading."""
    with path.open("rb") as file, read_records(file, path.name) as records:
        yield records


@contextmanager
def read_records(file: BinaryIO, name: str, options: ReadOptions = GUESSED) -> Iterator[RecordFile]:
    """The records of an open file or pipe, like `open_records`."""
    source = FileSource(file)
    content = io.BufferedReader(source, _HEAD_BYTES)
    if packed := content.peek().startswith(_PACKED_MAGIC):
        content = io.BufferedReader(Unpacked(content, name), _HEAD_BYTES)
    head = content.peek()
    binary = _binary_format(head)
    # a file named like a spreadsheet may be text
    format = options.format or binary or (None if head and _ending(name) == "sheet" else _ending(name))
    if format in ("parquet", "sheet"):
        with nullcontext(content) if content.seekable() and not packed else copied(content) as whole:
            yield _table(whole, name, format, options, source)
    else:
        yield _text(cast(BinaryIO, content), name, options, source)


def _table(content: BinaryIO, name: str, format: Format, options: ReadOptions, source: FileSource) -> RecordFile:
    if format == "parquet":
        rows = ParquetRecords(content, name)
        return RecordFile(name, "record", iter(rows), source.bytes_read, rows.columns)
    notes: list[str] = []
    sheet = SheetRows(content, name, options.sheet, notes)
    return _headed(iter(sheet), name, "row", options, source, notes)


def _text(content: BinaryIO, name: str, options: ReadOptions, source: FileSource) -> RecordFile:
    notes: list[str] = []
    text = Utf8(content, name, options.encoding, notes)
    lines = io.BufferedReader(text, _HEAD_BYTES)
    head = lines.peek()
    match options.format or format_of(name, head):
        case "jsonl":
            return RecordFile(name, "line", json_lines(lines), source.bytes_read, notes=notes)
        case "json":
            return RecordFile(name, "record", json_values(lines, name, notes), source.bytes_read, notes=notes)
        case _:
            _check_text(head, name)
            # the head may end within a line
            whole = head if len(head) < _HEAD_BYTES else head[: head.rfind(b"\n") + 1] or head
            delimiter = delimiter_of(whole.decode("utf-8-sig", errors="replace"))
            rows = CsvRows(lines, delimiter, name, lambda: text.encoding)
            return _headed(iter(rows), name, "line", options, source, notes)


def _headed(
    rows: Iterator[Row], name: str, unit: Unit, options: ReadOptions, source: FileSource, notes: list[str]
) -> RecordFile:
    records = HeadedRows(rows, name, unit, options, notes)
    return RecordFile(name, unit, iter(records), source.bytes_read, records.columns, cells_are_text=True, notes=notes)


def _check_text(head: bytes, name: str) -> None:
    """Check that the file may be CSV. Raises UnreadableFile."""
    for begin, kind in _NO_RECORDS:
        if head.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(begin):
            raise UnreadableFile(f"{name}: is {kind}, which has no rows: save it as CSV or as a spreadsheet")
    sample = head[:_SAMPLE_BYTES]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls > _CONTROLS_MAX and controls > _CONTROLS_SHARE * len(sample):
        raise UnreadableFile(f"{name}: is neither text nor a known kind of spreadsheet: save it as CSV or .xlsx")


def files_in(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files of a folder with a known ending, sorted by name, and the links among them that lead out of the folder.

    The files are read with the rights of the loading user. Whoever may write to the folder could link to any other file, so
    such links are left out. Raises UnreadableFile where nothing else is there.
    """
    files = sorted(path for path in folder.iterdir() if path.is_file() and _ending(path.name) and path.name[0] != ".")
    root = folder.resolve()
    outside = [path for path in files if path.is_symlink() and not path.resolve().is_relative_to(root)]
    inside = [path for path in files if path not in outside]
    if not inside:
        beside = f", except {len(outside)} links that lead out of it" if outside else ""
        raise UnreadableFile(
            f"{folder}: holds no file that ends in {', '.join(_ENDINGS)}, with or without {_PACKED}{beside}"
        )
    return inside, outside


def format_of(name: str, head: bytes) -> Format:
    """The format of a file that begins with `head`: by the ending of its name, or by content where the ending is not enough."""
    likely = _binary_format(head) or _ending(name)
    if likely and likely != "json" and (likely != "sheet" or _binary_format(head)):
        return likely
    text = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if text.startswith(b"{"):
        return "jsonl" if _is_json_line(text) else "json"
    return "json" if likely == "json" or text.startswith(b"[") else "csv"


def _binary_format(head: bytes) -> Format | None:
    return next((format for begin, format in _BINARY if head.startswith(begin)), None)


def _ending(name: str) -> Format | None:
    return _ENDINGS.get(PurePath(name.lower().removesuffix(_PACKED)).suffix)


def _is_json_line(text: bytes) -> bool:
    """Whether the first line is a whole value and another line follows. An object alone may hold a list of records."""
    line, _, rest = text.partition(b"\n")
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return bool(rest.strip())


_BATCH_ROWS = 1000


class ParquetRecords:
    """The rows of a Parquet file, without null fields. Raises UnreadableFile, also where pyarrow is missing."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        try:
            pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ModuleNotFoundError:
            raise UnreadableFile(
                f"{name}: Parquet is read by pyarrow, which is not installed: pip install pyarrow"
            ) from None
        self._name = name
        self._error: type[Exception] = pyarrow.ArrowException
        try:
            self._file: Any = parquet.ParquetFile(file)
        except (self._error, OSError) as error:
            raise self._unreadable() from error
        self._schema = pyarrow.schema([_readable(pyarrow, field) for field in self._file.schema_arrow])
        self.columns: list[str] = self._schema.names

    def __iter__(self) -> Iterator[Record]:
        number = 0
        try:
            for batch in self._file.iter_batches(batch_size=_BATCH_ROWS):
                for row in batch.cast(self._schema, safe=False).to_pylist():
                    number += 1
                    yield Record(number, {name: value for name, value in row.items() if value is not None})
        except (self._error, OSError) as error:
            raise self._unreadable() from error

    def _unreadable(self) -> UnreadableFile:
        return UnreadableFile(f"{self._name}: is not Parquet, or is damaged")


def _readable(pyarrow: Any, field: Any) -> Any:
    """The field, with times in microseconds: neither Python nor Postgres has finer ones."""
    if not pyarrow.types.is_timestamp(field.type):
        return field
    return field.with_type(pyarrow.timestamp("us", tz=field.type.tz))


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
    list_name, others, number = "", list[str](), 0
    text.expect("{")
    while True:
        key = str(text.value())
        text.expect(":")
        if text.take("["):
            if list_name:
                raise UnreadableFile(f"{name}: holds several lists, {list_name}, {key}: write each to its own file")
            list_name = key
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
    _note_members(name, list_name, others, notes)


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
