"""The SQL function that tells the values of a searched table, made from its facets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import LiteralString

from quarry.core.retrieval.facets import Facet, SearchTable

VALUE_MAX_CHARACTERS = 200
"""Longer values are no one's name for anything."""


def values_function(table: SearchTable) -> str:
    """`<table>_values`: each value of each listed facet with the row that has it, once a row; of the rows with the given keys."""
    scope = f"t.{table.scope}" if table.scope else "''"
    arms = "\n      union all\n".join(_arms(table))
    return f"""-- Written by tools/generate.py from the facets of {table.name}.
-- The values by which {table.name} are looked up, each once a row; of the rows `p_keys`, or of all where that is null.
create or replace function {table.name}_values(p_keys text[]) returns table (key text, scope text, facet text, value text)
language sql stable
as $$
  select t.{table.key}, {scope}, v.facet, v.value
  from {table.name} t cross join lateral (
    select distinct a.* from (
{arms}
    ) a (facet, value)
  ) v (facet, value)
  where (p_keys is null or t.{table.key} = any(p_keys)) and ({table.where})
    and length(v.value) <= {VALUE_MAX_CHARACTERS} and folded_words(v.value) is not null
$$;
"""


def _arms(table: SearchTable) -> Iterator[str]:
    own = [facet for facet in table.listed if facet.related is None]
    if own:
        yield _values(own, "      ")
    for related in table.related:
        facets = [facet for facet in table.listed if facet.related == related.name]
        if facets:
            yield (
                f"      select o.* from {related.table} r cross join lateral (\n{_values(facets, '        ')}\n"
                f"      ) o where {related.on}"
            )


def _values(facets: list[Facet], indent: str) -> str:
    return f"\n{indent}union all\n".join(
        f"{indent}select '{facet.name}', {value_expression(facet)}" for facet in facets
    )


def value_expression(facet: Facet) -> LiteralString:
    """A facet's single values; a set-returning expression where a row may have several."""
    if facet.kind == "place":
        return "unnest(place_parts(" + facet.sql + "))"
    if facet.kind == "title":
        return "title_runs(" + facet.sql + ")"
    return "unnest(" + facet.sql + ")" if facet.is_array else facet.sql
