"""Keeps collections up to date with their sources: takes changed keys from the queue and reads their rows again.

A fault in one collection, such as a dropped column or a missing right, is stored with it and does not hold up the others. Its
queue is kept and processed once the fault is fixed.

Functions in the database do the work: what triggers queue, and how the queue is processed. Their bodies are strings, so that
Postgres tracks no dependencies and the owner of a table can still change it. They run with the rights of the role that applied
the collection: writers need no rights on Quarry's tables, and only the serving and loading roles may call them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import LiteralString, NamedTuple

from psycopg import sql
from psycopg.errors import Error as PostgresError

from quarry.collections.collection import Collection
from quarry.collections.declaration_parts import Referred
from quarry.collections.facets import embedded_table, facet_source
from quarry.collections.names import table_name
from quarry.collections.relations import literal
from quarry.platform.errors import QuarryError
from quarry.platform.tables import COLLECTION_WINDOWS, EmbeddedTable
from quarry.postgres.connections import fault_of_source
from quarry.postgres.pool import Connection, Database
from quarry.retrieval.values import CountedPart, refresh, values_function, values_query
from quarry.schema.source import identifier

BATCH_KEYS = 500
"""How many changed keys are taken at a time."""
SEARCH_KEYS = 50
"""How many queued keys a search processes first."""
COMPARE_SECONDS = 600.0
"""How long comparing a collection with its source may take."""
BATCH_SECONDS = 60.0
INDEX_SECONDS = 3_600.0
"""How long indexing the vectors of a table may take, once after its first fill."""
COMPARED_EVERY_SECONDS = 86_400.0
SWEEP_SECONDS = 600.0
POLL_SECONDS = 30.0
POLL_OVERLAP_SECONDS = 300
"""How far back a polled source is read again: rows may be committed later than they were written."""

_WAITING = """
select c.id,
  exists (select from collection_changes q where q.collection = c.id and q.key is not null) as has_changes,
  exists (select from collection_changes q where q.collection = c.id and q.key is null and q.problem is null)
    as asks_to_compare,
  exists (select from collection_changes q where q.collection = c.id and q.problem is not null) as has_noted_problem,
  c.problem,
  extract(epoch from now() - c.reconciled_at)::float8 as compared_before,
  extract(epoch from now() - c.polled_to)::float8 as polled_before
from collections c where c.id = any(%s) order by c.id
"""

_CHANGED = """
select c.id from collections c
where c.id = any(%s) and c.problem is null
  and exists (select from collection_changes q where q.collection = c.id and q.key is not null)
"""

_RENAMED = """
select distinct e.collection
from unnest(%s::int[], %s::text[], %s::text[], %s::text[], %s::text[]) e (collection, rows, facet, relation, name)
join pg_attribute a on a.attrelid = to_regclass(e.relation) and a.attname = e.name
join pg_type t on t.oid = a.atttypid
join pg_type l on l.oid = case when t.typcategory = 'A' then t.typelem else t.oid end and l.typtype = 'e'
where exists (
  select from facet_values f where f.table_name = e.rows and f.facet = e.facet group by f.value
  having sum(f.row_count) > 0 and not exists (select from pg_enum n where n.enumtypid = l.oid and n.enumlabel = f.value))
"""
"""The collections that know a value which its enumeration no longer has: no row is written when a value is renamed."""

logger = logging.getLogger(__name__)


@dataclass
class Refreshed:
    """What was done for one collection: the number of keys whose rows were read again, and the problem that stopped it."""

    keys: int = 0
    problem: str | None = None


class _Waiting(NamedTuple):
    """What is due for a collection. `compared_before` and `polled_before` are in seconds.

    `problem` is the fault stored last. `has_noted_problem`: a trigger could not queue its keys.
    """

    id: int
    has_changes: bool
    asks_to_compare: bool
    has_noted_problem: bool
    problem: str | None
    compared_before: float | None
    polled_before: float | None

    def must_compare(self, collection: Collection) -> bool:
        """Whether a comparison is requested or overdue. A source without triggers is compared more often."""
        often = SWEEP_SECONDS if collection.declaration.sync == "sweep" else COMPARED_EVERY_SECONDS
        return self.asks_to_compare or self.compared_before is None or self.compared_before > often

    def must_poll(self, collection: Collection) -> bool:
        """Whether it is polled, and polling is due."""
        is_polled = not isinstance(collection.declaration.sync, str)
        return is_polled and (self.polled_before is None or self.polled_before > POLL_SECONDS)


def embedded_tables(collections: Iterable[Collection]) -> list[EmbeddedTable]:
    """How the texts of these collections are embedded, where they have any."""
    return [embedded_table(each) for each in collections if each.declaration.embedded]


async def keep_in_step(
    database: Database,
    collections: Iterable[Collection],
    *,
    rows_max: int = 0,
    keep_going: Callable[[], bool] = lambda: True,
    on_progress: Callable[[int], None] = lambda keys: None,
) -> dict[str, Refreshed]:
    """Process what is due for these collections while `keep_going` returns true, and return what was done for each.

    Collections that are not searched need nothing. What would go over `rows_max` waits.
    """
    by_id = {each.id: each for each in collections if each.declaration.is_searched}
    done: dict[str, Refreshed] = {}
    for row in await database.rows(_WAITING, [list(by_id)]) if by_id else []:
        waiting, collection = _Waiting(**row), by_id[row["id"]]
        if not keep_going():
            break
        due = waiting.must_compare(collection) or waiting.must_poll(collection)
        if due or waiting.has_changes or waiting.has_noted_problem:
            done[collection.name] = await _work_off(database, collection, waiting, rows_max, keep_going, on_progress)
    return done


async def take_renamed(database: Database, collections: Iterable[Collection]) -> list[str]:
    """Count the values again where those of an enumeration were renamed, queue a comparison, and return the collections' names.

    Raises DatabaseUnavailable where values cannot be counted.
    """
    by_id = {each.id: each for each in collections if each.declaration.is_searched}
    columns = [*zip(*(column for each in by_id.values() for column in _columns_of_values(each)), strict=True)]
    rows = await database.rows(_RENAMED, [[*each] for each in columns]) if columns else []
    renamed = [by_id[row["collection"]] for row in rows]
    await refresh(database, (CountedPart("values", each.rows) for each in renamed), timeout_seconds=COMPARE_SECONDS)
    for each in renamed:  # the words of its rows may hold the old value
        await database.execute("insert into collection_changes (collection) values (%s)", [each.id])
    return [each.name for each in renamed]


def _columns_of_values(collection: Collection) -> Iterator[tuple[int, str, str, str, str]]:
    """The columns, by their tables in SQL, whose values are known: those of listed facets in one column."""
    declaration = collection.declaration
    for each in facet_source(collection).listed:
        facet = declaration.facets.get(each.name)
        if facet is None or facet.through or facet.expression or isinstance(facet.title, Referred):
            continue
        [name, *_] = facet.columns_as(each.name)
        if facet.related:
            yield collection.id, collection.rows, each.name, _in_sql(declaration.related[facet.related].of), name
        elif facet.of:
            yield collection.id, collection.rows, each.name, _in_sql(facet.of), facet.title or ""
        else:
            yield collection.id, collection.rows, each.name, collection.table_sql, name


def _in_sql(table: str) -> str:
    return identifier(*table_name(table))


async def take_a_few(database: Database, collections: Iterable[Collection], rows_max: int = 0) -> None:
    """Read the rows of a few queued keys before a search, in case nothing else does at the moment.

    A row that cannot be read is left to `keep_in_step`, which reports why; a collection with a stored problem is skipped.
    """
    by_id = {each.id: each for each in collections}
    rows = await database.rows(_CHANGED, [list(by_id)]) if by_id else []
    for collection in [by_id[row["id"]] for row in rows]:
        try:
            await refresh_rows(database, collection, SEARCH_KEYS, rows_max)
        except (PostgresError, QuarryError) as error:
            if fault_of_source(error) is None:
                raise


async def compare(database: Database, collection: Collection) -> int:
    """Queue every row that differs from the source, and return how many. Finds whatever was missed.

    Raises PostgresError where the source cannot be read, or policies hide rows of it.
    """
    async with database.transaction() as connection:
        await _take_time(connection, COMPARE_SECONDS)
        queued = await _call(connection, "queue_differences", collection)
        await connection.execute("update collections set reconciled_at = now() where id = %s", [collection.id])
    return queued or 0


async def poll(database: Database, collection: Collection) -> int:
    """Queue the rows that changed in the source since it was last polled, and return how many."""
    async with database.transaction() as connection:
        await _take_time(connection, COMPARE_SECONDS)
        cursor = await connection.execute(
            "select polled_to - make_interval(secs => %s) as since from collections where id = %s for update",
            [POLL_OVERLAP_SECONDS, collection.id],
        )
        row = await cursor.fetchone()
        queued = await _call(connection, "queue_differences", collection, row["since"] if row else None)
        await connection.execute("update collections set polled_to = now() where id = %s", [collection.id])
    return queued or 0


async def _work_off(
    database: Database,
    collection: Collection,
    waiting: _Waiting,
    rows_max: int,
    keep_going: Callable[[], bool],
    on_progress: Callable[[int], None],
) -> Refreshed:
    done = Refreshed()
    try:
        if waiting.must_compare(collection):
            await compare(database, collection)
        if waiting.must_poll(collection):
            await poll(database, collection)
        keys: int | None = None
        while keep_going() and (keys := await refresh_rows(database, collection, rows_max=rows_max)):
            done.keys += keys
            on_progress(keys)
        if keys == 0 and collection.declaration.vectors is not None:
            async with database.transaction() as connection:
                await _take_time(connection, INDEX_SECONDS)
                await _call(connection, "index_windows", collection)  # once, after the first fill
        if waiting.problem is not None or waiting.has_noted_problem:
            await _forget_problem(database, collection)
    except (PostgresError, QuarryError) as error:
        done.problem = fault_of_source(error)
        if done.problem is None:
            raise
        if done.problem != waiting.problem:
            logger.warning("%s is not in step: %s", collection.name, type(error).__name__)
            await database.execute("update collections set problem = %s where id = %s", [done.problem, collection.id])
    return done


async def refresh_rows(
    database: Database, collection: Collection, keys: int = BATCH_KEYS, rows_max: int = 0
) -> int | None:
    """Read the rows of this many queued keys again. Returns how many there were; None while another process does it.

    Raises Forbidden, and reads none of them, if there would be more than `rows_max`; 0: any number.
    """
    async with database.transaction() as connection:
        await _take_time(connection, BATCH_SECONDS)
        done = await _call(connection, "refresh_rows", collection, keys)
        if rows_max and done:
            await connection.execute("select check_rows(%s)", [rows_max])
    return done


async def _forget_problem(database: Database, collection: Collection) -> None:
    """Clear the problem, and request a comparison for what triggers could not queue."""
    async with database.transaction() as connection:
        await connection.execute("update collections set problem = null where id = %s", [collection.id])
        await connection.execute(
            "with told as (delete from collection_changes where collection = %s and problem is not null returning collection)"
            " insert into collection_changes (collection) select distinct collection from told",
            [collection.id],
        )


async def _take_time(connection: Connection, seconds: float) -> None:
    await connection.execute(sql.SQL("set local statement_timeout = {}").format(sql.Literal(int(seconds * 1000))))


async def _call(connection: Connection, function: str, collection: Collection, *arguments: object) -> int | None:
    """Call a function of the collection's in the database."""
    literals = sql.SQL(", ").join(map(sql.Literal, arguments))
    query = sql.SQL("select {}({})").format(sql.Identifier(f"{function}_{collection.id}"), literals)
    row = await (await connection.execute(query)).fetchone()
    return next(iter(row.values())) if row else None


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
            yield _indexing_function(collection, definer)
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
    own_columns = dict.fromkeys(each.path[0] if each.path else name for name, each in collection.columns.items())
    # as a record: plain rows are compared column by column, by operators of their types
    return f"row({', '.join(f'{row}.{identifier(name)}' for name in own_columns)})::record"


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


def _indexing_function(collection: Collection, rights: LiteralString) -> LiteralString:
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
    return f"""if not sees_all_rows({literal(source)}::regclass) then
    raise exception 'policies hide rows from %: give it BYPASSRLS, or a policy for select using (true)', current_user
      using errcode = 'insufficient_privilege';
  end if;"""
