"""The result of a query on the wire."""

from __future__ import annotations

from quarry.core.lazy_model import LazyModel
from quarry.query.algebra import Query, Span
from quarry.query.result import Cell


class ResultColumn(LazyModel):
    """A column of the rows: `name` is the field or the aggregate as the query names it, `label` what people call it. `unit` is
    what its numbers are measured in or, of money, the currency.
    """

    name: str
    label: str
    kind: str
    unit: str | None = None


class FilterChip(LazyModel):
    """A condition in words, and a pointer (RFC 6901) to the part of the query that says it."""

    label: str
    pointer: str


class QueryResult(LazyModel):
    """`POST /query`: the query, with values as the data spells them, and its exact result. `sentence` says both in words.
    `total` is how many rows of the source the query is about. `truncated`: there are rows, or groups, behind the last one here.
    """

    query: Query
    sentence: str
    columns: list[ResultColumn]
    rows: list[list[Cell]]
    total: int
    truncated: bool
    filters: list[FilterChip]
    spans: tuple[Span, ...] | None = None
