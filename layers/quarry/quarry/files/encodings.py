"""The bytes of a file, and text of any encoding as UTF-8 with LF at the ends of lines.

Text is taken for UTF-8 until a byte is not ASCII. The encoding is then guessed from the bytes that follow: everything before
is ASCII, which is the same in all encodings considered. So nothing is read twice, and pipes work like files.
"""

from __future__ import annotations

import codecs
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


_CHUNK_BYTES = 1 << 16
_SAMPLE_BYTES = 1 << 18
_COMMONEST = "windows-1252"
_COMMONEST_FROM = 0.7
"""The commonest encoding is taken if it is at least this likely relative to the best guess: short names say little."""
_GUESSED = (
    "windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254", "windows-1255", "windows-1256", "koi8-r",
    "cp932", "euc-jp", "cp949", "gb18030", "big5",
)  # fmt: skip
"""The encodings that spreadsheets and exports still write. A detector with a hundred more mistakes short texts for rare ones.
"""
_OLD_MAC = "mac-roman"
_WIDE = ("utf-16-le", "utf-16-be")
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip


def encoding_name(name: str) -> str:
    """Python's name for a text encoding. Raises ValueError."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=name)  # what is no encoding of text is refused too
    except LookupError:
        raise ValueError(
            f"there is no encoding {name!r}; common ones are utf-8, utf-16, {_COMMONEST}, {_OLD_MAC}, cp932 and gb18030"
        ) from None
    return codecs.lookup(name).name


class Utf8(FileSource):
    """The text of a file as UTF-8. A guessed encoding is added to `notes`.

    Bytes that are invalid in the encoding are kept, which makes invalid UTF-8: the reader of that line reports it.
    """

    def __init__(self, file: BinaryIO, name: str, encoding: str | None, notes: list[str]) -> None:
        super().__init__(file)
        self._name, self._notes = name, notes
        self._held = b""
        self._begun = self._ended = False
        self._ends_are_cr = False
        self._decoder: codecs.IncrementalDecoder | None = None
        self._is_decided = False
        self.encoding = "UTF-8"
        if encoding is not None:
            self._decide(encoding)

    def seekable(self) -> bool:
        return False

    def _read(self, size: int) -> bytes:
        while not self._held and not self._ended:
            chunk = super()._read(_CHUNK_BYTES)
            self._ended = not chunk
            self._held = self._converted(chunk)
        head, self._held = self._held[:size], self._held[size:]
        return head

    def _converted(self, chunk: bytes) -> bytes:
        if not self._begun:
            marked = next((encoding for mark, encoding in _MARKS if chunk.startswith(mark)), None)
            if marked and not self._is_decided:
                self._decide(marked)
        if not self._is_decided and not (chunk.isascii() and b"\0" not in chunk):
            chunk += super()._read(_SAMPLE_BYTES - len(chunk))
            self._guess(chunk)
        text = self._decoded(chunk)
        if not self._begun:
            self._ends_are_cr = _ends_are_cr(text)
        self._begun = True
        return text.replace(b"\r", b"\n") if self._ends_are_cr else text

    def _decoded(self, chunk: bytes) -> bytes:
        if self._decoder is None:
            return chunk
        try:
            return self._decoder.decode(chunk, final=self._ended).encode(errors="surrogateescape")
        except UnicodeError as error:
            raise UnreadableFile(
                f"{self._name}: is not in {self.encoding}: name its encoding with --encoding"
            ) from error

    def _guess(self, sample: bytes) -> None:
        if b"\0" in sample:
            wide = _wide_encoding(sample)
            if wide:
                self._decide(wide)
                self._note()
            else:
                self._is_decided = True
        elif _is_utf_8(sample):
            self._is_decided = True
        else:
            is_old_mac = self._ends_are_cr or _ends_are_cr(sample)
            self._decide(_likeliest(sample, _OLD_MAC if is_old_mac else _COMMONEST))
            self._note()

    def _decide(self, encoding: str) -> None:
        self._is_decided = True
        if encoding not in ("utf-8", "utf-8-sig"):
            self.encoding = encoding
            self._decoder = codecs.getincrementaldecoder(encoding)(errors="surrogateescape")

    def _note(self) -> None:
        self._notes.append(f"{self._name}: read as {self.encoding}, which is a guess: use --encoding NAME for another")


def _ends_are_cr(text: bytes) -> bool:
    return b"\r" in text and b"\n" not in text


def _wide_encoding(sample: bytes) -> str | None:
    """Which UTF-16 the sample is, assuming mostly ASCII; None where its NULs mean something else."""
    zeros = [sample[place::2].count(0) for place in (0, 1)]
    if max(zeros) * 4 < len(sample) or min(zeros) * 4 > max(zeros):
        return None
    return _WIDE[0] if zeros[1] > zeros[0] else _WIDE[1]


def _is_utf_8(sample: bytes) -> bool:
    """Whether at least half of what is not ASCII is UTF-8. The rest is then damage and not another encoding."""
    text = codecs.getincrementaldecoder("utf-8")(errors="surrogateescape").decode(sample)
    damaged = sum("\udc80" <= character <= "\udcff" for character in text)
    return damaged == 0 or damaged * 2 <= len(text) - len(text.encode("ascii", "ignore"))


def _likeliest(sample: bytes, commonest: str) -> str:
    # takes 30 ms to load, and most files do not need it
    from chardet import detect_all

    encodings = (commonest, *_GUESSED)
    likely: dict[str, float] = {}
    for each in detect_all(sample, include_encodings=encodings, prefer_superset=True, ignore_threshold=True):
        if each["encoding"]:
            likely.setdefault(codecs.lookup(each["encoding"]).name, each["confidence"])
    common = codecs.lookup(commonest).name
    best = max(likely, key=lambda encoding: likely[encoding], default=common)
    likeliest = common if likely.get(common, 0) >= _COMMONEST_FROM * likely.get(best, 0) else best
    return next((name for name in encodings if codecs.lookup(name).name == likeliest), likeliest)
