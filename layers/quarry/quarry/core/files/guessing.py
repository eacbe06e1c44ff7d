"""The columns and types of a table that could hold the records of files, guessed from what they hold.

One pass over the records, which keeps of a column what its values have in common, and no value.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, get_args

from quarry.core.files.identifiers import Identifiers
from quarry.core.files.records import COLUMNS_MAX, RecordFile, UnreadableFile

ColumnType = Literal["boolean", "bigint", "numeric", "date", "timestamptz", "text[]", "text", "jsonb"]
"""In the order in which they are preferred."""

COLUMN_TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
KEY_TYPES: tuple[ColumnType, ...] = ("bigint", "text")
KEY_MAX_CHARACTERS = 64
BIGINT_MAX = 2**63 - 1
TOLD_AFTER = 10
"""A column of text is told where so many values before the first that is not were of another type."""

_WORDED: Mapping[ColumnType, str] = {
    "boolean": "true or false", "bigint": "a whole number", "numeric": "a number", "date": "a date as YYYY-MM-DD",
    "timestamptz": "a time as YYYY-MM-DDThh:mm:ssZ", "text[]": "a list of texts", "text": "one text", "jsonb": "JSON",
}  # fmt: skip
_LOOKS = {
    "numbers with a comma": re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{3}){0,6},[0-9]{1,15}"),
    "dates in another order than year, month, day": re.compile(r"[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{2}(?:[0-9]{2})?"),
}
"""What may be read in two ways, and is left as it is written: 1,234 is one number here and another there."""
_KEY_NAMES = ("guid", "uuid", "key", "id")
"""What a key is called, the likeliest last."""
_KEY_ENDINGS = (*_KEY_NAMES, "code", "no", "nr", "number")

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,30}")
_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,2})?")
_DATE = re.compile(r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    _DATE.pattern + r"[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)?"
)
_ANY: frozenset[ColumnType] = frozenset({"text", "jsonb"})
_BOOLEANS = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"))
_BOOLEAN_WORDS = frozenset(word for pair in _BOOLEANS for word in pair)


@dataclass(frozen=True)
class GuessedColumn:
    """A column `name` for what the file calls `header`; nullable where a record has nothing there.

    `remark` says why a column of text is one, where that is not plain.
    """

    name: str
    header: str
    type: ColumnType
    nullable: bool
    remark: str = ""


@dataclass(frozen=True)
class GuessedTable:
    """Columns in the file's order; `keys` are those that may tell all records apart, by their names, the likeliest first."""

    columns: tuple[GuessedColumn, ...]
    keys: tuple[str, ...]


class TableGuesser:
    """What records have in common so far: those that were added are certain to fit `guessed`."""

    def __init__(self) -> None:
        self._rows = 0
        self._names = Identifiers()
        self._seen: dict[str, _Seen] = {}

    def add_columns(self, file: RecordFile) -> None:
        """Take in what a file names once for all records."""
        for header in file.columns:
            self._column(header, file)

    def add(self, fields: Mapping[str, object], file: RecordFile, number: int) -> None:
        """Take in a record of a file, by its number. Raises UnreadableFile where it brings one column too many."""
        self._rows += 1
        for header, value in fields.items():
            column = self._column(header, file)
            if value is not None:
                column.add(value, file, number)

    def _column(self, header: str, file: RecordFile) -> _Seen:
        column = self._seen.get(header)
        if column is None:
            if len(self._seen) == COLUMNS_MAX:
                raise UnreadableFile(f"{file.name}: has more than {COLUMNS_MAX} columns")
            column = self._seen[header] = _Seen(self._names.add(header))
        return column

    def guessed(self) -> GuessedTable:
        """The table that holds all records so far."""
        columns = tuple(
            GuessedColumn(seen.name, header, seen.type, not 0 < seen.values == self._rows, seen.remark)
            for header, seen in self._seen.items()
        )
        return GuessedTable(columns, tuple(_keys(columns, list(self._seen.values()))))


def misfit(value: object, type: ColumnType, *, is_cell: bool) -> str | None:
    """Why a value cannot be one of a column of that type; None where it can."""
    if type == "jsonb":
        return None
    possible = _cell_types(value) if is_cell and isinstance(value, str) else _types(value)
    return None if type in possible else f"{_shown(value)} is not {_WORDED[type]}"


def staged(fields: Mapping[str, object]) -> str:
    """A record as JSON: what JSON has no value for is spelt, as Postgres reads it. Raises ValueError for NaN within a value."""
    return json.dumps(
        {header: _plain(value) for header, value in fields.items() if value is not None},
        ensure_ascii=False, allow_nan=False, default=_spelled,
    )  # fmt: skip


def _plain(value: object) -> object:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _spelled(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


@dataclass
class _Seen:
    """What the values of a column so far have in common. `is_short`: each may be a key."""

    name: str
    values: int = 0
    possible: set[ColumnType] = field(default_factory=lambda: set(COLUMN_TYPES))
    boolean_words: set[str] = field(default_factory=set)
    is_short: bool = True
    looks: frozenset[str] = frozenset(_LOOKS)
    exception: str = ""

    def add(self, value: object, file: RecordFile, number: int) -> None:
        self.values += 1
        if len(self.possible) > 1:
            types = _cell_types(value) if file.cells_are_text and isinstance(value, str) else _types(value)
            if not self.possible <= types:
                self._narrow(types, value, f"{file.name}, {file.unit} {number}")
            if isinstance(value, str) and "boolean" in self.possible:
                self.boolean_words.add(value.lower())
        if self.looks:
            text = value if isinstance(value, str) else ""
            self.looks = frozenset(look for look in self.looks if _LOOKS[look].fullmatch(text))
        self.is_short = self.is_short and 0 < len(str(value)) <= KEY_MAX_CHARACTERS

    def _narrow(self, types: set[ColumnType], value: object, place: str) -> None:
        before = self.type
        self.possible &= types
        if self.values > TOLD_AFTER and before not in _ANY and self.type == "text":
            self.exception = f"was {_WORDED[before]} {self.values - 1:,} times, then {_shown(value)} ({place})"

    @property
    def type(self) -> ColumnType:
        if not self.values:
            return "text"
        return next(
            type for type in COLUMN_TYPES if type in self.possible and (type != "boolean" or self._is_boolean())
        )

    @property
    def remark(self) -> str:
        if self.values and self.looks:
            return f"{', '.join(self.looks)}: kept as written"
        return self.exception

    def _is_boolean(self) -> bool:
        """Whether its words are of one pair: "no" beside "t" is something else, as is a letter that is alone."""
        words = self.boolean_words
        return not words or any(
            words <= {*pair} and (len(pair[0]) > 1 or len(words) == len(pair)) for pair in _BOOLEANS
        )


def _cell_types(text: str) -> set[ColumnType]:
    """The types of which `text`, a cell where texts alone are known, may be a value."""
    if _INTEGER.fullmatch(text) and abs(int(text)) <= BIGINT_MAX:
        return {"bigint", "numeric", "text"}
    if _NUMBER.fullmatch(text):
        return {"numeric", "text"}
    return {"boolean", "text"} if text.lower() in _BOOLEAN_WORDS else _types(text)


def _types(value: object) -> set[ColumnType]:
    """The types that can hold `value` of a format that knows numbers from texts."""
    match value:
        case dict():
            return {"jsonb"}
        case list():
            return {"jsonb", "text[]"} if all(isinstance(item, str) for item in value) else {"jsonb"}
        case bool():
            return {"boolean", *_ANY}
        case int() if abs(value) <= BIGINT_MAX:
            return {"bigint", "numeric", *_ANY}
        case int() | float() | Decimal():
            return {"numeric", *_ANY}
        case datetime.datetime():
            return {"timestamptz", *_ANY}
        case datetime.date():
            return {"date", "timestamptz", *_ANY}
        case str():
            return _date_types(value) | _ANY
    return set(_ANY)


def _date_types(text: str) -> set[ColumnType]:
    """A date or a time as ISO 8601 writes them; all else may be read in two ways, as 03/04/2031 is."""
    is_date = _DATE.fullmatch(text)
    if not is_date and not _TIME.fullmatch(text):
        return set()
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return set()
    return {"date", "timestamptz"} if is_date else {"timestamptz"}


def _keys(columns: Sequence[GuessedColumn], seen: Sequence[_Seen]) -> Iterator[str]:
    """What is called as a key is, wherever it stands; then what ends so, where it stands first."""
    possible = [
        column.name
        for column, values in zip(columns, seen, strict=True)
        if values.is_short and not column.nullable and column.type in KEY_TYPES
    ]
    named = sorted(set(possible).intersection(_KEY_NAMES), key=_KEY_NAMES.index, reverse=True)
    yield from named
    first = columns[0].name if columns else ""
    if first in possible and first not in named and first.rpartition("_")[2] in _KEY_ENDINGS:
        yield first
