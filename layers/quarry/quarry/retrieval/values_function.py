"""The SQL by which the values of a searched table are known, made from its facets.

A value counts once for each row that has it; a value of rows that belong to a row, once for each of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString

from quarry.retrieval.facets import VALUE_MAX_CHARACTERS, Facet, Related, SearchTable


def values_function(table: SearchTable) -> str:
    """`<table>_values`: each value of each listed facet, whose it is, and how many rows have it."""
    return f"""-- Written by tools/generate.py from the facets of {table.name}.
-- The values by which {table.name} are looked up, and how many rows have each.
create or replace function {table.name}_values() returns table (facet text, scope text, value text, row_count int)
language sql stable
as $$
{values_query(table)}
$$;
"""


def values_query(table: SearchTable, where: str | None = None) -> str:
    """Each value of each listed facet of the rows `t` for which `where` holds, whose it is, and how many of them have it."""
    values = [changed_values(table, relations, "1", where=where) for relations in relations_of(table)]
    return counted(values) if values else "    select ''::text, ''::text, ''::text, 0 where false"


def value_expression(facet: Facet) -> LiteralString:
    """A facet's single values; a set-returning expression where a row may have several."""
    if facet.kind == "place":
        return "unnest(place_parts(" + facet.sql + "))"
    if facet.kind == "title":
        return "title_runs(" + facet.sql + ")"
    return "unnest(" + facet.sql + ")" if facet.is_array else facet.sql


def relations_of(table: SearchTable) -> list[Sequence[Related]]:
    """By what rows have listed facets: by none, of their own, and by the relations that have such; those of what belongs to a row
    together, to read it once."""
    named = {facet.related for facet in table.listed}
    relations: dict[str, list[Related]] = {}
    for related in table.related:
        if related.name in named:
            relations.setdefault(related.table if related.owner else related.name, []).append(related)
    return [*([()] if None in named else []), *relations.values()]


def changed_values(table: SearchTable, relations: Sequence[Related], change: str, *, where: str | None = None) -> str:
    """The values that rows have by these relations to one table, each with the number that it changes by."""
    scope = table.scope_sql
    rows = f"{table.source or table.name} t"
    holding: dict[str | None, str] = {None: ""}
    if relations:
        first = relations[0]
        holding = {related.name: f" where {related.on}" if related.owner else "" for related in relations}
        rows += f" join {first.source or first.table} r on {f'r.{first.owner} = t.{table.key}' if first.owner else first.on}"
    each = "\n        union all ".join(
        f"select '{facet.name}', {value_expression(facet)}{holding[facet.related]}"
        for facet in table.listed
        if facet.related in holding
    )
    searched = table.where if where is None else where
    return f"""      select {change}, v.facet, {scope}, v.value from {rows}, lateral (select distinct a.* from (
        {each}
      ) a (facet, value)) v (facet, value){f" where {searched}" if searched != "true" else ""}"""


def counted(values: Sequence[str], instead: str = "") -> str:
    """How the number of rows with each value changes by `values`; `instead` names other rows for those of a table."""
    union = "\n      union all\n".join(values)
    return f"""    {instead}select w.facet, w.scope, w.value, sum(w.change)::int from (
{union}
    ) w (change, facet, scope, value) where length(w.value) <= {VALUE_MAX_CHARACTERS}
    group by w.facet, w.scope, w.value having sum(w.change) <> 0"""
