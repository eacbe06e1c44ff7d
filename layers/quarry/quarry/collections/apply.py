"""Makes the database match `quarry.toml`: lists the changes, then makes them.

Each collection changes in one transaction, completely or not at all. Its contents are filled afterwards, from a queue
(`refresh`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, LiteralString, NamedTuple

import psycopg
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Json

from quarry.collections.collection import Collection, make_collection, with_owners
from quarry.collections.declaration import CollectionDeclaration, without_retired
from quarry.collections.declaration_parts import FacetDeclaration, LinkDeclaration, Parent, Referred
from quarry.collections.names import quoted_table, table_name
from quarry.collections.relations import Relation
from quarry.collections.upkeep import drop_functions, drop_triggers, functions, rights, triggers, windows_apart
from quarry.collections.uses import (
    UsedColumn,
    declared_source,
    joined_by,
    key_of,
    linked_by,
    referred_key,
    used_columns,
)
from quarry.platform.settings import DEFAULT_SCHEMA
from quarry.platform.tables import COLLECTION_WINDOWS
from quarry.postgres.connections import fault_of_source
from quarry.postgres.pool import Database
from quarry.postgres.schema import SyncConnection, value

LOCK_SECONDS = 10
"""How long a change waits for other users of a table: creating a trigger needs the table to itself."""

_ADVISORY_LOCK = 7305115

Action = Literal["create", "change", "drop", "keep"]


@dataclass(frozen=True)
class Change:
    """What happens to one collection, and why. `relation` is its source; None where it is dropped."""

    action: Action
    name: str
    reasons: tuple[str, ...] = ()
    declaration: CollectionDeclaration | None = None
    relation: Relation | None = None
    columns: Mapping[str, UsedColumn] = field(default_factory=dict)
    stored: Collection | None = None
    must_refill: bool = False

    def __str__(self) -> str:
        source = f" ({self.declaration.source})" if self.declaration else ""
        return f"{self.action} {self.name}{source}" + (f": {'; '.join(self.reasons)}" if self.reasons else "")


def plan_changes(
    declared: Mapping[str, CollectionDeclaration],
    stored: Mapping[str, Collection],
    relations: Mapping[tuple[str, str], Relation],
) -> list[Change]:
    """The changes from what is stored to what is declared, drops first. `relations` holds every table that is declared."""
    changes = [Change("drop", name, stored=stored[name]) for name in stored if name not in declared]
    for name, declared_now in declared.items():
        relation = relations[declared_source(declared_now)]
        declaration = resolve(declared_now, relation, relations)
        columns = used_columns(declaration, relation, relations)
        new = Change("create", name, (), declaration, relation, columns, must_refill=True)
        old = stored.get(name)
        if old is None:
            changes.append(new)
        elif reason := _why_recreated(old, declaration, relation):
            changes += [Change("drop", name, (reason,), stored=old), new]
        else:
            changes.append(_changed(name, declaration, relation, columns, old))
    return changes


def _why_recreated(old: Collection, declaration: CollectionDeclaration, relation: Relation) -> str | None:
    if not all(old.source):
        return "its table was dropped, and there is another of this name"
    if old.key != key_of(declaration, relation) or old.source != relation.qualified:
        return "its source or its key has changed"
    if old.declaration.is_searched != declaration.is_searched:
        return "its rows are searched now" if declaration.is_searched else "its rows are no longer searched"
    return None


def _changed(
    name: str,
    declaration: CollectionDeclaration,
    relation: Relation,
    columns: Mapping[str, UsedColumn],
    old: Collection,
) -> Change:
    before, after = old.declaration.model_dump(), declaration.model_dump()
    fields = [field for field in after if field != "facets" and before[field] != after[field]]
    reasons = [f"{each} is {_worded(after[each])} instead of {_worded(before[each])}" for each in fields]
    reasons += _facets_changed(before["facets"], after["facets"])
    other = [column for column, used in columns.items() if old.columns.get(column, used) != used]
    reasons += [f"the column {column} has changed" for column in other]
    new = make_collection(old.id, name, declaration, relation, columns)
    is_earlier = not reasons and old.functions_hash not in (None, hash_of_functions(new))
    if is_earlier:
        reasons.append("an earlier version made its functions")
    sources = {(each.row_hash, each.content_hash, each.source_sql, each.declaration.has_meaning) for each in (new, old)}
    must_refill = is_earlier or len(sources) > 1
    action: Action = "change" if reasons else "keep"
    return Change(action, name, tuple(reasons), declaration, relation, columns, old, must_refill)


def _facets_changed(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[str]:
    for change, names in (
        ("new", [name for name in after if name not in before]),
        ("other", [name for name in after if name in before and before[name] != after[name]]),
        ("no more", [name for name in before if name not in after]),
    ):
        if names:
            yield f"{change} facets: {', '.join(names)}"


def resolve(
    declaration: CollectionDeclaration, relation: Relation, relations: Mapping[tuple[str, str], Relation]
) -> CollectionDeclaration:
    """The declaration with the keys that it leaves to the tables: its own and those of the tables that it refers to."""
    tables = _Tables(relation, relations)
    parent = declaration.part_of
    return declaration.model_copy(
        update={
            "key": key_of(declaration, relation),
            "facets": {name: tables.facet(facet) for name, facet in declaration.facets.items()},
            "links": {name: tables.link(link) for name, link in declaration.links.items()},
            "kept_with": {
                by: condition.model_copy(
                    update={"key": condition.key or referred_key(relation, by, relations[table_name(condition.of)])}
                )
                for by, condition in declaration.kept_with.items()
            },
            "topic": tuple(tables.title(each, relation) for each in declaration.topic),
            "part_of": parent and parent.model_copy(update={"key": tables.referred_key(parent, relation)}),
        }
    )


class _Tables(NamedTuple):
    """Fills in keys of a declaration from its own table, `relation`, and from `relations`, the tables that it names."""

    relation: Relation
    relations: Mapping[tuple[str, str], Relation]

    def referred_key(self, each: Referred | Parent | FacetDeclaration, source: Relation) -> str | None:
        return each.key or referred_key(source, each.by or "", self.relations[table_name(each.of or "")])

    def facet(self, facet: FacetDeclaration) -> FacetDeclaration:
        if facet.through is not None:
            return self._joined(facet)
        if facet.of is None:
            return facet
        title = facet.title and self.title(facet.title, self.relations[table_name(facet.of)])
        return facet.model_copy(update={"key": self.referred_key(facet, self.relation), "title": title})

    def _joined(self, facet: FacetDeclaration) -> FacetDeclaration:
        joins, other = self.relations[table_name(facet.through or "")], self.relations[table_name(facet.of or "")]
        by, to = joined_by(facet, self.relation, joins, other)
        keys = {
            "by": by and by.columns[0],
            "to": to and to.columns[0],
            "key": facet.key or (to and to.target_columns[0]),
        }
        return facet.model_copy(update=keys)

    def title(self, each: str | Referred, source: Relation) -> str | Referred:
        if isinstance(each, str):
            return each
        title = self.title(each.title, self.relations[table_name(each.of)])
        return each.model_copy(update={"key": self.referred_key(each, source), "title": title})

    def link(self, link: LinkDeclaration) -> LinkDeclaration:
        reference = linked_by(link, self.relation)
        if reference is not None:
            return link.model_copy(update={"of": quoted_table(*reference.target), "key": reference.target_columns})
        return link.model_copy(update={"key": self.relations[table_name(link.of or "")].primary_key})


def stored_collections(connection: SyncConnection) -> dict[str, Collection]:
    """The collections in the database, by name. Where the source was dropped, its name is empty."""
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(STORED).fetchall()
    return {row["name"]: collection_of(row) for row in rows}


async def read_collections(database: Database) -> dict[str, Collection]:
    """The collections in the database as callers read them, by name."""
    return with_owners({row["name"]: collection_of(row) for row in await database.rows(STORED)})


STORED = """
select c.id, c.name, c.declaration, c.columns, c.document_keys, coalesce(n.nspname, '') as schema,
  coalesce(r.relname, '') as relation,
  coalesce(may_hide_rows(r.oid), false) as has_row_security, c.languages, c.functions_hash,
  array(
    select distinct n.named from (
      select jsonb_path_query(c.declaration::jsonb, '$.facets.**.of')
      union all select jsonb_path_query(c.declaration::jsonb, '$.facets.**.through')
      union all select jsonb_path_query(c.declaration::jsonb, '$.related.*.of')
    ) j (name), lateral (select j.name #>> '{}' as named) n
    where jsonb_typeof(j.name) = 'string'
      and may_hide_rows(to_regclass(case cardinality(parse_ident(n.named)) when 1 then 'public.' else '' end || n.named))
  ) as guarded_tables,
  array(
    select a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
    where i.indrelid = c.source and i.indpred is null
  ) as indexed_columns,
  array(
    select r.name from jsonb_each(c.declaration::jsonb -> 'related') r (name, rows), lateral (select r.rows ->> 'of' as named) n
    where exists (
      select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
      where a.attname = r.rows ->> 'by' and i.indpred is null
        and i.indrelid = to_regclass(case cardinality(parse_ident(n.named)) when 1 then 'public.' else '' end || n.named))
  ) as indexed_relations
from collections c left join pg_class r on r.oid = c.source left join pg_namespace n on n.oid = r.relnamespace order by c.id
"""
"""The rows that `collection_of` reads."""


def collection_of(row: Mapping[str, Any]) -> Collection:
    """The collection in a row of `STORED`."""
    declaration = CollectionDeclaration.model_validate(without_retired(row["declaration"]))
    columns, keys = (
        {name: UsedColumn.stored(column) for name, column in row[part].items()} for part in ("columns", "document_keys")
    )
    source = (row["schema"], row["relation"])
    return Collection(
        row["id"], row["name"], declaration, source, columns, declaration.key, row["has_row_security"],
        tuple(row["languages"]), row["functions_hash"], frozenset(row["guarded_tables"]), keys,
        frozenset(row["indexed_columns"]), frozenset(row["indexed_relations"]),
    )  # fmt: skip


def take_turn(connection: SyncConnection, on_wait: Callable[[], None]) -> None:
    """Wait until no one else plans or makes changes, and keep others out until the connection is closed."""
    row = connection.execute("select pg_try_advisory_lock(%s)", [_ADVISORY_LOCK]).fetchone()
    if row is not None and not row[0]:
        on_wait()
        connection.execute("select pg_advisory_lock(%s)", [_ADVISORY_LOCK])


def check_rows(connection: SyncConnection, rows_max: int) -> None:
    """Refuse what this transaction has added if there are now more rows than `rows_max`; 0: any number. Rows of collections
    that are yet to be read count too. Raises Forbidden.
    """
    if rows_max:
        # first, so that what another load has added is there to be counted
        connection.execute("select pg_advisory_xact_lock(hashtextextended('rows ' || current_schema(), 0))")
        more = sum(_unread(connection, each) for each in stored_collections(connection).values())
        connection.execute("select check_rows(%s, %s)", [rows_max, more])


def _unread(connection: SyncConnection, collection: Collection) -> int:
    """How many more rows the source has than were read; 0 if it cannot be read."""
    if not collection.declaration.is_searched or not all(collection.source):
        return 0
    try:
        with connection.transaction():
            statement: LiteralString = (
                f"select (select count(*) from {collection.source_sql} x) - (select count(*) from {collection.rows})"
            )
            return int(value(connection, statement))
    except psycopg.errors.Error as error:
        if fault_of_source(error) is None:
            raise
        return 0


def apply_change(connection: SyncConnection, change: Change, schema: str) -> None:
    """Change one collection, in one transaction."""
    with connection.transaction():
        connection.execute(SQL("set local lock_timeout = {}").format(LOCK_SECONDS * 1000))
        if change.action == "drop" and change.stored:
            drop_collection(connection, change.stored)
        elif change.action == "keep" and change.stored:
            _restore_triggers(connection, change.stored)
        elif change.declaration and change.relation:
            collection = _store(connection, change.name, change.declaration, change.relation, change.columns)
            connection.execute(
                "update collections set functions_hash = %s where id = %s",
                [hash_of_functions(collection), collection.id],
            )
            for statement in _statements(collection, schema, is_new=change.action == "create"):
                connection.execute(statement)
            if change.must_refill and collection.declaration.is_searched:
                _ask_to_compare(connection, collection)
        if change.relation and change.action != "drop":
            _note_keys(connection, change, change.relation)


def _note_keys(connection: SyncConnection, change: Change, relation: Relation) -> None:
    """Store the keys that JSON columns were seen to hold, and those that predicates name."""
    predicate_paths = change.declaration.paths_of_predicates if change.declaration else ()
    keys = dict.fromkeys((*(each.name for each in relation.documents), *predicate_paths))
    stored = {name: UsedColumn.at(relation, name).to_store() for name in keys}
    connection.execute("update collections set document_keys = %s where name = %s", [Json(stored), change.name])


def _restore_triggers(connection: SyncConnection, collection: Collection) -> None:
    """Create the triggers again where one is missing or disabled, and queue a comparison that finds what they missed."""
    statements = list(triggers(collection))
    row = connection.execute(
        "select count(*) from pg_trigger where tgfoid = to_regproc(%s) and tgenabled in ('O', 'A')",
        [f"note_changes_{collection.id}"],
    ).fetchone()
    if collection.has_triggers and row is not None and row[0] < len(statements):
        for statement in statements:
            connection.execute(statement)
        _ask_to_compare(connection, collection)


def _ask_to_compare(connection: SyncConnection, collection: Collection) -> None:
    connection.execute("insert into collection_changes (collection, key) values (%s, null)", [collection.id])


def _store(
    connection: SyncConnection,
    name: str,
    declaration: CollectionDeclaration,
    relation: Relation,
    columns: Mapping[str, UsedColumn],
) -> Collection:
    stored = {column: used.to_store() for column, used in columns.items()}
    row = connection.execute(
        "insert into collections as c (name, source, declaration, columns) values (%s, %s::oid, %s, %s)"
        " on conflict (name) do update set declaration = excluded.declaration, columns = excluded.columns,"
        " applied_at = excluded.applied_at, problem = null returning c.id",
        [name, relation.oid, Json(declaration.model_dump(mode="json", exclude_defaults=True)), Json(stored)],
    ).fetchone()
    assert row is not None
    return make_collection(row[0], name, declaration, relation, columns)


def hash_of_functions(collection: Collection) -> str:
    """A hash that differs where another version made the functions."""
    return hashlib.md5("".join(functions(collection, DEFAULT_SCHEMA)).encode(), usedforsecurity=False).hexdigest()


def _statements(collection: Collection, schema: str, *, is_new: bool) -> Iterator[LiteralString]:
    """The statements that create everything that a collection has apart from its source."""
    if is_new:
        parents = {collection.rows: "collection_rows", collection.windows: COLLECTION_WINDOWS}
        for table, parent in parents.items():
            if table == collection.windows and collection.declaration.vectors is not None:
                yield from windows_apart(collection)
            else:
                yield f"create table {table} partition of {parent} for values in ({collection.id})"
            yield f"alter table {table} alter column collection set default {collection.id}"
        yield f"select keep_texts_noted('{collection.rows}')"
        # between the partitions, not their parents, so that one collection can be dropped
        yield (
            f"alter table {collection.windows} add foreign key (record_id, collection)"
            f" references {collection.rows} (id, collection) on delete cascade"
        )
    yield from functions(collection, schema)
    yield from rights(collection)
    yield from triggers(collection) if collection.has_triggers else drop_triggers(collection)


def drop_collection(connection: SyncConnection, collection: Collection) -> None:
    """Drop everything that a collection has apart from its source, and its triggers there."""
    for statement in drop_functions(collection):
        connection.execute(statement)
    connection.execute(f"drop table {collection.windows}, {collection.rows}")
    for table, column in _NOTED_BY_NAME.items():
        connection.execute(
            SQL("delete from {} where {} = %s").format(Identifier(table), Identifier(column)), [collection.rows]
        )
    connection.execute("delete from collection_changes where collection = %s", [collection.id])
    connection.execute("delete from collections where id = %s", [collection.id])


_NOTED_BY_NAME = {
    "facet_values": "table_name", "facet_words": "table_name", "lexeme_counts": "of_table", "text_totals": "of_table",
    "text_changes": "of_table", "embedding_claims": "table_name", "embedding_progress": "table_name",
}  # fmt: skip


def _worded(value: object) -> str:
    if isinstance(value, dict) and "sql" in value:
        return str(value["sql"])
    return json.dumps(value, ensure_ascii=False, default=list)
