"""What a table can be filtered, counted and grouped by: declared once, for reading questions, for SQL and for words alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

FacetKind = Literal["value", "array", "name", "place", "number", "money", "date", "boolean", "text"]
"""value: one of many; array: several of many; name: what a row (or somebody of it) is called; place: a city, country or region;
text: words that it contains."""


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
