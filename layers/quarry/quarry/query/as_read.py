"""A searched table as the source that the queries of questions in words are run on. Pure.

Its fields are compared as such questions name values: each as the data spells it, with all of its spellings, so that an index on
the column serves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import LiteralString

from psycopg.sql import SQL

from quarry.query.of_table import guard_of, of_row
from quarry.query.schema import Field, Schema, Source, SqlHolds
from quarry.query.worded import worded_source
from quarry.retrieval.facets import TEXT_KINDS, Facet, FacetKind, SearchTable
from quarry.retrieval.held_values import holds_one_of


@lru_cache(maxsize=256)
def source_as_read(table: SearchTable) -> Source:
    """The source that a table's questions are about, by the table's name."""
    source = worded_source(table)
    links = {name: replace(link, fields=_comparing(table, link.fields)) for name, link in source.links.items()}
    fields = {
        name: replace(field, related=links[field.related.name]) if field.related else field
        for name, field in _comparing(table, source.fields).items()
    }
    return replace(source, fields=fields, links=links)


def schema_as_read(table: SearchTable) -> Schema:
    """The schema of one table."""
    return Schema({table.name: source_as_read(table)})


def _comparing(table: SearchTable, fields: Mapping[str, Field]) -> dict[str, Field]:
    """The fields, those with texts compared as the data spells them."""
    return {
        name: replace(field, holds=_holds(table.facet(name))) if name in table.by_name else field
        for name, field in fields.items()
    }


def _holds(facet: Facet) -> SqlHolds | None:
    if facet.kind not in TEXT_KINDS and facet.kind != "words":
        return None
    return lambda row, values, parameters: holds_one_of(facet, SQL(of_row(facet.sql, row, row)), values, parameters)


def united(tables: Sequence[SearchTable], names: Sequence[str]) -> SearchTable:
    """The rows of several tables as one, with the facets of these names, which each table has."""
    facets = {name: [table.facet(name) for table in tables] for name in dict.fromkeys(names)}
    many = {name: any(each.is_array or each.related for each in same) for name, same in facets.items()}
    kinds = {name: _kind(same, is_many=many[name]) for name, same in facets.items()}
    selects: list[LiteralString] = []
    words: list[LiteralString] = []
    for place, table in enumerate(tables):
        own: LiteralString = "".join(
            f", {_value_of(table, same[place], kinds[name], is_many=many[name])} as c{at}"
            for at, (name, same) in enumerate(facets.items())
        )
        number: LiteralString = f"{place}"
        selects.append(
            f"select {number} as quarry_table, ({table.key_sql})::text as quarry_key{own} from {table.rows} t"
            f" where {guard_of(table)}"
        )
        words.append(
            f"t.quarry_table = {number} and t.quarry_key in"
            f" (select ({table.key_sql})::text from {table.rows} t where {table.holds_words})"
        )
    return replace(
        tables[0],
        name="records",
        facets=tuple(
            replace(same[0], kind=kinds[name], column=f"c{at}", related=None, is_many=many[name])
            for at, (name, same) in enumerate(facets.items())
        ),
        source=f"({' union all '.join(selects)})",
        key="quarry_key",
        holds_words=f"({' or '.join(words)})",
        where="true",
        guard="true",
        scope=None,
        related=(),
    )


def _kind(facets: Sequence[Facet], *, is_many: bool) -> FacetKind:
    """The kind of a facet that several tables have; where they differ, its values are texts, as several places of a row are."""
    kinds = {facet.kind for facet in facets}
    return "value" if len(kinds) > 1 or (is_many and "place" in kinds) else kinds.pop()


def _value_of(table: SearchTable, facet: Facet, kind: FacetKind, *, is_many: bool) -> LiteralString:
    """The value of a row `t`; where rows may have several, an array of them."""
    value = facet.sql
    if facet.related is not None:
        related = table.relation(facet.related)
        value = f"array(select {value} from {related.rows} r where {related.on})"
    elif is_many and not facet.is_array:
        value = f"array[{value}]"
    return f"({value})::text{'[]' if is_many else ''}" if kind in TEXT_KINDS else value
