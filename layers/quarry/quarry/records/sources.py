"""Records as sources: the built-in types, and the collections that the database declares."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from quarry.civic.collections import COLLECTIONS
from quarry.core.collections.collection import Collection
from quarry.core.collections.declaration import tables_of
from quarry.core.collections.plain_columns import Table, columns_of, tables_that_hide_rows
from quarry.core.collections.upkeep import take_a_few
from quarry.core.services import Caller, Services
from quarry.query.of_collection import Declared, sources_of
from quarry.query.schema import Source
from quarry.records.searched_types import BUILT_IN, RecordTypes
from quarry.records.types_in_force import REMEMBERED_SECONDS, types_in_force

_NAME = "record sources"


async def sources_for(caller: Caller, services: Services) -> tuple[Mapping[str, Source], Mapping[str, str]]:
    """The sources by name, and the settings that tell the database who the caller is. A few rows that were written just now are
    taken in first, as before a search. Raises DatabaseUnavailable.
    """
    types = await types_in_force(services)
    await take_a_few(services.database, [each.collection for each in types.values() if each.collection])
    made = await services.memory.read(_NAME, lambda: _made(types, services), seconds=REMEMBERED_SECONDS)
    if made.types is not types:  # these were read again meanwhile
        made = await services.memory.read(_NAME, lambda: _made(types, services), seconds=0)
    return made.sources, types.for_caller(caller.claims).settings(caller.claims)


@dataclass(frozen=True)
class _Made:
    types: RecordTypes
    sources: Mapping[str, Source]


async def _made(types: RecordTypes, services: Services) -> _Made:
    """The sources of these types. Built-in types refer to each other alone, and so do collections."""
    has_built_in = any(name in types for name in BUILT_IN)
    built_in = {(services.database.schema, each.rows): each for each in (COLLECTIONS if has_built_in else ())}
    declared = {each.collection.source: each for each in types.values() if each.collection}
    columns = await columns_of(services.reader, [*built_in, *declared])
    reached = {table for each in declared.values() if each.collection for table in _reached(each.collection)}
    hiding = await tables_that_hide_rows(services.reader, [*declared, *reached])
    own = [Declared(each, types.counted[each.name], columns[place]) for place, each in built_in.items()]
    others = [
        Declared(each.collection, each.table, columns[place], _guarded(each.collection, hiding))
        for place, each in declared.items()
        if each.collection
    ]
    return _Made(types, {**sources_of(own), **sources_of(others)})


def _reached(collection: Collection) -> set[Table]:
    """The tables that facets have values from."""
    return {table for facet in collection.declaration.facets.values() for table in tables_of(facet)}


def _guarded(collection: Collection, hiding: Set[Table]) -> frozenset[str]:
    """The facets with values that not every caller may see: rows have owners, or policies may hide them."""
    facets = collection.declaration.facets
    if collection.source in hiding:
        return frozenset(facets)
    return frozenset(name for name, facet in facets.items() if not hiding.isdisjoint(tables_of(facet)))
