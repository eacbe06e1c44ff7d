"""Which types of columns a declaration can use, and for what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from quarry.collections.guessing import is_date
from quarry.collections.relations import Column
from quarry.retrieval.facets import FacetKind

_NOT_TEXT = frozenset(
    """bytea tsvector tsquery vector halfvec sparsevec bit varbit geometry geography raster box path point line lseg
    polygon circle""".split()
)
_NOT_SINGLE = frozenset({"json", "jsonb", "xml", "hstore"})
_ORDERED = frozenset({"uuid", "xid8", "pg_lsn"})


class Fit(NamedTuple):
    """A test of columns for one purpose, and what they must hold, in words."""

    accepts: Callable[[Column], bool]
    wanted: str


def is_single(column: Column) -> bool:
    """Whether it holds one value, which can be compared and shown."""
    return not column.is_array and column.category != "C" and _type(column) not in _NOT_TEXT | _NOT_SINGLE


def is_comparable(left: Column, right: Column) -> bool:
    """Whether values of one column can be looked up in the other."""
    return left.base == right.base or (left.category == right.category and left.category in ("N", "S"))


def _of(*categories: str) -> Callable[[Column], bool]:
    return lambda column: not column.is_array and column.category in categories


def _type(column: Column) -> str:
    """The name of the type, without schema and length."""
    return column.base.partition("(")[0].rpartition(".")[2].strip('"').split(" ")[0]


def dimensions_of(column: Column) -> int | None:
    """The length of a column's vectors; None where the type does not say."""
    dimensions = column.type.partition("(")[2].rstrip(")")
    return int(dimensions) if dimensions.isdecimal() else None


ANY = Fit(lambda _: True, "anything")
TEXT = Fit(lambda column: _type(column) not in _NOT_TEXT, "text")
SINGLE = Fit(is_single, "a single value")
PLAIN = Fit(lambda column: is_single(replace(column, is_array=False)), "a single value, or several of these")
VECTOR = Fit(
    lambda column: not column.is_array and _type(column) in ("vector", "halfvec"), "a vector or halfvec of pgvector"
)
DATE = Fit(is_date, "a date or timestamp")
ORDERED = Fit(
    lambda column: _of("N", "S")(column) or is_date(column) or (not column.is_array and _type(column) in _ORDERED),
    "a number, moment or text that grows",
)
_WORD = Fit(_of("S", "E"), "text")
_WORDS = Fit(lambda column: column.category in ("S", "E"), "text, or an array of texts")
_NUMBER = Fit(_of("N"), "a number")
MEASURED = Fit(lambda column: _NUMBER.accepts(column) or is_date(column), "a number")
FACETS: Mapping[FacetKind, Fit] = {
    "value": SINGLE, "name": _WORDS, "title": _WORD, "place": _WORDS, "text": _WORD,
    "number": _NUMBER, "year": _NUMBER, "money": _NUMBER,
    "date": DATE, "boolean": Fit(_of("B", "N", "S"), "a boolean, a number, or texts for yes and no"),
    "array": Fit(lambda column: column.is_array, "an array"),
    "words": ANY,
}  # fmt: skip
