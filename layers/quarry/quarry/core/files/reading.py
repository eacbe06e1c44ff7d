"""Opening a file of records: its format by name or content, unpacked where it is packed."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from quarry.core.files.csv_records import CsvRecords, delimiter_of
from quarry.core.files.json_records import json_lines, json_values
from quarry.core.files.parquet_records import ParquetRecords
from quarry.core.files.records import MalformedRecord, RecordFile, UnreadableFile

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Format = Literal["csv", "jsonl", "json", "parquet"]
"""`json` is an array of objects, or objects one after another over any number of lines."""

_ENDINGS: dict[str, Format] = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".parquet": "parquet",
}  # fmt: skip
_PACKED = ".gz"
_PACKED_MAGIC = b"\x1f\x8b"
_PARQUET_MAGIC = b"PAR1"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEAD_BYTES = 1 << 16


@contextmanager
def open_records(path: Path) -> Iterator[RecordFile]:
    """A file's records, in the format that its name and content say. Raises OSError, UnreadableFile, also while it is read."""
    with path.open("rb") as file, read_records(file, path.name) as records:
        yield records


@contextmanager
def read_records(file: BinaryIO, name: str, format: Format | None = None) -> Iterator[RecordFile]:
    """The records of an open file or pipe, as `open_records` gives them; `format` None: what its name and content say."""
    source = _Source(file)
    content = io.BufferedReader(source, _HEAD_BYTES)
    if packed := content.peek().startswith(_PACKED_MAGIC):
        content = io.BufferedReader(_Unpacked(content, name), _HEAD_BYTES)
    head = content.peek()
    match format or format_of(name, head):
        case "csv":
            yield _csv(content, head, name, source)
        case "jsonl":
            yield RecordFile(name, "line", json_lines(content), source.bytes_read)
        case "json":
            yield RecordFile(name, "record", json_values(content), source.bytes_read)
        case "parquet":
            with nullcontext(content) if content.seekable() and not packed else _copied(content) as whole:
                rows = ParquetRecords(whole, name)
                yield RecordFile(name, "record", iter(rows), source.bytes_read)


def files_in(folder: Path) -> tuple[list[Path], list[Path]]:
    """The files of a folder whose ending is known, in the order of their names, and the links among them that lead out of it.

    Who may write to a folder can put a link to any file there: the files are read with the rights of whoever loads them, so such
    links are left out. Raises UnreadableFile where nothing else is there.
    """
    known = sorted(path for path in folder.iterdir() if path.is_file() and _ending(path.name) and path.name[0] != ".")
    root = folder.resolve()
    outside = [path for path in known if path.is_symlink() and not path.resolve().is_relative_to(root)]
    found = [path for path in known if path not in outside]
    if not found:
        beside = f", but for {len(outside)} links that lead out of it" if outside else ""
        raise UnreadableFile(
            f"{folder}: holds no file that ends in {', '.join(_ENDINGS)}, with or without {_PACKED}{beside}"
        )
    return found, outside


def format_of(name: str, head: bytes) -> Format:
    """The format of a file that begins with `head`: by its name's ending, by what it begins with where that tells too little."""
    known = _ending(name)
    if known and known != "json":
        return known
    text = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if head.startswith(_PARQUET_MAGIC):
        return "parquet"
    if text.startswith(b"{"):
        return "jsonl" if _is_json_line(text) else "json"
    return "json" if known or text.startswith(b"[") else "csv"


def _ending(name: str) -> Format | None:
    return _ENDINGS.get(PurePath(name.lower().removesuffix(_PACKED)).suffix)


def _is_json_line(text: bytes) -> bool:
    """Whether the first line is a whole value; a line that is longer than what was read is taken for one."""
    line, end, _ = text.partition(b"\n")
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return not end and len(text) >= _HEAD_BYTES // 2
    return True


def _csv(content: BinaryIO, head: bytes, name: str, source: _Source) -> RecordFile:
    # the last line of the head may be cut off in the middle
    whole = head if len(head) < _HEAD_BYTES else head[: head.rfind(b"\n") + 1] or head
    try:
        rows = CsvRecords(content, delimiter_of(whole.decode("utf-8-sig", errors="replace")), name)
    except MalformedRecord as error:
        raise UnreadableFile(f"{name}: the header {error}") from error
    return RecordFile(name, "line", iter(rows), source.bytes_read, rows.columns, cells_are_text=True)


@contextmanager
def _copied(content: BinaryIO) -> Iterator[BinaryIO]:
    """A copy of which any part can be read, of what came packed or by a pipe."""
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(content, copy)
        copy.seek(0)
        yield copy


class _Source(io.RawIOBase):
    """A file that tells how much of it was read, and gives as much as is asked for, also where it comes piece by piece."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._bytes_read = 0

    def bytes_read(self) -> int:
        return self._bytes_read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view, filled = memoryview(buffer), 0
        while filled < len(view) and (chunk := self._read(len(view) - filled)):
            view[filled : filled + len(chunk)] = chunk
            filled += len(chunk)
        self._bytes_read += filled
        return filled

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def _read(self, size: int) -> bytes:
        return self._file.read(size)


class _Unpacked(_Source):
    """What is in a gzip file."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        super().__init__(cast(BinaryIO, gzip.GzipFile(fileobj=file)))
        self._name = name

    def _read(self, size: int) -> bytes:
        try:
            return super()._read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UnreadableFile(f"{self._name}: its gzip data is damaged or cut off") from error
