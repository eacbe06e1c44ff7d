"""Guesses the columns and types of a table from the records of files.

One pass over the records keeps only what the values of each column have in common.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from quarry.files.forms import (
    AS_POSTGRES,
    BOOLEANS,
    COLUMN_TYPES,
    WORDED,
    ColumnType,
    Forms,
    Writing,
    cell_types,
    cut,
    sign_of,
    value_types,
)
from quarry.files.records import COLUMNS_MAX, RecordFile, UnreadableFile

KEY_TYPES: tuple[ColumnType, ...] = ("bigint", "text")
KEY_MAX_CHARACTERS = 64

_KEY_NAMES = ("guid", "uuid", "key", "id")
"""Names of keys, the likeliest last."""
_KEY_ENDINGS = (*_KEY_NAMES, "code", "no", "nr", "number")


@dataclass(frozen=True)
class GuessedColumn:
    """A column `name` for the `header` in the file; nullable where a record has no value.

    `remark` explains why the type is text, where that is not obvious.
    """

    name: str
    header: str
    type: ColumnType
    nullable: bool
    remark: str = ""


@dataclass(frozen=True)
class GuessedTable:
    """Columns in the order of the file. `keys` are the columns that may be unique, by name, likeliest first."""

    columns: tuple[GuessedColumn, ...]
    keys: tuple[str, ...]


class TableGuesser:
    """What the records so far have in common. All of them fit `guessed`."""

    def __init__(self, writing: Writing = AS_POSTGRES, reserved: Set[str] = frozenset()) -> None:
        self._writing = writing
        self._rows = 0
        self._identifiers = Identifiers(reserved)
        self._seen: dict[str, _ColumnTraits] = {}

    @property
    def names(self) -> dict[str, str]:
        """The names of the columns so far, by header."""
        return {header: traits.name for header, traits in self._seen.items()}

    def name(self, header: str, file: RecordFile) -> str:
        """The name of the column for a header. Raises UnreadableFile where there are too many columns."""
        return self._column(header, file).name

    def add(self, fields: Mapping[str, object], file: RecordFile, number: int) -> None:
        """Add a record of a file, with its number. Raises UnreadableFile where there are too many columns."""
        self._rows += 1

        def place() -> str:
            return f"{file.unit} {number} of {file.name}"

        for header, value in fields.items():
            column = self._column(header, file)
            if value is not None:
                types = possible_types(value, self._writing, is_cell=file.cells_are_text)
                column.add(value, types, place)

    def _column(self, header: str, file: RecordFile) -> _ColumnTraits:
        column = self._seen.get(header)
        if column is None:
            if len(self._seen) == COLUMNS_MAX:
                raise UnreadableFile(f"{file.name}: has more than {COLUMNS_MAX} columns")
            column = self._seen[header] = _ColumnTraits(self._identifiers.add(header))
        return column

    def guessed(self) -> GuessedTable:
        """The table that holds all records so far."""
        columns = tuple(
            GuessedColumn(traits.name, header, traits.type, not 0 < traits.values == self._rows, traits.remark)
            for header, traits in self._seen.items()
        )
        return GuessedTable(columns, tuple(_keys(columns, list(self._seen.values()))))


def possible_types(value: object, writing: Writing, *, is_cell: bool) -> set[ColumnType]:
    """The types that a value may have, as numbers and dates are written."""
    if not isinstance(value, str) or writing is AS_POSTGRES:
        return cell_types(value) if is_cell and isinstance(value, str) else value_types(value)
    if number := writing.number(value):
        return cell_types(number)
    if moment := writing.moment(value):
        return {"timestamptz", "text"} if isinstance(moment, datetime.datetime) else {"date", "timestamptz", "text"}
    types = cell_types(value) if is_cell else value_types(value)
    # Postgres would misread a point between thousands
    return types - {"bigint", "numeric"} if writing.decimals else types


def misfit(value: object, type: ColumnType, writing: Writing = AS_POSTGRES, *, is_cell: bool) -> str | None:
    """Why a value does not fit a column of that type; None where it does."""
    if type == "jsonb":
        return None
    possible = possible_types(value, writing, is_cell=is_cell)
    return None if type in possible else f"{_excerpt(value)} is not {WORDED[type]}"


def staged(fields: Mapping[str, object]) -> str:
    """A record as JSON. Numbers that JSON lacks become text, as Postgres reads it. Raises ValueError for NaN within a value."""
    return json.dumps(
        {
            header: str(value) if isinstance(value, float) and not math.isfinite(value) else value
            for header, value in fields.items() if value is not None
        },
        ensure_ascii=False, allow_nan=False, default=lambda value: value.hex() if isinstance(value, bytes) else str(value),
    )  # fmt: skip


def _excerpt(value: object) -> str:
    return cut(repr(value) if isinstance(value, str) else str(value))


@dataclass
class _ColumnTraits:
    """What the values of a column so far have in common. `is_short`: each of them may be a key."""

    name: str
    values: int = 0
    possible: set[ColumnType] = field(default_factory=lambda: set(COLUMN_TYPES))
    boolean_words: set[str] = field(default_factory=set)
    is_short: bool = True
    signs: dict[str, str] = field(default_factory=dict)
    """The currency signs and % beside its numbers, "" for none, each with its first value."""
    forms: Forms = field(default_factory=Forms)

    def add(self, value: object, types: set[ColumnType], place: Callable[[], str]) -> None:
        """Add a value with its possible types."""
        self.values += 1
        if len(self.possible) > 1:
            self.possible &= types
            if isinstance(value, str) and "boolean" in self.possible:
                self.boolean_words.add(value.lower())
            if isinstance(value, str) and "numeric" in types and (sign := sign_of(value)) not in self.signs:
                self.signs[sign] = f"{_excerpt(value)} in {place()}"
        self.forms.add(value, types, place)
        self.is_short = self.is_short and 0 < len(str(value)) <= KEY_MAX_CHARACTERS

    @property
    def type(self) -> ColumnType:
        if not self.values or self._has_several_units():
            return "text"
        return next(
            type for type in COLUMN_TYPES if type in self.possible and (type != "boolean" or self._is_boolean())
        )

    @property
    def remark(self) -> str:
        """Why the type is text, or how percentages are read."""
        if self._has_several_units():
            units = ", ".join(self.signs.values())
            return f"amounts in several units ({units}): kept as text; write the unit in a column of its own"
        if self.type == "text":
            return self.forms.remark()
        return f"percentages are read as their numbers: {self.signs['%']}" if "%" in self.signs else ""

    def _has_several_units(self) -> bool:
        """Whether numbers have different signs. A number beside percentages may be a share."""
        signs = self.signs.keys() - {""}
        return "numeric" in self.possible and (len(signs) > 1 or (signs == {"%"} and "" in self.signs))

    def _is_boolean(self) -> bool:
        """Whether its words belong to one pair, such as yes and no. "no" with "t" does not, nor does a single letter."""
        words = self.boolean_words
        return not words or any(words <= {*pair} and (len(pair[0]) > 1 or len(words) == len(pair)) for pair in BOOLEANS)


def _keys(columns: Sequence[GuessedColumn], traits: Sequence[_ColumnTraits]) -> Iterator[str]:
    """First the columns with the name of a key, then the first column if its name ends like one."""
    possible = [
        column.name
        for column, values in zip(columns, traits, strict=True)
        if values.is_short and not column.nullable and column.type in KEY_TYPES
    ]
    key_names = sorted(set(possible).intersection(_KEY_NAMES), key=_KEY_NAMES.index, reverse=True)
    yield from key_names
    first = columns[0].name if columns else ""
    if first in possible and first not in key_names and first.rpartition("_")[2] in _KEY_ENDINGS:
        yield first


IDENTIFIER_MAX_BYTES = 63

_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ACCENTS = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")


class Identifiers:
    """Different identifiers of at most 63 bytes each. The same names in the same order give the same identifiers.

    Letters and digits of any script are kept, in lower case and, in Latin, without accents; anything else becomes one
    underscore. A name without letters or digits becomes `column_N`, a `reserved` word `order_`, and a repeated name `name_2`.
    """

    def __init__(self, reserved: Set[str] = frozenset()) -> None:
        self._reserved = reserved
        self._found: dict[str, None] = {}
        self._copies = Counter[str]()

    def add(self, name: str) -> str:
        """The identifier for the next name."""
        identifier = plain = self._plain(name) or f"column_{len(self._found) + 1}"
        while identifier in self._found:
            self._copies[plain] += 1
            suffix = f"_{self._copies[plain] + 1}"
            identifier = _cut(plain, IDENTIFIER_MAX_BYTES - len(suffix)) + suffix
        self._found[identifier] = None
        return identifier

    def _plain(self, name: str) -> str:
        decomposed = unicodedata.normalize("NFKD", _CASE_CHANGE.sub("_", name)).casefold()
        folded = unicodedata.normalize("NFKC", _ACCENTS.sub("", decomposed)).lower()
        # marks are parts of letters in many scripts, such as vowels in Devanagari
        words = "".join(character if unicodedata.category(character)[0] in "LNM" else "_" for character in folded)
        plain = re.sub(r"__+", "_", words).strip("_")
        if plain and not plain[0].isalpha():
            plain = f"column_{plain}"
        return _cut(f"{plain}_" if plain in self._reserved else plain, IDENTIFIER_MAX_BYTES)


def _cut(name: str, max_bytes: int) -> str:
    return name.encode()[:max_bytes].decode(errors="ignore")
