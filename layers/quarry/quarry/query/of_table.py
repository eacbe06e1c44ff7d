"""A searched table of Quarry's own as a source: its facets become fields, and the rows that belong to its rows links. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import LiteralString

from quarry.language.nouns import plural
from quarry.query.schema import ACTOR_SETTING, Field, Kind, Link, Source, SqlHoldsWords, SqlOf
from quarry.retrieval.facets import Facet, FacetKind, Related, SearchTable

KINDS: Mapping[FacetKind, Kind] = {
    "value": "text", "array": "text", "name": "text", "title": "text", "place": "text", "text": "text", "number": "number",
    "money": "money", "year": "year", "date": "date", "boolean": "boolean",
}  # fmt: skip
"""The kinds of facets as those of fields. A search vector is no field: a query's `text` looks for words."""

_ROW = re.compile(r"(?<![\w.])([tr])\.")


def source_of(
    table: SearchTable,
    name: str,
    *,
    title: LiteralString,
    description: str,
    words: LiteralString | None = "text_search",
) -> Source:
    """A source of the table's rows. `title` says over a row `t` what it is called; `words` is the column with its search
    vector, if it has one. Rows that have owners are their owner's alone.
    """
    links = {related.name: _link(table, related) for related in table.related}
    guard = guard_of(table)
    return Source(
        name,
        label=plural(table.nouns[0]),
        nouns=table.nouns,
        rows=table.rows,
        key=lambda row: of_row(table.key_sql, row),
        title=_one_row(title),
        fields={facet.name: _field(table, facet, links) for facet in table.facets if facet.kind in KINDS},
        links=links,
        guard=lambda row: of_row(guard, row),
        holds_words=_holds_words(words) if words else None,
        dated=table.date,
        description=description,
        languages=table.languages,
        owner_claim="sub" if table.scope else None,
    )


def guard_of(table: SearchTable) -> LiteralString:
    """Which rows `t` of a table are searched and the caller's to see."""
    owner = f"t.{table.scope} = current_setting('{ACTOR_SETTING}', true)" if table.scope else "true"
    return " and ".join(f"({part})" for part in (table.where, table.guard, owner) if part != "true") or "true"


def _link(table: SearchTable, related: Related) -> Link:
    facets = [facet for facet in table.facets if facet.related == related.name and facet.kind in KINDS]
    return Link(
        related.name,
        related.name.replace("_", " "),
        on=lambda row, other: of_row(related.on, row, other),
        is_many=related.is_many,
        rows=related.rows,
        fields={
            (facet.column if facet.column.isidentifier() else facet.name): _value(table, facet) for facet in facets
        },
    )


def _field(table: SearchTable, facet: Facet, links: Mapping[str, Link]) -> Field:
    value = _value(table, facet)
    return replace(value, related=links[facet.related]) if facet.related else value


def _value(table: SearchTable, facet: Facet) -> Field:
    """A facet as a field of the row that holds it. A place that is put together of several columns is each of its parts."""
    has_parts = facet.kind == "place" and not facet.column.isidentifier()
    sql: LiteralString = "place_parts(" + facet.sql + ")" if has_parts else facet.sql
    return described(facet, _one_row(sql), table, is_array=has_parts or facet.is_array)


def described(facet: Facet, sql: SqlOf, table: SearchTable, *, is_array: bool | None = None) -> Field:
    """A field with what a facet says of it."""
    return Field(
        facet.name,
        KINDS.get(facet.kind, "text"),
        sql,
        facet.label,
        facet.plural,
        is_array=facet.is_array if is_array is None else is_array,
        unit=facet.unit,
        currency=facet.currency,
        listed=(table, facet.name) if facet.is_listed else None,
    )


def _holds_words(column: LiteralString) -> SqlHoldsWords:
    return lambda row, text: f"{row}.{column} @@ (select parsed_query({text}))"


def _one_row(sql: LiteralString) -> SqlOf:
    """SQL over a row `t`, or over a related row `r`, as SQL over the row of any name."""
    return lambda row: of_row(sql, row, row)


def of_row(sql: LiteralString, row: LiteralString, other: LiteralString = "r") -> LiteralString:
    """SQL over a row `t` and a related row `r` with other names for them."""
    parts = _ROW.split(sql)
    return "".join(
        part if place % 2 == 0 else (row if part == "t" else other) + "." for place, part in enumerate(parts)
    )
