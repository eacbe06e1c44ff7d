"""What a table can be filtered, counted and grouped by: declared once, for reading questions, for SQL and for words alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

FacetKind = Literal[
    "value", "array", "name", "title", "place", "number", "year", "money", "date", "boolean", "text"
]  # fmt: skip
"""value: one of many; array: several of many; name: what a row (or somebody of it) is called; title: a role or heading, said by
its last words as well; place: cities, regions, countries; year: a whole number that ranges of dates apply to; text: words that it
contains."""


@dataclass(frozen=True)
class Facet:
    """A property of a table's rows. `column` is a column of the table (or of `of`, where the values stand in another table).

    `label` and `plural` are what it is called; `words` what else people call it; `synonyms` are other everyday words for
    values that any data may hold, each with the value ("television", "TV"). `units` are the nouns that a number counts.
    `leads` are words that stand before its values ("by", "at"). `is_hard`: a value that is said plainly must hold; else it must
    hold only where the question insists, and adds weight.
    """

    name: str
    kind: FacetKind
    column: str
    label: str
    plural: str
    words: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    leads: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, str], ...] = ()
    is_hard: bool = True
    currency: str | None = None
    is_many: bool = False
    """Whether its column is an array; that of an array facet is."""

    @property
    def is_array(self) -> bool:
        return self.is_many or self.kind == "array"


@dataclass(frozen=True)
class SearchTable:
    """A table that is searched. `nouns` are what its rows are called, singular; `date` names the facet that dates them."""

    name: str
    key: str
    nouns: tuple[str, ...]
    facets: Sequence[Facet]
    date: str | None = None
    where: str = "true"
    """Rows that are searched at all, as SQL over the table."""

    def facet(self, name: str) -> Facet:
        """The facet of that name. Raises KeyError."""
        return next(facet for facet in self.facets if facet.name == name)
