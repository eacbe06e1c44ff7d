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
from collections.abc import Collection as Names
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, LiteralString, NamedTuple, TypeVar

from psycopg import Error as PostgresError
from psycopg.sql import SQL, Composable, Composed, Identifier

from quarry.agent.service import Filter
from quarry.collections.apply import read_collections
from quarry.collections.catalog_reading import columns_of
from quarry.collections.collection import Collection
from quarry.collections.declaration_parts import Quoting
from quarry.collections.facets import facet_source, hides_rows, row_nouns
from quarry.collections.names import nearest
from quarry.collections.relations import literal
from quarry.collections.upkeep import take_a_few
from quarry.collections.uses import LINE_BREAK, joined_texts
from quarry.domains import module
from quarry.platform.errors import FieldError, InvalidInput, QuarryError, SourceUnavailable
from quarry.postgres.connections import lasting_fault, lasting_fault_of
from quarry.postgres.pool import Database
from quarry.query.filters import Filtered
from quarry.query.of_collection import Declared, sources_of
from quarry.records.contract import RecordType
from quarry.records.tables import COLLECTIONS
from quarry.retrieval.values import Owners
from quarry.schema.algebra import Condition
from quarry.schema.source import Field, Source, union_of
from quarry.services.services import Caller, Services
from quarry.services.tenants import Memory

SEARCHED: Mapping[str, Source] = dict(
    zip((each.name for each in COLLECTIONS), module("records", "facets").SEARCHED, strict=True)
)
"""The tables of the built-in types, and those that these lead to, as sources of their facets."""


@dataclass(frozen=True)
class SearchedType:
    """A type of record as it is searched. `table` has its facets, `rows` is the table of ours with its words, `windows` the one
    with its vectors. `description` describes its content, `label` names several of its records.

    The others are SQL about the record whose key is `k.id`. `text` selects what a reader sees: type, id, title, body, topic,
    author, date, meeting_id, url. `own_text` selects its own text: type, id, own_text. `whole` selects the whole record:
    fields, title, date, url, and as `meeting` what it is part of. `authors` are the facets that name the author of a record's
    text.
    """

    name: RecordType
    table: Source
    rows: str
    windows: str
    label: str
    description: str
    text: LiteralString
    own_text: LiteralString
    whole: LiteralString
    titles: LiteralString
    """The words of the title of a row `t` of `rows`, which are indexed."""
    quoting: Quoting = field(default=Quoting(), compare=False, hash=False)
    authors: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    """The fields that are read as texts."""
    has_source: LiteralString | None = None
    """For a type whose words are in another table than its rows: that a row `t` of words belongs to a row which the caller may
    see and which meets a condition, as a template with a place for the condition."""
    is_always_filtered: bool = False
    """Whether a caller may not see all of its rows."""
    only: Filter | None = field(default=None, hash=False)
    """The rows of its source that are searched; None for all that the caller may see."""
    collection: Collection | None = field(default=None, compare=False, hash=False)
    """Its declaration, for a collection of the database."""
    languages: Sequence[str | None] = (None,)
    """The text search configurations of its rows; None stands for that of our own tables, English."""
    row_language: LiteralString = "null"
    """The configuration of the record whose key is `k.id`."""
    scope_setting: str | None = None
    scope_claim: str = "sub"
    """The setting that tells the database who the caller is, and the verified claim that it is taken from."""

    @cached_property
    def visible(self) -> str | None:
        """The condition, as SQL, of the rows `t` of `rows` that the caller may see; None for all."""
        condition = replace(self, only=None).condition(())
        return None if condition is None else condition.as_string(None)

    @property
    def facets(self) -> Sequence[Field]:
        """The facets that clients can filter by."""
        return [*self.table.facets.values()]

    @property
    def has_meaning(self) -> bool:
        """Whether its records have vectors."""
        return self.collection is None or self.collection.declaration.has_meaning

    @property
    def is_searched(self) -> bool:
        """Whether its records are found by words. Others are only counted."""
        return self.collection is None or self.collection.declaration.is_searched

    @property
    def tells_language(self) -> bool:
        """Whether each row names its own language."""
        return self.collection is not None and self.collection.declaration.language_column is not None

    def narrowed(self, only: Filter | None) -> SearchedType:
        """The type with only the rows that pass a filter of its source. How words are weighed stays."""
        return replace(self, only=only)

    def condition(self, conditions: Sequence[Condition]) -> Composable | None:
        """What these conditions ask of a row `t` of `rows`, with its values in it; None where it may be any."""
        if not (conditions or self.only or self.is_always_filtered):
            return None
        met = self._met(conditions)
        return SQL(self.has_source).format(met) if self.has_source else met

    def fitting(self, conditions: Sequence[Condition]) -> Filter | str | None:
        """The rows that meet these conditions, or a statement that selects their `keys`, null where they are many; None where
        nothing is asked, or the language of each row is.
        """
        if not (conditions or self.only) or self.tells_language or not self.is_searched:
            return None
        return self._filtered(conditions).keys_selected().as_string(None) if conditions else self.only

    def _met(self, conditions: Sequence[Condition]) -> Composed:
        """The condition on a row `t` of the source."""
        return self._filtered(conditions).where()

    def _filtered(self, conditions: Sequence[Condition]) -> Filtered:
        if self.only is None:
            return Filtered(self.table, conditions)
        # made by `RowConditions`, which quotes every name and value
        guard, only = self.table.guard, self.only.condition
        return Filtered(replace(self.table, guard=lambda row: f"({only}) and ({guard(row)})"), conditions)


class RecordTypes(dict[RecordType, SearchedType]):
    """Types of record in their order, by name. `owners` says of each table with owners whose values the caller may know.
    `whole` are the types with those that are left out because they cannot be read. `acts_as` is what the database's policies
    know of the caller.
    """

    def __init__(self, types: Sequence[SearchedType]) -> None:
        super().__init__((each.name, each) for each in types)
        self.owners: Owners = {}
        self.whole = self
        self.acts_as = ""

    def for_caller(self, claims: Mapping[str, str]) -> RecordTypes:
        """The same types for a caller with these verified claims."""
        settings = self.whole.settings(claims)
        if not settings:
            return self
        own = copy(self)
        own.acts_as = json.dumps(settings, sort_keys=True)
        own.owners = {
            each.table.name: settings[each.scope_setting] or None for each in self.values() if each.scope_setting
        }
        return own

    def settings(self, claims: Mapping[str, str]) -> dict[str, str]:
        """The settings that tell the database who has these verified claims, and in which time zone days are; empty where no type
        needs any.
        """
        declared = (each.collection.declaration.calendar for each in self.values() if each.collection)
        zone = next((calendar.settings for calendar in declared if calendar is not None), {})
        owners = {each.scope_setting: claims.get(each.scope_claim, "") for each in self.values() if each.scope_setting}
        return {**owners, **zone}

    def without(self, names: Names[str]) -> RecordTypes:
        """These types without some collections, and without what others count of them."""
        remaining = [each.collection for each in self.values() if each.collection and each.name not in names]
        built_in = [each for each in self.values() if each.collection is None]
        own = RecordTypes([*built_in, *(searched_type(each, remaining) for each in remaining)])
        own.owners, own.acts_as, own.whole = self.owners, self.acts_as, self.whole
        return own

    def left_out(self, names: Sequence[RecordType] = ()) -> list[RecordType]:
        """The collections of these names, or of all, that are left out because they cannot be read."""
        return [name for name in self.whole if name not in self and (not names or name in names)]

    def degraded(self, names: Sequence[RecordType] = ()) -> list[str]:
        """The names of the collections left out, as an answer lists them."""
        return [f"collection:{name}" for name in self.left_out(names)]

    def by_names(self, names: Sequence[RecordType], *, at: str = "/type") -> tuple[SearchedType, ...]:
        """The types of these names, each once and in their own order; all where none is named.

        Raises InvalidInput for a name that there is not, where `at` is the pointer to the list of them, and SourceUnavailable
        where none of them can be read.
        """
        existing = ", ".join(self.whole)
        unknown = [
            FieldError(f"{at}/{place}", f"there is no type {name!r}{nearest(name, self.whole)}: {existing}")
            for place, name in enumerate(names)
            if name not in self.whole
        ]
        if unknown:
            raise InvalidInput(unknown)
        types = tuple(each for each in self.values() if not names or each.name in names)
        if not types and (left_out := self.left_out(names)):
            raise SourceUnavailable(left_out)
        return types

    @cached_property
    def union(self) -> Source:
        """The rows of all types that are searched as one source, for questions that name none of them."""
        return union_of([each.table for each in self.values() if each.is_searched])


def searched_type(
    collection: Collection, others: Sequence[Collection] = (), source: Source | None = None
) -> SearchedType:
    """A collection as a type of record; `others` are declared too. `source` is its source, where that is made already."""
    declared, own = collection.declaration, source or facet_source(collection)
    nouns_of_others = {row_nouns(each)[0] for each in others if each is not collection}
    table = replace(
        own,
        # of "order items" and "items", the latter are called items
        nouns=tuple(noun for noun in own.nouns if noun == own.nouns[0] or noun not in nouns_of_others),
    )
    day = collection.day(declared.date) if declared.date else "null::date"
    parent_id, parent = collection.parent()
    columns = (*declared.headings, *declared.embedded) if collection.has_own_words else declared.text
    texts = joined_texts(LINE_BREAK, [collection.title(), *(collection.text(name, "t") for name in columns)])
    visible_row = f"from {collection.source_sql} t where {collection.has_key('k.id', 't')} and {table.guard('t')}"
    return SearchedType(
        collection.name,
        table,
        collection.rows,
        collection.windows,
        collection.label.capitalize(),
        declared.describe or collection.name.replace("_", " "),
        text=f"""select {literal(collection.name)} as type, k.id, {collection.title()} as title, {collection.body()} as body,
            {collection.topic()} as topic, {collection.author()} as author, {day} as date, {parent_id} as meeting_id,
            {collection.url()} as url {visible_row}""",
        own_text=f"select k.type, k.id, {texts} as own_text {visible_row}",
        whole=f"""select {collection.fields()} as fields, {collection.title()} as title, {day} as date,
            {collection.url()} as url, {parent} as meeting {visible_row}""",
        titles=collection.title_words,
        quoting=declared.quoting,
        texts=tuple(declared.texts),
        authors=tuple(
            name for name, each in declared.facets.items() if declared.author in (each.column or name, each.by)
        ),
        **({} if collection.has_own_words else _beside(collection)),
    )


def _beside(collection: Collection) -> dict[str, Any]:
    """The parts of a type whose words are in another table than its rows."""
    declared = collection.declaration
    source = (
        f"exists (select from (select t.id as quarry_key) o cross join lateral (select from {collection.source_sql} t"
        f" where {collection.has_key('o.quarry_key', 't')} and {{}}) s)"
    )
    is_scoped = declared.scope_setting is not None
    return {
        # rows of other owners are passed over before their source is read
        "has_source": f"{collection.is_callers('t.scope')} and {source}" if is_scoped else source,
        "is_always_filtered": hides_rows(collection),
        "collection": collection,
        "languages": collection.languages,
        "row_language": f"(select w.language from {collection.rows} w where w.id = k.id)"
        if declared.language_column
        else collection.language(),
        "scope_setting": declared.scope_setting,
        "scope_claim": declared.scope_claim,
    }


BUILT_IN = RecordTypes(
    [searched_type(each, source=SEARCHED[each.name]) for each in COLLECTIONS if each.declaration.text]
)
"""The types that every database has tables for."""


def with_collections(collections: Sequence[Collection], *, has_built_in: bool) -> RecordTypes:
    """The types in force with these collections: the built-in ones too, if they have records or nothing else is declared."""
    declared = [searched_type(each, collections) for each in collections]
    if has_built_in or not collections:
        return RecordTypes([*BUILT_IN.values(), *declared])
    return RecordTypes(declared)


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
    types = await types_for(caller, services)
    await take_a_few(
        services.database, [each.collection for each in types.values() if each.collection], services.rows_max
    )
    return types, services.acting(types.whole.settings(caller.claims))


async def types_for(caller: Caller, services: Services) -> RecordTypes:
    """The types for a caller, without those that the caller could not read lately. Raises DatabaseUnavailable."""
    acts_as = (await declared_types(services)).for_caller(caller.claims).acts_as
    return (await types_in_force(services, acts_as)).for_caller(caller.claims)


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


class _Declared(NamedTuple):
    """The declarations of the database, as types of record and as sources of a Query."""

    types: RecordTypes
    sources: Mapping[str, Source]


async def _declared(services: Services) -> _Declared:
    database, memory = services.reader, services.memory
    version = await memory.read("records version", lambda: _version(database), seconds=REMEMBERED_SECONDS)
    return await memory.read(f"records {version}", lambda: _read_declared(database), seconds=math.inf)


async def _version(database: Database) -> str:
    row = await database.row(SQL(_VERSION).format(_HAS_BUILT_IN))
    assert row is not None
    return str(row["version"])


async def _read_declared(database: Database) -> _Declared:
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
    own = [Declared(each, SEARCHED[each.name], columns[place]) for place, each in built_in.items()]
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
    faults = await _find(_collections(types), [], types, work)
    for name, fault in faults:
        leave_out(memory, name, fault, types.acts_as)
    return await _over(types.without([name for name, _ in faults]), work)


def remembered(types: RecordTypes, memory: Memory, acts_as: str) -> list[RecordType]:
    """The collections that could not be read lately, by a caller of these settings, and those whose table is gone or renamed."""
    left_out = [
        name
        for name in _collections(types)
        if any(memory.holds(key, seconds=LEFT_OUT_SECONDS) for key in (_key(name), _key(name, acts_as)))
    ]
    without_table = [each.name for each in types.values() if each.collection and not each.collection.has_source]
    for name in without_table:
        _log(memory, name, "its table is gone or renamed")
    return list(dict.fromkeys((*left_out, *without_table)))


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
    await take_a_few(
        services.database,
        [each.collection for each in declared.types.values() if each.collection],
        services.rows_max,
    )
    return declared.sources, declared.types.settings(caller.claims)


async def left_out_for(caller: Caller, services: Services) -> frozenset[str]:
    """The sources that this caller could not read lately. Raises DatabaseUnavailable."""
    return frozenset((await types_for(caller, services)).left_out())


async def leave_out_for(name: str, fault: PostgresError, caller: Caller, services: Services) -> None:
    """Remember that a source cannot be read. Raises DatabaseUnavailable."""
    types = (await declared_types(services)).for_caller(caller.claims)
    leave_out(services.memory, name, fault, types.acts_as)
