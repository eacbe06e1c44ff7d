"""Opens a file of records: detects its format by name or content, unpacks it, and converts its text to UTF-8."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, BinaryIO, cast

from quarry.files.csv_records import CsvRows, delimiter_of
from quarry.files.encodings import FileSource, Unpacked, Utf8, copied
from quarry.files.json_records import json_lines, json_values
from quarry.files.records import Record, RecordFile, Unit, UnreadableFile
from quarry.files.rows import HeadedRows, Row
from quarry.files.sheet_records import SheetRows
from quarry.files.writing import GUESSED, Format, ReadOptions

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
_LOOKED_AT, _CONTROLS_MAX, _CONTROLS_SHARE = 4096, 3, 0.02
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEAD_BYTES = 1 << 16


@contextmanager
def open_records(path: Path, options: ReadOptions = GUESSED) -> Iterator[RecordFile]:
    """A file's records, in the format that its name and content suggest. Raises OSError, UnreadableFile, also while reading."""
    with path.open("rb") as file, read_records(file, path.name, options) as records:
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
    for begin, called in _NO_RECORDS:
        if head.removeprefix(_BYTE_ORDER_MARK).lstrip().startswith(begin):
            raise UnreadableFile(f"{name}: is {called}, which has no rows: save it as CSV or as a spreadsheet")
    looked_at = head[:_LOOKED_AT]
    controls = len(looked_at) - len(looked_at.translate(None, _CONTROLS))
    if controls > _CONTROLS_MAX and controls > _CONTROLS_SHARE * len(looked_at):
        raise UnreadableFile(f"{name}: is neither text nor a known kind of spreadsheet: save it as CSV or .xlsx")


def files_in(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files of a folder with a known ending, sorted by name, and the links among them that lead out of the folder.

    The files are read with the rights of the loading user. Whoever may write to the folder could link to any other file, so
    such links are left out. Raises UnreadableFile where nothing else is there.
    """
    known = sorted(path for path in folder.iterdir() if path.is_file() and _ending(path.name) and path.name[0] != ".")
    root = folder.resolve()
    outside = [path for path in known if path.is_symlink() and not path.resolve().is_relative_to(root)]
    found = [path for path in known if path not in outside]
    if not found:
        beside = f", except {len(outside)} links that lead out of it" if outside else ""
        raise UnreadableFile(
            f"{folder}: holds no file that ends in {', '.join(_ENDINGS)}, with or without {_PACKED}{beside}"
        )
    return found, outside


def format_of(name: str, head: bytes) -> Format:
    """The format of a file that begins with `head`: by the ending of its name, or by content where the ending is not enough."""
    known = _binary_format(head) or _ending(name)
    if known and known != "json" and (known != "sheet" or _binary_format(head)):
        return known
    text = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if text.startswith(b"{"):
        return "jsonl" if _is_json_line(text) else "json"
    return "json" if known == "json" or text.startswith(b"[") else "csv"


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
