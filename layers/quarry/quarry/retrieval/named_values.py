"""Values as somebody wrote them, and what is said of one that the data does not have. Pure."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from quarry.retrieval.facets import SearchTable

NEAREST_VALUES = 3
NEAREST_CUTOFF = 0.4
NEAREST_CHARACTERS = 60
"""So many letters of a value are compared with one that does not exist,"""
EXPLAINED_VALUES = 5
"""for the first so many that do not exist."""

_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_SPACES = " \t\n\r\f\v"


@dataclass(frozen=True)
class NamedValue:
    """A value as somebody wrote it, of any of the facets; `pointer` is where it stands in the request. `elsewhere` are facets of
    which the same is said: what one of them has means nothing here, unless these facets have it too.
    """

    facets: tuple[str, ...]
    value: str
    pointer: str = ""
    is_negated: bool = False
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnknownValue:
    """A value that no row has, and those that come nearest to it. `noun` is what a row is called, `label` the facet."""

    noun: str
    label: str
    value: str
    nearest: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: SearchTable, facet: str, value: str, nearest: tuple[str, ...] = ()) -> UnknownValue:
        return cls(table.nouns[0], table.facet(facet).label, value, nearest)

    def __str__(self) -> str:
        offered = f"; did you mean {' or '.join(repr(value) for value in self.nearest)}?" if self.nearest else "."
        return f"No {self.noun} has the {self.label} {self.value!r}{offered}"


def nearest(value: str, existing: Sequence[str], cutoff: float = NEAREST_CUTOFF) -> tuple[str, ...]:
    """The known values that are spelt most like `value`; a likeness of 1 is the same."""
    by_plain = {plain(each)[:NEAREST_CHARACTERS]: each for each in existing}
    wanted = plain(value)[:NEAREST_CHARACTERS]
    close = difflib.get_close_matches(wanted, by_plain, n=NEAREST_VALUES, cutoff=cutoff)
    return tuple(by_plain[each] for each in close)


def folded_value(value: str) -> str:
    """A value as groups and filters compare it, as `folded_value` in SQL has it; empty where it is blank."""
    decomposed = unicodedata.normalize("NFKD", value.lower())
    return _ACCENTS.sub("", decomposed).replace("’", "'").strip(_SPACES)


def plain(text: str) -> str:
    """Lower-case words and figures, one space between them."""
    return _NOT_ALPHANUMERIC.sub(" ", text.casefold()).strip()
