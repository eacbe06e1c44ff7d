"""The bytes of a file, plain or unpacked, with a count of the bytes read."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, cast

from quarry.files.records import UnreadableFile

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class FileSource(io.RawIOBase):
    """A file that counts the bytes read, and returns as many as requested even if they arrive in pieces."""

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


class Unpacked(FileSource):
    """The content of a gzip file."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        super().__init__(cast(BinaryIO, gzip.GzipFile(fileobj=file)))
        self._name = name

    def _read(self, size: int) -> bytes:
        try:
            return super()._read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UnreadableFile(f"{self._name}: its gzip data is damaged or cut off") from error


@contextmanager
def copied(content: BinaryIO) -> Iterator[BinaryIO]:
    """A seekable copy of compressed or piped content."""
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(content, copy)
        copy.seek(0)
        yield copy
