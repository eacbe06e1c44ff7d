"""Which types of record a database has, and searching them as their caller may."""

from __future__ import annotations

import json
from copy import copy

from psycopg.sql import SQL, Identifier

from quarry.collections.upkeep import read_collections, take_a_few
from quarry.postgres.pool import Database
from quarry.records.searched_types import BUILT_IN, RecordTypes, with_collections
from quarry.records.unreadable import remembered
from quarry.services.services import Caller, Services

REMEMBERED_SECONDS = 2.0
"""So long a collection that was applied may be unknown to a process that runs."""


async def acting_for(caller: Caller, services: Services) -> tuple[RecordTypes, Services]:
    """The types, and the services with a database that knows who the caller is, for the owners' policies and ours. A few rows
    that were written just now are taken in first.

    Raises DatabaseUnavailable.
    """
    settings, acts_as = await settings_of(caller, services)
    types = (await types_in_force(services, acts_as)).for_caller(caller.claims)
    if acts_as:
        types = copy(types)
        types.acts_as = acts_as
    await take_a_few(services.database, [each.collection for each in types.values() if each.collection])
    return types, services.acting(settings)


async def settings_of(caller: Caller, services: Services) -> tuple[dict[str, str], str]:
    """The settings that tell the database who the caller is, and a text that is the same for the same ones."""
    settings = (await declared_types(services)).settings(caller.claims)
    return settings, json.dumps(settings, sort_keys=True) if settings else ""


async def types_in_force(services: Services, acts_as: str = "") -> RecordTypes:
    """The built-in types and the collections that are declared, without those that could not be read lately by who has these
    settings. Raises DatabaseUnavailable.
    """
    types = await declared_types(services)
    left_out = remembered(types, services.memory, acts_as)
    if not left_out:
        return types

    async def without() -> RecordTypes:
        return types.without(left_out)

    return await services.memory.read(f"record types but {' '.join(left_out)}", without, seconds=REMEMBERED_SECONDS)


async def declared_types(services: Services) -> RecordTypes:
    """The built-in types and all collections that are declared. Raises DatabaseUnavailable."""
    return await services.memory.read("record types", lambda: _read(services.reader), seconds=REMEMBERED_SECONDS)


async def _read(database: Database) -> RecordTypes:
    collections = [*(await read_collections(database)).values()]
    return with_collections(collections, has_built_in=not collections or await _has_built_in(database))


async def _has_built_in(database: Database) -> bool:
    """Whether there are any records of the built-in types."""
    exists = SQL(" or ").join(
        SQL("exists (select from {})").format(Identifier(each.rows)) for each in BUILT_IN.values()
    )
    row = await database.row(SQL("select {} as has_built_in").format(exists))
    return row is not None and bool(row["has_built_in"])
