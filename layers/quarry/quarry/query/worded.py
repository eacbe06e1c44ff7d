"""A searched table as the source of the queries that questions in words become, and their conditions in words. Pure.

Its fields are the table's facets, each said as the facet's wording has it ("in Germany").
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import LiteralString

from quarry.language.nouns import plural
from quarry.query.algebra import Condition
from quarry.query.of_filters import condition_of, written
from quarry.query.of_table import described, guard_of, of_row
from quarry.query.phrases import Phrases
from quarry.query.schema import KEY, Field, Link, Schema, Source
from quarry.retrieval.facets import Facet, Related, SearchTable
from quarry.spans.question import Clause


@lru_cache(maxsize=256)
def worded_source(table: SearchTable) -> Source:
    """The source that a table's questions are about, by the table's name."""
    links = {related.name: _link(table, related) for related in table.related}
    fields = {KEY: Field(KEY, "text", lambda row: of_row(f"({table.key_sql})::text", row), "id", "ids")}
    fields |= {facet.name: _field(table, facet, links) for facet in table.facets}
    return Source(
        table.name,
        label=plural(table.nouns[0]),
        nouns=table.nouns,
        rows=table.rows,
        key=lambda row: of_row(table.key_sql, row),
        title=lambda row: of_row(f"({table.key_sql})::text", row),
        fields=fields,
        links=links,
        guard=lambda row: of_row(guard_of(table), row),
        holds_words=lambda row, text: of_row(table.holds_words.format(text), row),
        dated=table.date,
        languages=table.languages,
    )


def labels(table: SearchTable, clauses: Sequence[Clause]) -> list[str]:
    """The clauses in words that can follow what they are about. Raises ValueError."""
    source = worded_source(table)
    # every day is named by a date
    phrases = Phrases(Schema({table.name: source}), source, datetime.date.min)
    return [phrases.condition(condition(table, clause)) for clause in clauses]


def condition(table: SearchTable, clause: Clause) -> Condition:
    """What a clause asks of a row. Raises ValueError for what the facets cannot have."""
    return written(clause, table, worded_source(table))


def can_have(table: SearchTable, clause: Clause) -> bool:
    """Whether the facets of a table can be asked for what a clause says."""
    return condition_of(clause, table, worded_source(table)) is not None


def _link(table: SearchTable, related: Related) -> Link:
    return Link(
        related.name,
        related.name.replace("_", " "),
        on=lambda row, other: of_row(related.on, row, other),
        is_many=related.is_many,
        rows=related.rows,
        fields={facet.name: _value(table, facet) for facet in table.facets if facet.related == related.name},
    )


def _field(table: SearchTable, facet: Facet, links: dict[str, Link]) -> Field:
    value = _value(table, facet)
    return replace(value, related=links[facet.related]) if facet.related else value


def _value(table: SearchTable, facet: Facet) -> Field:
    """A facet as a field of the row that holds it. A place is each of its parts."""
    is_place = facet.kind == "place"
    sql: LiteralString = f"place_parts({facet.sql})" if is_place else facet.sql
    field = described(facet, lambda row: of_row(sql, row, row), table, is_array=is_place or facet.is_array)
    return replace(field, wording=facet.wording)
