"""The columns and types of a table that could hold a file's records, guessed from what they hold.

One pass over the records, which keeps of a column what its values have in common, and a hash of each value as long as none came
twice, since it may be the key.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Literal, get_args

from quarry.core.files.identifiers import identifiers
from quarry.core.files.records import COLUMNS_MAX, RecordFile, UnreadableFile

ColumnType = Literal["boolean", "bigint", "numeric", "date", "timestamptz", "text[]", "text", "jsonb"]
"""In the order in which they are preferred."""

COLUMN_TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
KEY_TYPES: tuple[ColumnType, ...] = ("bigint", "text")
KEY_MAX_CHARACTERS = 64
BIGINT_MAX = 2**63 - 1

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
    """A column `name` for what the file calls `header`; nullable where a record has nothing there."""

    name: str
    header: str
    type: ColumnType
    nullable: bool


@dataclass(frozen=True)
class GuessedTable:
    """Columns in the file's order; `key` is the one that tells all records apart, None where one has to be generated."""

    columns: tuple[GuessedColumn, ...]
    key: str | None


def guess_table(file: RecordFile, records_max: int | None = None) -> GuessedTable:
    """Guess from a file's first `records_max` records, or from all: what all of them hold is certain to fit.

    Records that cannot be read, or are no objects, are passed over. Raises UnreadableFile.
    """
    seen = {header: _Seen() for header in file.columns}
    rows = 0
    for record in islice(file.records, records_max):
        if record.problem or not isinstance(record.fields, dict):
            continue
        rows += 1
        for header, value in record.fields.items():
            column = seen.setdefault(header, _Seen())
            if len(seen) > COLUMNS_MAX:
                raise UnreadableFile(f"{file.name}: has more than {COLUMNS_MAX} columns")
            if value is not None:
                column.add(value, file.cells_are_text)
    columns = tuple(
        GuessedColumn(name, header, column.type, not 0 < column.values == rows)
        for name, (header, column) in zip(identifiers(list(seen)), seen.items(), strict=True)
    )
    return GuessedTable(columns, _key(columns, list(seen.values())))


def stored_value(value: object, type: ColumnType) -> object:
    """A record's value as a column of a guessed type stores it: what Postgres reads as that type. Raises ValueError for NaN
    within JSON.
    """
    if value is None or type not in ("text", "jsonb"):
        return value
    if type == "jsonb":
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_spelled)
    return value if isinstance(value, str) else _spelled(value)


def _spelled(value: object) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass
class _Seen:
    """What the values of a column so far have in common. `hashes` None: it is no key."""

    values: int = 0
    possible: set[ColumnType] = field(default_factory=lambda: set(COLUMN_TYPES))
    boolean_words: set[str] = field(default_factory=set)
    hashes: set[int] | None = field(default_factory=set)
    has_spaces: bool = False

    def add(self, value: object, is_cell: bool) -> None:
        self.values += 1
        if len(self.possible) > 1:
            self.possible &= _cell_types(value) if is_cell and isinstance(value, str) else _types(value)
            if isinstance(value, str) and "boolean" in self.possible:
                self.boolean_words.add(value.lower())
        if self.hashes is not None:
            self._add_hash(_spelled(value))

    def _add_hash(self, text: str) -> None:
        if self.hashes is None or not 0 < len(text) <= KEY_MAX_CHARACTERS or (known := hash(text)) in self.hashes:
            self.hashes = None
            return
        self.hashes.add(known)
        self.has_spaces = self.has_spaces or any(character.isspace() for character in text)

    @property
    def type(self) -> ColumnType:
        if not self.values:
            return "text"
        return next(
            type for type in COLUMN_TYPES if type in self.possible and (type != "boolean" or self._is_boolean())
        )

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


def _key(columns: Sequence[GuessedColumn], seen: Sequence[_Seen]) -> str | None:
    """The column that is most likely meant as the key: by its name, else the first whose values look like codes."""
    candidates = [
        (_likelihood(column.name), -position, column.name)
        for position, (column, values) in enumerate(zip(columns, seen, strict=True))
        if values.hashes and not column.nullable and column.type in KEY_TYPES
        if _likelihood(column.name) or not values.has_spaces
    ]
    return max(candidates)[2] if candidates else None


def _likelihood(name: str) -> int:
    if name == "id":
        return 3
    if name in ("key", "uuid", "guid"):
        return 2
    return int(name.endswith(("_id", "_key")))
