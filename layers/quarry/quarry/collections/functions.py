"""The SQL that keeps a collection up to date: what triggers queue, and how the queue is processed.

Function bodies are strings, so that Postgres tracks no dependencies and the owner of a table can still change it. The
functions run with the rights of the role that applied the collection: writers need no rights on Quarry's tables, and only the
serving and loading roles may call them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import LiteralString

from quarry.collections.collection import Collection
from quarry.collections.facets import facet_source
from quarry.collections.uses import quoted
from quarry.platform.tables import COLLECTION_WINDOWS
from quarry.retrieval.values import values_function, values_query
from quarry.schema.source import identifier

BATCH_KEYS = 500
"""How many changed keys are taken at a time."""

INDEX_MEMORY: LiteralString = "512MB"
"""For building the index of vectors, at most: it holds 350,000 vectors of 384 dimensions."""

VALUES_AS_TEXT: Mapping[LiteralString, LiteralString] = {
    "timezone": "UTC", "datestyle": "ISO, YMD", "intervalstyle": "iso_8601", "bytea_output": "hex", "extra_float_digits": "1",
    "lc_monetary": "C",
}  # fmt: skip
"""Settings that fix how values look as text, whoever writes: keys and hashes are made of that text."""
_SETTINGS = " ".join([f"set {name} = '{value}'" for name, value in VALUES_AS_TEXT.items()])

_COMPARABLE = frozenset({
    "bigint", "integer", "smallint", "numeric", "real", "double precision", "text", "character varying", "uuid", "boolean",
    "date", "timestamp without time zone", "timestamp with time zone",
})  # fmt: skip


def drop_functions(collection: Collection) -> Iterator[LiteralString]:
    """Drops what `functions` creates, and with it the triggers."""
    for name in (*_names(collection), f"index_windows_{collection.id}"):
        yield f"drop function if exists {name} cascade"


def functions(collection: Collection, schema: str) -> Iterator[LiteralString]:
    """Creates the functions of a collection; `schema` is Quarry's."""
    ours = identifier(schema)
    trusted = f"security definer set search_path = pg_catalog, {ours}, pg_temp set work_mem = '32MB' {_SETTINGS}"
    if collection.declaration.is_searched:
        # operators of the owner's types are in the owner's search path
        yield _note_changes(collection, trusted)
        definer = f"security definer set search_path from current {_SETTINGS}"
        yield _refresh_rows(collection, definer)
        yield _queue_differences(collection, definer)
        if collection.declaration.vectors is not None:
            yield _index_windows(collection, definer)
    yield values_function(facet_source(collection))
    yield f"alter function {collection.rows}_values() security definer set search_path from current"


def rights(collection: Collection) -> Iterator[LiteralString]:
    """Restricts who may call what `functions` creates, where public may use the schema."""
    for name in _names(collection):
        yield f"revoke execute on function {name} from public"
        yield f"grant execute on function {name} to quarry_serving, quarry_loading"


def _names(collection: Collection) -> tuple[LiteralString, ...]:
    number, values = collection.id, f"{collection.rows}_values"
    if not collection.declaration.is_searched:
        return (values,)
    indexing = (f"index_windows_{number}",) if collection.declaration.vectors is not None else ()
    return f"note_changes_{number}", f"refresh_rows_{number}", f"queue_differences_{number}", *indexing, values


def triggers(collection: Collection) -> Iterator[LiteralString]:
    """Creates the triggers on the source."""
    number = collection.id
    for operation, tables in {
        "insert": "referencing new table as new_rows ",
        "update": "referencing old table as old_rows new table as new_rows ",
        "delete": "referencing old table as old_rows ",
        "truncate": "",
    }.items():
        yield (
            f"create or replace trigger quarry_{number}_{operation} after {operation} on {collection.table_sql}"
            f" {tables}for each statement execute function note_changes_{number}()"
        )


def drop_triggers(collection: Collection) -> Iterator[LiteralString]:
    """Drops the triggers on the source."""
    for operation in ("insert", "update", "delete", "truncate"):
        yield f"drop trigger if exists quarry_{collection.id}_{operation} on {collection.table_sql}"


def _note_changes(collection: Collection, rights: LiteralString) -> LiteralString:
    number, [first, *_] = collection.id, collection.key
    new, old = collection.key_text("n"), collection.key_text("o")
    same_key = " and ".join(
        f"{_comparable(collection, name, 'n')} = {_comparable(collection, name, 'o')}" for name in collection.key
    )
    now, before = (_image(collection, row) for row in ("n", "o"))
    # a full join: a nested loop, planned for one row, would be reused for many
    return f"""create or replace function note_changes_{number}() returns trigger language plpgsql {rights} as $quarry$
begin
  if tg_op = 'INSERT' then
    insert into collection_changes (collection, key) select {number}, {new} from new_rows n;
  elsif tg_op = 'DELETE' then
    insert into collection_changes (collection, key) select {number}, {old} from old_rows o;
  elsif tg_op = 'UPDATE' then
    insert into collection_changes (collection, key)
    select {number}, case when {collection.column(first, "n")} is null then {old} else {new} end
    from new_rows n full join old_rows o on {same_key}
    where {now} *<> {before};
  else
    insert into collection_changes (collection, key) values ({number}, null);
  end if;
  return null;
exception when others then
  -- what writes to the table must not fail for us: a renamed column is told, and the collection waits
  insert into collection_changes (collection, problem) values ({number}, sqlerrm);
  return null;
end $quarry$"""


def _image(collection: Collection, row: LiteralString) -> LiteralString:
    """The columns that a collection uses, compared byte for byte. That works for every type, and writes out no document or
    vector as text.
    """
    held = dict.fromkeys(each.path[0] if each.path else name for name, each in collection.columns.items())
    # as a record: plain rows are compared column by column, by operators of their types
    return f"row({', '.join(f'{row}.{identifier(name)}' for name in held)})::record"


def _comparable(collection: Collection, name: str, row: LiteralString) -> LiteralString:
    """A column of the key as it is compared: as text where Postgres has no comparison of its own for the type."""
    column = collection.columns[name]
    value = collection.column(name, row)
    return value if column.base in _COMPARABLE and not column.is_array else f"{value}::text"


def _refresh_rows(collection: Collection, rights: LiteralString) -> LiteralString:
    number, rows = collection.id, collection.rows
    scope = f"{collection.text(collection.declaration.scope)}" if collection.declaration.scope else "null"
    language = collection.language() if collection.declaration.language_column else "null"
    return f"""create or replace function refresh_rows_{number}(p_limit int) returns int language plpgsql {rights} as $quarry$
declare
  taken text[];
  revised text[];
begin
  {_sees_all(collection)}
  -- two at once could store the older text last
  if not pg_try_advisory_xact_lock(hashtextextended('collection {number}', 0)) then
    return null;
  end if;
  with gone as (
    delete from collection_changes c where c.ctid = any(array(
      select n.ctid from collection_changes n
      where n.collection = {number} and n.key is not null limit p_limit for update skip locked))
    returning c.key
  )
  select array_agg(distinct g.key) into taken from gone g;
  if taken is null then
    return 0;
  end if;
  delete from {rows} r
  where r.id = any(taken) and not exists (select from {collection.source_sql} x where {collection.has_key("r.id")});
  insert into {rows} as r (id, scope, language, text_search, titles, row_hash, content_hash)
  select k.key, {scope}, {language}, {collection.document}, title_words({collection.title("x")}), {collection.row_hash},
    {collection.content_hash}
  from unnest(taken) k (key) join {collection.source_sql} x on {collection.has_key("k.key")}
  on conflict (id, collection) do update
  set scope = excluded.scope, language = excluded.language, text_search = excluded.text_search, titles = excluded.titles,
    row_hash = excluded.row_hash, content_hash = excluded.content_hash
  where r.row_hash <> excluded.row_hash;
{_new_vectors(collection)}{_new_languages(collection)}{_new_values(collection)}  return cardinality(taken);
end $quarry$"""


def _new_vectors(collection: Collection) -> LiteralString:
    """Copies the vectors of the changed rows from the source, where it holds them."""
    if collection.declaration.vectors is None:
        return ""
    rows, vector = collection.rows, collection.column(collection.declaration.vectors.column)
    return f"""  with marked as (
    update {rows} r set embedded_hash = r.content_hash
    where r.id = any(taken) and r.embedded_hash is distinct from r.content_hash returning r.id
  )
  select array_agg(m.id) into revised from marked m;
  delete from {collection.windows} w where w.record_id = any(revised);
  insert into {collection.windows} (record_id, window_number, embedding)
  select k.key, 0, {vector} from unnest(revised) k (key) join {collection.source_sql} x on {collection.has_key("k.key")}
  where {vector} is not null;
"""


def windows_apart(collection: Collection) -> Iterator[LiteralString]:
    """Creates the table of a collection's vectors as a table of its own, which becomes a partition once it is filled."""
    windows = collection.windows
    yield f"create table {windows} (like {COLLECTION_WINDOWS} including constraints including storage)"
    yield f"alter table {windows} add primary key (record_id, window_number, collection)"


def _index_windows(collection: Collection, rights: LiteralString) -> LiteralString:
    """Indexes the vectors after the first fill, at once: the graph is built in memory, several times as fast as vector by
    vector.
    """
    number, windows = collection.id, collection.windows
    # in one process: shared memory may be scarce, as in containers
    return f"""create or replace function index_windows_{number}() returns void language plpgsql {rights}
set max_parallel_maintenance_workers = 0 set maintenance_work_mem = '{INDEX_MEMORY}' as $quarry$
begin
  if not exists (select from pg_inherits i where i.inhrelid = '{windows}'::regclass) then
    create index on {windows} using hnsw (embedding halfvec_cosine_ops) with (ef_construction = 128);
    alter table {COLLECTION_WINDOWS} attach partition {windows} for values in ({number});
  end if;
end $quarry$"""


def _new_languages(collection: Collection) -> LiteralString:
    """Adds the languages of the changed rows to those that searches know."""
    if collection.declaration.language_column is None:
        return ""
    number, rows = collection.id, collection.rows
    return f"""  update collections c
  set languages = array(select unnest(c.languages) union select r.language from {rows} r where r.id = any(taken) order by 1)
  where c.id = {number} and exists (
    select from {rows} r where r.id = any(taken) and r.language <> all(c.languages));
"""


def _new_values(collection: Collection) -> LiteralString:
    """Adds the values of the changed rows to those that questions know. How many rows have each is counted daily."""
    table = facet_source(collection)
    if not table.listed:
        return ""
    values = "array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change)"
    return f"""  perform change_facet_values('{collection.rows}', {values})
  from (
{values_query(table, collection.has_key_among().replace("{}", "taken"))}
  ) c (facet, scope, value, change)
  where not exists (
    select from facet_values f
    where f.table_name = '{collection.rows}' and (f.facet, f.scope, f.value) = (c.facet, c.scope, c.value));
"""


def _queue_differences(collection: Collection, rights: LiteralString) -> LiteralString:
    number = collection.id
    return f"""create or replace function queue_differences_{number}(p_since timestamptz default null) returns bigint
language plpgsql {rights} as $quarry$
declare
  queued bigint;
begin
  {_sees_all(collection)}
  if p_since is null then
    delete from collection_changes c where c.collection = {number} and c.key is null;
  end if;
  insert into collection_changes (collection, key)
  {_differences(collection)};
  get diagnostics queued = row_count;
  return queued;
end $quarry$"""


def _differences(collection: Collection) -> LiteralString:
    """The keys of rows that differ from the source; for a polled source, only those changed since."""
    number, rows = collection.id, collection.rows
    source = f"select {collection.key_text()} as key, {collection.row_hash} as hash from {collection.source_sql} x"
    # vectors of another model were deleted: those in the source are copied again
    unlike = " or r.embedded_hash is distinct from r.content_hash" if collection.declaration.vectors else ""
    every = f"""select {number}, coalesce(s.key, r.id) from ({source}) s full join {rows} r on r.id = s.key
  where (s.hash is distinct from r.row_hash{unlike})"""
    sync = collection.declaration.sync
    if isinstance(sync, str):
        return every
    recent = f"""select {number}, s.key from ({source} where {collection.column(sync.poll)}::timestamptz >= p_since) s
  left join {rows} r on r.id = s.key where s.hash is distinct from r.row_hash and p_since is not null"""
    return f"{recent}\n  union all\n  select * from ({every} and p_since is null) e"


def _sees_all(collection: Collection) -> LiteralString:
    # a name that is cast has no Unicode escapes
    source = ".".join('"' + name.replace('"', '""') + '"' for name in collection.source)
    return f"""if not sees_all_rows({quoted(source)}::regclass) then
    raise exception 'policies hide rows from %: give it BYPASSRLS, or a policy for select using (true)', current_user
      using errcode = 'insufficient_privilege';
  end if;"""
