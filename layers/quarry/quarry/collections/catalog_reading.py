"""Reads tables and views from the catalog of a database, with the planner's statistics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import LiteralString

from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL

from quarry.collections.relations import Catalog, Column, Reference, Relation, RelationKind, seen_of
from quarry.postgres.pool import Database
from quarry.postgres.schema import SyncConnection

_SAMPLE = {"values": 20, "characters": 300}
"""How many of the planner's values are read for each column, and how many characters of each. `offset 0` reads them once per
column: Postgres would pull the subquery up and read them once per value.
"""

_COLUMN: LiteralString = """
  a.attname::text as name, a.attnum::int as number, format_type(a.atttypid, a.atttypmod) as type,
  case when e.typtype = 'd' then format_type(e.typbasetype, null) else format_type(coalesce(e.oid, b.oid), null) end as base,
  coalesce(e.typcategory, b.typcategory)::text as category, b.typcategory = 'A' as is_array, not a.attnotnull as is_nullable,
  col_description(a.attrelid, a.attnum) as comment"""
_TYPES: LiteralString = """
join pg_type t on t.oid = a.atttypid
join pg_type b on b.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
left join pg_type e on b.typcategory = 'A' and e.oid = b.typelem
"""
_PLAIN_COLUMNS: LiteralString = f"""
select n.nspname::text as schema, c.relname::text as relation, {_COLUMN}
from unnest(%(schemas)s::text[], %(names)s::text[]) s (schema, name)
join pg_namespace n on n.nspname = s.schema
join pg_class c on c.relnamespace = n.oid and c.relname = s.name
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped {_TYPES}
where has_column_privilege(c.oid, a.attnum, 'select')
order by c.oid, a.attnum
"""

_COLUMNS: LiteralString = f"""
select a.attrelid as relation, {_COLUMN}, s.avg_width as width, s.n_distinct as distinct, seen.least, seen.most,
  coalesce(texts.some, '{{}}') as texts
from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace {_TYPES}
left join pg_stats s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = a.attname
  and s.inherited = (c.relkind = 'p')
left join lateral (
  select min(value::float8) as least, max(value::float8) as most
  from unnest(s.most_common_vals::text::text[] || s.histogram_bounds::text::text[]) value
  where b.typname in ('int2', 'int4', 'int8', 'numeric', 'float4', 'float8')
) seen on true
left join lateral (
  select array_agg(left(value, %(characters)s)) as some
  from (select case when b.typcategory = 'A' then s.most_common_elems::text::text[]
    else s.most_common_vals::text::text[] || s.histogram_bounds::text::text[] end as known offset 0) once,
    unnest(known) with ordinality u (value, place)
  where (coalesce(e.typcategory, b.typcategory) = 'S' or b.typname = 'jsonb')
    and place %% (1 + cardinality(known) / %(values)s) = 0
) texts on true
where a.attrelid = any(%(relations)s) and a.attnum > 0 and not a.attisdropped
order by a.attrelid, a.attnum
"""

_RELATIONS = """
select c.oid, n.nspname as schema, c.relname as name, c.relkind::text as kind,
  case when c.relkind <> 'p' then nullif(c.reltuples, -1)::bigint else (
    select sum(nullif(leaf.reltuples, -1))::bigint
    from pg_partition_tree(c.oid) part join pg_class leaf on leaf.oid = part.relid where part.isleaf) end as rows,
  exists (select from pg_inherits where inhrelid = c.oid) as is_partition, c.relrowsecurity as has_row_security,
  row_security_active(c.oid) and not coalesce((
    select bool_or(p.polpermissive and pg_get_expr(p.polqual, p.polrelid) = 'true') and bool_and(p.polpermissive)
    from pg_policy p where p.polrelid = c.oid and p.polcmd in ('r', '*')
      and exists (select from unnest(p.polroles) role where role = 0 or pg_has_role(role, 'usage'))
  ), false) as is_row_security_active,
  exists (
    select from pg_policy p where p.polrelid = c.oid and p.polcmd in ('r', '*') and (pg_get_expr(p.polqual, p.polrelid)
      ~* '\\m(current_user|session_user|current_role|system_user|current_setting\\(|\\w+\\.\\w+\\()'
      or pg_get_expr(p.polqual, p.polrelid) ~ '\\mUSER\\M')
  ) as knows_user,
  has_table_privilege(c.oid, 'select') as may_select, has_table_privilege(c.oid, 'trigger') as may_trigger,
  obj_description(c.oid, 'pg_class') as comment
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and {wanted}
order by n.nspname, c.relname
"""

_OF_SCHEMA = """n.nspname = %(schema)s and not exists (
    select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')"""

_KEYS = """
select i.indrelid as relation, i.indisprimary as is_primary, (
    select array_agg(a.attname::text order by k.place)
    from unnest(i.indkey::int2[]) with ordinality k (number, place)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
    where k.place <= i.indnkeyatts) as columns
from pg_index i
where i.indrelid = any(%(relations)s) and i.indisunique and i.indisvalid and i.indpred is null and i.indexprs is null
order by i.indexrelid
"""

_REFERENCES = """
select c.conrelid as relation, n.nspname as schema, r.relname as name, (
    select array_agg(a.attname::text order by k.place)
    from unnest(c.conkey) with ordinality k (number, place)
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.number) as columns, (
    select array_agg(a.attname::text order by k.place)
    from unnest(c.confkey) with ordinality k (number, place)
    join pg_attribute a on a.attrelid = c.confrelid and a.attnum = k.number) as target
from pg_constraint c join pg_class r on r.oid = c.confrelid join pg_namespace n on n.oid = r.relnamespace
where c.conrelid = any(%(relations)s) and c.contype = 'f'
order by c.oid
"""

# a security_invoker view reads with the rights of its reader; within another view, that is the owner of the other view
_BYPASSED = """
with recursive reads as (
  select c.oid as view, c.oid as relation, false as is_as_owner
  from pg_class c where c.oid = any(%(relations)s) and c.relkind in ('v', 'm')
  union
  select r.view, d.refobjid, r.is_as_owner or c.relkind = 'm'
    or not coalesce(c.reloptions::text ~* '\\msecurity_invoker=(true|on|yes|1)\\M', false)
  from reads r join pg_class c on c.oid = r.relation and c.relkind in ('v', 'm') join pg_rewrite w on w.ev_class = c.oid
  join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
  where d.refclassid = 'pg_class'::regclass and d.refobjid <> c.oid
)
select distinct r.view as relation, format('%%I.%%I', n.nspname, c.relname) as name
from reads r join pg_class c on c.oid = r.relation and c.relrowsecurity join pg_namespace n on n.oid = c.relnamespace
where r.is_as_owner
order by 1, 2
"""

# a rule depends on each column that it names, and on none where it takes a row as a whole
_READ_COLUMNS = """
with recursive reads as (
  select c.oid as view, c.oid as relation from pg_class c where c.oid = any(%(relations)s) and c.relkind in ('v', 'm')
  union
  select r.view, d.refobjid from reads r join pg_rewrite w on w.ev_class = r.relation
  join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
  where d.refclassid = 'pg_class'::regclass and d.refobjid <> r.relation
)
select distinct r.view as relation, n.nspname::text as schema, c.relname::text as name, a.attname::text as column
from reads r join pg_rewrite w on w.ev_class = r.relation
join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid and d.refclassid = 'pg_class'::regclass
join pg_class c on c.oid = d.refobjid and c.oid <> r.relation join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  and (a.attnum = d.refobjsubid or w.ev_action::text like '%%:varattno 0 %%')
order by 1, 2, 3, 4
"""

_NAMES = """
select n.nspname::text, c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%'
"""

_KINDS: Mapping[str, RelationKind] = {
    "r": "table", "p": "partitioned table", "v": "view", "m": "materialized view", "f": "foreign table",
}  # fmt: skip


def relations_of_schema(connection: SyncConnection, schema: str) -> list[Relation]:
    """All tables and views of a schema, by name, except those of extensions."""
    return _read(connection, SQL(_OF_SCHEMA), {"schema": schema})


def relations_named(connection: SyncConnection, names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Relation]:
    """The tables and views with these schemas and names, as far as they exist."""
    wanted = list(names)
    found = _read(
        connection,
        SQL("(n.nspname, c.relname) in (select * from unnest(%(schemas)s::text[], %(names)s::text[]))"),
        {"schemas": [schema for schema, _ in wanted], "names": [name for _, name in wanted]},
    )
    return {relation.qualified: relation for relation in found}


def read_catalog(connection: SyncConnection, names: Iterable[tuple[str, str]]) -> Catalog:
    """These tables, as far as they exist, and the names of all others."""
    relations = connection.execute(_NAMES).fetchall()
    languages = connection.execute("select cfgname::text from pg_ts_config").fetchall()
    return Catalog(relations_named(connection, names), frozenset(relations), frozenset(name for (name,) in languages))


async def columns_of(database: Database, tables: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], list[Column]]:
    """The columns of these tables that the database's role may read, in order, without statistics, as a running service reads
    them.

    Raises DatabaseUnavailable.
    """
    found: dict[tuple[str, str], list[Column]] = {table: [] for table in tables}
    names = {"schemas": [schema for schema, _ in tables], "names": [name for _, name in tables]}
    for row in await database.rows(_PLAIN_COLUMNS, names) if tables else []:
        table = row.pop("schema"), row.pop("relation")
        found[table].append(Column(**row, width=None, distinct=None))
    return found


def _read(connection: SyncConnection, wanted: SQL, values: Mapping[str, object]) -> list[Relation]:
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        relations = cursor.execute(SQL(_RELATIONS).format(wanted=wanted), values).fetchall()
        oids = {"relations": [row["oid"] for row in relations], **_SAMPLE}
        facts = [
            _by_relation(cursor.execute(statement, oids).fetchall())
            for statement in (_COLUMNS, _KEYS, _REFERENCES, _BYPASSED, _READ_COLUMNS)
        ]
    return [_relation(row, *(each[row["oid"]] for each in facts)) for row in relations]


def _by_relation(rows: Iterable[DictRow]) -> Mapping[int, list[DictRow]]:
    grouped: dict[int, list[DictRow]] = defaultdict(list)
    for row in rows:
        grouped[row.pop("relation")].append(row)
    return grouped


def _relation(
    row: DictRow,
    columns: Sequence[DictRow],
    keys: Sequence[DictRow],
    references: Sequence[DictRow],
    bypassed: Sequence[DictRow],
    reads: Sequence[DictRow],
) -> Relation:
    return Relation(
        **{**row, "kind": _KINDS[row["kind"]]},
        # keeps what the planner's values look like, not the values
        columns=tuple(Column(seen=seen_of(column.pop("texts")), **column) for column in columns),
        primary_key=next((tuple(key["columns"]) for key in keys if key["is_primary"]), ()),
        unique_keys=tuple(tuple(key["columns"]) for key in keys if not key["is_primary"]),
        references=tuple(
            Reference(tuple(each["columns"]), (each["schema"], each["name"]), tuple(each["target"]))
            for each in references
        ),
        bypassed=tuple(each["name"] for each in bypassed),
        reads=tuple((each["schema"], each["name"], each["column"]) for each in reads),
    )
