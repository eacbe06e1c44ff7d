"""Records of Parquet. Needs pyarrow, which is not installed with Quarry."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, BinaryIO

from quarry.files.records import Record, UnreadableFile

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
