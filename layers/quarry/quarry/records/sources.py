"""Records as sources: the built-in types, and the collections that the database declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import Error as PostgresError

from quarry.civic.collections import COLLECTIONS
from quarry.collections.catalog_reading import columns_of
from quarry.collections.upkeep import take_a_few
from quarry.query.of_collection import Declared, sources_of
from quarry.query.schema import Source
from quarry.records.searched_types import BUILT_IN, RecordTypes
from quarry.records.types_in_force import REMEMBERED_SECONDS, declared_types, settings_of, types_in_force
from quarry.records.unreadable import leave_out
from quarry.services.services import Caller, Services

_NAME = "record sources"


async def sources_for(caller: Caller, services: Services) -> tuple[Mapping[str, Source], Mapping[str, str]]:
    """The sources by name, and the settings that tell the database who the caller is. A few rows that were written just now are
    taken in first, as before a search. Raises DatabaseUnavailable.
    """
    types = await declared_types(services)
    await take_a_few(services.database, [each.collection for each in types.values() if each.collection])
    made = await services.memory.read(_NAME, lambda: _made(types, services), seconds=REMEMBERED_SECONDS)
    if made.types is not types:  # these were read again meanwhile
        made = await services.memory.read(_NAME, lambda: _made(types, services), seconds=0)
    return made.sources, types.settings(caller.claims)


async def left_out_for(caller: Caller, services: Services) -> frozenset[str]:
    """The sources that this caller could not read lately. Raises DatabaseUnavailable."""
    _, settings_text = await settings_of(caller, services)
    return frozenset((await types_in_force(services, settings_text)).left_out())


async def leave_out_for(name: str, fault: PostgresError, caller: Caller, services: Services) -> None:
    """Remember that a source cannot be read. Raises DatabaseUnavailable."""
    _, settings_text = await settings_of(caller, services)
    leave_out(services.memory, name, fault, settings_text)


@dataclass(frozen=True)
class _Made:
    types: RecordTypes
    sources: Mapping[str, Source]


async def _made(types: RecordTypes, services: Services) -> _Made:
    """The sources of these types. Built-in types refer to each other alone, and so do collections."""
    has_built_in = any(name in types for name in BUILT_IN)
    built_in = {(services.database.schema, each.rows): each for each in (COLLECTIONS if has_built_in else ())}
    declared = [
        (each.collection, each.table) for each in types.values() if each.collection and each.collection.has_source
    ]
    columns = await columns_of(
        services.reader, [*dict.fromkeys((*built_in, *(collection.source for collection, _ in declared)))]
    )
    own = [Declared(each, types.counted[each.name], columns[place]) for place, each in built_in.items()]
    others = [Declared(collection, table, columns[collection.source]) for collection, table in declared]
    return _Made(types, {**sources_of(own), **sources_of(others)})
