"""The values that a query compares with, as the data spells them."""

from __future__ import annotations

from collections.abc import Mapping

from quarry.agent.sources import Asked
from quarry.platform.errors import FieldError, InvalidInput
from quarry.postgres.pool import Database
from quarry.query.algebra import Comparison, Query
from quarry.query.paths import Rows, resolve
from quarry.query.rewrite import with_comparisons
from quarry.query.schema import Field, Schema
from quarry.retrieval.facets import SearchTable
from quarry.retrieval.known_values import values_meant
from quarry.retrieval.named_values import NamedValue


async def with_known_values(query: Query, asked: Asked, database: Database) -> Query:
    """The query with each value of a field whose values are known as the data spells it: in another case, with other accents or
    punctuation, inflected otherwise, or by a declared synonym. Raises InvalidInput for values that no row has, which names the
    nearest ones, and DatabaseUnavailable.
    """
    named, owners = _named(query, asked.schema), asked.owners
    spelt: dict[str, list[str]] = {}
    errors: list[FieldError] = []
    for table, values in named:
        try:
            found = await values_meant(database, table, values, whole=True, owners=owners)
        except InvalidInput as error:
            errors.extend(error.errors)
        else:
            spelt |= {each.pointer: meant for each, meant in zip(values, found, strict=True)}
    if errors:
        raise InvalidInput(errors)
    return with_comparisons(query, asked.schema, lambda comparison, rows, pointer: _spelt(comparison, pointer, spelt))


def _named(query: Query, schema: Schema) -> list[tuple[SearchTable, list[NamedValue]]]:
    """The values to look up, by the table of the dictionary that has them: of most queries there is one."""
    tables: dict[str, tuple[SearchTable, list[NamedValue]]] = {}

    def collect(comparison: Comparison, rows: Rows, pointer: str) -> Comparison:
        listed = _listed(comparison, rows, schema)
        if listed is not None:
            table, facet = listed
            _, values = tables.setdefault(table.name, (table, []))
            values.extend(NamedValue((facet,), value, place) for place, value in _texts(comparison, pointer).items())
        return comparison

    with_comparisons(query, schema, collect)
    return list(tables.values())


def _listed(comparison: Comparison, rows: Rows, schema: Schema) -> tuple[SearchTable, str] | None:
    """The table and the facet of the dictionary that know the values of the field that is compared; None where none does."""
    if comparison.op not in ("=", "!="):
        return None
    try:
        path = resolve(comparison.field, rows, schema, "")
    except InvalidInput:
        return None
    return path.end.listed if isinstance(path.end, Field) and path.over is None else None


def _texts(comparison: Comparison, pointer: str) -> dict[str, str]:
    """The texts that are compared with, by the pointers to them; blank ones are left to the compiler, which refuses them."""
    places = [f"{pointer}/values/{place}" for place in range(len(comparison.values))] or [f"{pointer}/value"]
    texts = {place: str(value) for place, value in zip(places, comparison.scalars, strict=False)}
    return {place: text for place, text in texts.items() if text.strip()}


def _spelt(comparison: Comparison, pointer: str, spelt: Mapping[str, list[str]]) -> Comparison:
    """The comparison with what was found for its values. Spellings that compare alike, but for case, are one."""
    places = _texts(comparison, pointer)
    if not any(place in spelt for place in places):
        return comparison
    known = [each for place, value in places.items() for each in spelt.get(place, [value])]
    values = tuple({each.strip().casefold(): each for each in reversed(known)}.values())[::-1]
    is_one = comparison.value is not None and len(values) == 1
    return comparison.model_copy(update={"value": values[0] if is_one else None, "values": () if is_one else values})
