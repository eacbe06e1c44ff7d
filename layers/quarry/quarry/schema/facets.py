"""The kinds of facets, by which rows are filtered, counted and grouped, and values as somebody wrote them. Pure."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal, LiteralString, NamedTuple

FacetKind = Literal[
    "value", "array", "name", "title", "place", "number", "year", "money", "date", "boolean", "text", "words"
]  # fmt: skip
"""value: one of many; array: several of many; name: what a row (or somebody of it) is called; title: a role or heading, said by
its last words as well ("Engineer" of "Senior Engineer"); place: cities, regions, countries, several of them separated by
commas; year: a whole number that ranges of dates apply to; text: words that it contains; words: a text search vector, and
words that it holds."""


def identifier(*names: str) -> LiteralString:
    """A name in SQL, quoted.

    A statement with parameters and a template read `%`, `{` and `}`: names with these are written with Unicode escapes.
    """
    return ".".join(map(_quoted_name, names))


_READ_OTHERWISE = re.compile(r"[%{}\\]")


def _quoted_name(name: str) -> LiteralString:
    quoted: LiteralString = '"' + name.replace('"', '""') + '"'
    if not set(name) & set("%{}"):
        return quoted
    return "U&" + _READ_OTHERWISE.sub(lambda found: f"\\{ord(found[0]):04X}", quoted)


LISTED_KINDS: frozenset[FacetKind] = frozenset({"value", "array", "name", "title", "place"})
"""The kinds whose values are looked up for a question's words."""

TEXT_KINDS: frozenset[FacetKind] = LISTED_KINDS | {"text"}
"""The kinds whose values are texts."""

NUMERIC_KINDS: frozenset[FacetKind] = frozenset({"number", "money", "year"})
"""The kinds whose values are numbers."""

VALUE_MAX_CHARACTERS = 200
"""Longer values are not looked up."""


NEAREST_VALUES = 3
NEAREST_CUTOFF = 0.4
NEAREST_CHARACTERS = 60
"""How many letters of values are compared."""
EXPLAINED_VALUES = 5
"""How many unknown values of a request get the nearest known ones."""

_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SPACES = " \t\n\r\f\v"


class NamedValue(NamedTuple):
    """A value as somebody wrote it, for any of the facets; `pointer` is its place in the request. `elsewhere` are facets for
    which the same value is named: a value that only they have is not unknown here.
    """

    facets: tuple[str, ...]
    value: str
    pointer: str = ""
    is_negated: bool = False
    elsewhere: tuple[str, ...] = ()


class UnknownValue(NamedTuple):
    """An unknown value, and the nearest known ones. `noun` names a row, `label` the facet."""

    noun: str
    label: str
    value: str
    nearest: tuple[str, ...] = ()

    def __str__(self) -> str:
        offered = f"; did you mean {' or '.join(repr(value) for value in self.nearest)}?" if self.nearest else "."
        return f"No {self.noun} has the {self.label} {self.value!r}{offered}"


def nearest(value: str, existing: Sequence[str], cutoff: float = NEAREST_CUTOFF) -> tuple[str, ...]:
    """The known values with the most similar spelling."""
    by_plain = {plain(each)[:NEAREST_CHARACTERS]: each for each in existing}
    wanted = plain(value)[:NEAREST_CHARACTERS]
    close = difflib.get_close_matches(wanted, by_plain, n=NEAREST_VALUES, cutoff=cutoff)
    return tuple(by_plain[each] for each in close)


def folded_value(value: str) -> str:
    """A value as groups and filters compare it, like the SQL function `folded_value`; empty if it is blank."""
    decomposed = unicodedata.normalize("NFKD", value.lower())
    return _ACCENTS.sub("", decomposed).replace("’", "'").strip(_SPACES)


def plain(text: str) -> str:
    """Lower-case words and numbers, separated by single spaces."""
    return _NOT_ALPHANUMERIC.sub(" ", text.casefold()).strip()
