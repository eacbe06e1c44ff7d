"""The types of record of a database: as a caller may search them, and as sources of a Query.

A table may be renamed, a grant revoked, or a policy may raise. Nothing is checked before a search, since one statement reads all
collections. If it fails, the work is repeated with fewer collections to find those that cause it. They are left out for a while,
so that the next requests do not fail, and are then tried again.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TypeVar

from psycopg import Error as PostgresError
from psycopg.sql import SQL, Identifier

from quarry.civic.tables import COLLECTIONS
from quarry.collections.catalog_reading import columns_of
from quarry.collections.upkeep import read_collections, take_a_few
from quarry.platform.errors import InvalidInput, QuarryError, SourceUnavailable
from quarry.postgres.failures import lasting_fault, lasting_fault_of
from quarry.postgres.pool import Database
from quarry.query.of_collection import Declared, sources_of
from quarry.query.schema import Source
from quarry.records.contract import RecordType
from quarry.records.searched_types import BUILT_IN, RecordTypes, with_collections
from quarry.services.memory import Memory
from quarry.services.services import Caller, Services

REMEMBERED_SECONDS = 2.0
"""A running process learns of a newly applied collection after this time: so often it asks which version of the declarations is
in force. What is made of them is kept while the version is the same.
"""
_VERSION = """
select md5(concat_ws(' ',
  (select string_agg(concat_ws(' ', c.id, c.applied_at, c.languages, c.functions_hash, md5(c.document_keys::text),
     c.source::regclass, may_hide_rows(c.source)), ' ' order by c.id) from collections c),
  (select string_agg(concat_ws(' ', r.oid, n.nspname, r.relname, r.relacl, r.relrowsecurity), ' ' order by r.oid)
   from pg_class r join pg_namespace n on n.oid = r.relnamespace where r.oid in (select source from collections)),
  (select string_agg(concat_ws(' ', a.attrelid, a.attnum, a.attname, a.atttypid, a.attacl), ' ' order by a.attrelid, a.attnum)
   from pg_attribute a where a.attnum > 0 and a.attrelid in (select source from collections)),
  {})) as version
"""
"""What the types and sources are made of, in short: the declarations, the tables' names, columns and rights, and whether there
are records of the built-in types.
"""


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
    """The settings that tell the database who the caller is, also as one text."""
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
    return (await _declared(services)).types


@dataclass(frozen=True)
class _Declared:
    """The declarations of the database, as types of record and as sources of a Query."""

    types: RecordTypes
    sources: Mapping[str, Source]


async def _declared(services: Services) -> _Declared:
    database, memory = services.reader, services.memory
    version = await memory.read("records version", lambda: _version(database), seconds=REMEMBERED_SECONDS)
    return await memory.read(f"records {version}", lambda: _read(database), seconds=math.inf)


async def _version(database: Database) -> str:
    row = await database.row(SQL(_VERSION).format(_HAS_BUILT_IN))
    assert row is not None
    return str(row["version"])


async def _read(database: Database) -> _Declared:
    collections = [*(await read_collections(database)).values()]
    types = with_collections(collections, has_built_in=not collections or await _has_built_in(database))
    return _Declared(types, await _sources(types, database))


async def _sources(types: RecordTypes, database: Database) -> Mapping[str, Source]:
    """The types as sources. Built-in types refer to each other alone, and so do collections."""
    has_built_in = any(name in types for name in BUILT_IN)
    built_in = {(database.schema, each.rows): each for each in (COLLECTIONS if has_built_in else ())}
    declared = [
        (each.collection, each.table) for each in types.values() if each.collection and each.collection.has_source
    ]
    places = dict.fromkeys((*built_in, *(collection.source for collection, _ in declared)))
    columns = await columns_of(database, [*places])
    own = [Declared(each, types.counted[each.name], columns[place]) for place, each in built_in.items()]
    others = [Declared(collection, table, columns[collection.source]) for collection, table in declared]
    return {**sources_of(own), **sources_of(others)}


_HAS_BUILT_IN = SQL("({})").format(
    SQL(" or ").join(SQL("exists (select from {})").format(Identifier(each.rows)) for each in BUILT_IN.values())
)


async def _has_built_in(database: Database) -> bool:
    """Whether there are any records of the built-in types."""
    row = await database.row(SQL("select {} as has_built_in").format(_HAS_BUILT_IN))
    return row is not None and bool(row["has_built_in"])


LEFT_OUT_SECONDS = 15.0
LOGGED_SECONDS = 600.0
"""Least time between two warnings about the same collection."""
_OF_DEFINITION = "42"
"""The class of errors that every caller gets: names, types, rights. Others may depend on who asks."""
T = TypeVar("T")
Fault = tuple[RecordType, PostgresError]
logger = logging.getLogger(__name__)


async def skipping_broken_collections(
    types: RecordTypes, memory: Memory, work: Callable[[RecordTypes], Awaitable[T]]
) -> T:
    """The result of `work` on these types, without the collections that cannot be read.

    Raises SourceUnavailable where the work asks for these alone, and else as `work` does.
    """
    try:
        return await _over(types, work)
    except (PostgresError, QuarryError) as error:
        if lasting_fault(error) is None:
            raise
    found = await _find(_collections(types), [], types, work)
    for name, fault in found:
        leave_out(memory, name, fault, types.acts_as)
    return await _over(types.without([name for name, _ in found]), work)


def remembered(types: RecordTypes, memory: Memory, acts_as: str) -> list[RecordType]:
    """The collections that could not be read lately, by a caller of these settings, and those whose table is gone or renamed."""
    left_out = [
        name
        for name in _collections(types)
        if any(memory.holds(key, seconds=LEFT_OUT_SECONDS) for key in (_key(name), _key(name, acts_as)))
    ]
    gone = [each.name for each in types.values() if each.collection and not each.collection.has_source]
    for name in gone:
        _log(memory, name, "its table is gone or renamed")
    return list(dict.fromkeys((*left_out, *gone)))


def _collections(types: RecordTypes) -> list[RecordType]:
    return [each.name for each in types.values() if each.collection]


async def _over(types: RecordTypes, work: Callable[[RecordTypes], Awaitable[T]]) -> T:
    try:
        return await work(types)
    except InvalidInput as error:
        if left_out := types.left_out():
            # the request was valid for all types, so the ones left out have what it names
            raise SourceUnavailable(left_out) from error
        raise


async def _find(
    suspects: Sequence[RecordType],
    sound: Sequence[RecordType],
    types: RecordTypes,
    work: Callable[[RecordTypes], Awaitable[object]],
) -> list[Fault]:
    """The suspects that make the work fail, found by halving. `sound` are collections that do not."""
    fault = await _fault(types.without({*_collections(types)} - {*sound, *suspects}), work)
    if fault is None:
        return []
    if len(suspects) <= 1:
        return [(name, fault) for name in suspects]
    half = len(suspects) // 2
    first = await _find(suspects[:half], sound, types, work)
    failing = {name for name, _ in first}
    sound = [*sound, *(name for name in suspects[:half] if name not in failing)]
    return [*first, *await _find(suspects[half:], sound, types, work)]


async def _fault(types: RecordTypes, work: Callable[[RecordTypes], Awaitable[object]]) -> PostgresError | None:
    # work on other types alone is refused
    return await lasting_fault_of(work(types), no_fault=(InvalidInput, SourceUnavailable))


def leave_out(memory: Memory, name: RecordType, fault: PostgresError, acts_as: str) -> None:
    """Leave a collection out for a while: for everybody, or for callers of these settings where the fault may be theirs alone."""
    is_everybodys = (fault.sqlstate or "").startswith(_OF_DEFINITION)
    memory.keep(_key(name, "" if is_everybodys else acts_as), True)
    _log(memory, name, type(fault).__name__)


def _log(memory: Memory, name: RecordType, reason: str) -> None:
    """Log the collection and the kind of fault, not its message, which may hold values."""
    key = f"logged {name}: {reason}"
    if not memory.holds(key, seconds=LOGGED_SECONDS):
        memory.keep(key, True)
        logger.warning("collection %s is left out: %s; `quarry doctor` says what to mend", name, reason)


def _key(name: RecordType, acts_as: str = "") -> str:
    return f"unreadable {name} {acts_as}"


async def sources_for(caller: Caller, services: Services) -> tuple[Mapping[str, Source], Mapping[str, str]]:
    """The sources by name, and the settings that tell the database who the caller is. A few rows that were written just now are
    taken in first, as before a search. Raises DatabaseUnavailable.
    """
    declared = await _declared(services)
    await take_a_few(services.database, [each.collection for each in declared.types.values() if each.collection])
    return declared.sources, declared.types.settings(caller.claims)


async def left_out_for(caller: Caller, services: Services) -> frozenset[str]:
    """The sources that this caller could not read lately. Raises DatabaseUnavailable."""
    _, settings_text = await settings_of(caller, services)
    return frozenset((await types_in_force(services, settings_text)).left_out())


async def leave_out_for(name: str, fault: PostgresError, caller: Caller, services: Services) -> None:
    """Remember that a source cannot be read. Raises DatabaseUnavailable."""
    _, settings_text = await settings_of(caller, services)
    leave_out(services.memory, name, fault, settings_text)
