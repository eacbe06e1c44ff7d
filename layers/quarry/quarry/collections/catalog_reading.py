"""Reads tables and views from the catalog of a database, with the planner's statistics; the keys that JSON columns hold in many
rows of a sample, and which columns of text hold HTML, since statistics leave out long values; and the conditions on rows, as
Postgres reads them.

A condition may be whatever the condition of an index may be: an immutable boolean expression over columns of the row. One on
the time or the caller would change without a write, which no trigger sees. Statements use it as Postgres writes it back, with
qualified names, and nothing else of the declaration.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, LiteralString

from psycopg import errors
from psycopg.errors import Error as PostgresError
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL, Composed, Identifier, Literal

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.declaration_parts import RowCondition
from quarry.collections.names import is_text, table_name
from quarry.collections.relations import (
    CATEGORIES,
    JSON_TYPES,
    MOMENT,
    NUMBER,
    TEXT,
    TRUTH,
    Catalog,
    Column,
    PathType,
    Reference,
    Relation,
    RelationKind,
    traits_of,
)
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
    return _read_relations(connection, SQL(_OF_SCHEMA), {"schema": schema})


def relations_by_name(connection: SyncConnection, names: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Relation]:
    """The tables and views with these schemas and names, as far as they exist."""
    tables = list(names)
    relations = _read_relations(
        connection,
        SQL("(n.nspname, c.relname) in (select * from unnest(%(schemas)s::text[], %(names)s::text[]))"),
        {"schemas": [schema for schema, _ in tables], "names": [name for _, name in tables]},
    )
    return {relation.qualified: relation for relation in relations}


def read_catalog(connection: SyncConnection, names: Iterable[tuple[str, str]]) -> Catalog:
    """These tables, as far as they exist, and the names of all others."""
    relations = connection.execute(_NAMES).fetchall()
    languages = connection.execute("select cfgname::text from pg_ts_config").fetchall()
    return Catalog(relations_by_name(connection, names), frozenset(relations), frozenset(name for (name,) in languages))


async def columns_of(database: Database, tables: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], list[Column]]:
    """The columns of these tables that the database's role may read, in order, without statistics, as a running service reads
    them.

    Raises DatabaseUnavailable.
    """
    columns: dict[tuple[str, str], list[Column]] = {table: [] for table in tables}
    names = {"schemas": [schema for schema, _ in tables], "names": [name for _, name in tables]}
    for row in await database.rows(_PLAIN_COLUMNS, names) if tables else []:
        table = row.pop("schema"), row.pop("relation")
        columns[table].append(Column(**row, width=None, distinct=None))
    return columns


def _read_relations(connection: SyncConnection, condition: SQL, values: Mapping[str, object]) -> list[Relation]:
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        relations = cursor.execute(SQL(_RELATIONS).format(wanted=condition), values).fetchall()
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
        columns=tuple(Column(traits=traits_of(column.pop("texts")), **column) for column in columns),
        primary_key=next((tuple(key["columns"]) for key in keys if key["is_primary"]), ()),
        unique_keys=tuple(tuple(key["columns"]) for key in keys if not key["is_primary"]),
        references=tuple(
            Reference(tuple(each["columns"]), (each["schema"], each["name"]), tuple(each["target"]))
            for each in references
        ),
        bypassed=tuple(each["name"] for each in bypassed),
        reads=tuple((each["schema"], each["name"], each["column"]) for each in reads),
    )


ROWS_MAX = 500
"""How many rows of a table are sampled."""
BYTES_MAX = 65_536
"""Larger documents are skipped."""
DEPTH_MAX = 3
KEYS_MAX = 40
"""How many keys of a column are kept, the most frequent first."""
SHARE_MIN = 0.02
"""Rarer keys are values that were used as keys: names of people, days."""
SAMPLE_SECONDS = 5
"""The time limit of a sample. Slower relations, which may be views, are skipped."""
VALUES_MAX = 40
VALUE_CHARACTERS_MAX = 300
KEY_CHARACTERS_MAX = 60

_SAMPLED = """
with recursive sampled as (
  select row_number() over () as number, s.value from (
    select d.value from (select {column}::jsonb as value from {table}{sample} where {column} is not null limit {rows}) d
    where pg_column_size(d.value) <= {bytes}
  ) s
), at as (
  select s.number, array[k.key] as path, k.value
  from sampled s, jsonb_each(case jsonb_typeof(s.value) when 'object' then s.value else '{{}}' end) k
  union all
  select a.number, a.path || k.key, k.value
  from at a, jsonb_each(case jsonb_typeof(a.value) when 'object' then a.value else '{{}}' end) k
  where cardinality(a.path) < {depth}
), typed as (
  select a.path, a.value, a.value #>> '{{}}' as said, case jsonb_typeof(a.value)
      when 'array' then case when jsonb_path_exists(a.value, 'strict $[*] ? (@.type() == "object" || @.type() == "array")')
        then 'objects' when a.value = '[]' then 'null' else 'array' end
      else jsonb_typeof(a.value) end as type
  from at a
)
select t.path, array_agg(distinct t.type) filter (where t.type <> 'null') as types, count(*) as held,
  count(distinct t.said) as different, avg(length(t.said))::int as width,
  (array_agg(left(t.said, {characters})) filter (where t.type = 'string'))[:{kept}] as texts,
  min(case t.type when 'number' then t.said::numeric end)::float8 as least,
  max(case t.type when 'number' then t.said::numeric end)::float8 as most,
  (select count(*) from sampled) as sampled
from typed t group by t.path order by held desc, t.path
"""


@contextmanager
def trial(connection: SyncConnection, seconds: float) -> Iterator[None]:
    """A transaction for reading rows that may be broken or slow: it is rolled back, and no statement takes longer."""
    with connection.transaction(force_rollback=True):
        connection.execute(SQL("set local statement_timeout = {}").format(Literal(int(seconds * 1000))))
        yield


def with_documents(connection: SyncConnection, relations: Iterable[Relation]) -> list[Relation]:
    """The tables and views, with the keys that a sample of their JSON columns holds. None where they cannot be read."""
    return [replace(each, documents=tuple(_documents(connection, each))) for each in relations]


def _documents(connection: SyncConnection, relation: Relation) -> Iterator[Column]:
    if not relation.may_select or relation.is_row_security_active:
        return
    for column in relation.columns:
        if column.base in JSON_TYPES and not column.is_array and not {*column.name} & {*"{}."}:
            rows: Sequence[DictRow] = ()
            cursor = connection.cursor(row_factory=dict_row)
            # whoever reads a broken view later reports the error
            with suppress(PostgresError), trial(connection, SAMPLE_SECONDS), cursor:
                rows = cursor.execute(_query(relation, column)).fetchall()
            yield from _keys(column, rows)


def _query(relation: Relation, column: Column) -> Composed:
    return SQL(_SAMPLED).format(
        column=Identifier(column.name),
        table=Identifier(*relation.qualified),
        sample=spread(relation),
        rows=Literal(ROWS_MAX),
        bytes=Literal(BYTES_MAX),
        depth=Literal(DEPTH_MAX),
        characters=Literal(VALUE_CHARACTERS_MAX),
        kept=Literal(VALUES_MAX),
    )


def spread(relation: Relation) -> Composed:
    """Spreads the sample over a large table: its first rows may date from before a key was written."""
    if relation.kind not in ("table", "partitioned table") or (relation.rows or 0) < 10 * ROWS_MAX:
        return SQL("").format()
    # sampled by pages of many rows: twice as many as needed
    share = min(100.0, max(0.01, 200 * ROWS_MAX / (relation.rows or 1)))
    return SQL(" tablesample system ({})").format(Literal(share))


def _keys(column: Column, rows: Sequence[Mapping[str, Any]]) -> Iterator[Column]:
    """The keys of a column that can be fields."""
    usual = [
        row for row in rows if row["held"] >= max(1, SHARE_MIN * row["sampled"]) and all(map(_is_plain, row["path"]))
    ]
    typed = [(row, type) for row in usual if (type := _type(row)) is not None]
    for row, type in typed[:KEYS_MAX]:
        name, base, share = ".".join((column.name, *row["path"])), type.base, row["different"] / row["held"]
        distinct = row["different"] if share <= 1 / 2 else -share
        traits = traits_of(row["texts"] or []) if base == TEXT and not type.is_array else None
        figures = {"width": row["width"], "distinct": distinct, "least": row["least"], "most": row["most"]}
        plain = Column(name, column.number, base, base, CATEGORIES[base], type.is_array, True, None, None, None)
        yield replace(plain, traits=traits, **figures)


def _is_plain(key: str) -> bool:
    """Whether a path can name the key, and it is not a value used as a key."""
    is_name = key.replace("_", "").replace("-", "").replace(" ", "").isalnum() and not key[:1].isdigit()
    return is_name and key == key.strip() and len(key) <= KEY_CHARACTERS_MAX


def _type(row: Mapping[str, Any]) -> PathType | None:
    """The one type of all values at a path; None for objects, and for arrays of them."""
    types = {*(row["types"] or ())}
    if not types or types & {"object", "objects"}:
        return None
    if "array" in types:
        return PathType(TEXT, is_array=True)
    if types == {"number"}:
        return PathType(NUMBER)
    if types == {"boolean"}:
        return PathType(TRUTH)
    texts = row["texts"] or []
    return PathType(MOMENT if types == {"string"} and texts and all(map(_is_moment, texts)) else TEXT)


def _is_moment(text: str) -> bool:
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return "-" in text[:8]


CHARACTERS_MAX = 4_000
"""How many characters of each text are looked at."""
WIDTH_MIN = 8
"""Columns that are narrower on average hold no element: `<b>x</b>`."""

_ELEMENT = (
    r"</(a|b|body|br|code|div|em|h[1-6]|head|html|i|li|ol|p|pre|script|span|strong|style|table|td|tr|u|ul)\s*>"
    r"|<br\s*/?>|<!doctype html|<!--.*?-->"
)
"""What ends an element of HTML, or stands alone."""


def with_markup(connection: SyncConnection, relations: Iterable[Relation]) -> list[Relation]:
    """The tables and views, with the columns of text marked that hold HTML. None where they cannot be read."""
    return [_marked(connection, each) for each in relations]


def _marked(connection: SyncConnection, relation: Relation) -> Relation:
    texts = [each.name for each in relation.columns if is_text(each) and (each.width or WIDTH_MIN) >= WIDTH_MIN]
    if not texts or not relation.may_select or relation.is_row_security_active:
        return relation
    marked = _holding_html(connection, relation, texts)
    columns = tuple(replace(each, is_html=each.name in marked) for each in relation.columns)
    return replace(relation, columns=columns) if marked else relation


def _holding_html(connection: SyncConnection, relation: Relation, texts: list[str]) -> set[str]:
    holds = SQL("bool_or(left({}::text, {}) ~* {})")
    query = SQL("select {} from (select {} from {}{} limit {}) s").format(
        SQL(", ").join(holds.format(Identifier(name), Literal(CHARACTERS_MAX), Literal(_ELEMENT)) for name in texts),
        SQL(", ").join(map(Identifier, texts)),
        Identifier(*relation.qualified),
        spread(relation),
        Literal(ROWS_MAX),
    )
    # whoever reads a broken view later reports the error
    with suppress(PostgresError), trial(connection, SAMPLE_SECONDS):
        row = connection.execute(query).fetchone()
        return {name for name, holds_it in zip(texts, row or (), strict=True) if holds_it}
    return set()


_TABLE, _INDEX = "quarry_condition_of", "quarry_condition"
_CONDITION = """
select pg_get_expr(i.indpred, i.indrelid) as sql, array(
  select a.attname::text from pg_depend d join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
  where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid and d.refobjid = i.indrelid and d.refobjsubid > 0
  order by a.attnum) as columns
from pg_index i where i.indexrelid = 'pg_temp.quarry_condition'::regclass
"""
_OF_TIME = (
    "depends on the time, on settings or on a function that is not immutable: the rows would change without a write"
)


def with_conditions(
    connection: SyncConnection,
    declared: Mapping[str, CollectionDeclaration],
    relations: Mapping[tuple[str, str], Relation],
) -> tuple[dict[str, CollectionDeclaration], dict[str, str]]:
    """The declarations with their conditions as Postgres reads them, and the error for each collection whose condition is
    wrong.
    """
    valid, wrong = dict(declared), dict[str, str]()
    for name, each in declared.items():
        try:
            parents = {
                by: one.model_copy(update={"where": _validated(connection, relations, one.of, one.where)})
                for by, one in each.kept_with.items()
            }
            where = each.where and _validated(connection, relations, each.source, each.where)
        except ValueError as error:
            wrong[name] = str(error)
        else:
            valid[name] = each.model_copy(update={"where": where, "kept_with": parents})
    return valid, wrong


def _validated(
    connection: SyncConnection, relations: Mapping[tuple[str, str], Relation], table: str, condition: RowCondition
) -> RowCondition:
    """The condition as Postgres writes it back; unchanged where there is no such table, which `check` reports."""
    relation = relations.get(table_name(table))
    return condition if relation is None else read_condition(connection, relation, condition.sql)


def read_condition(connection: SyncConnection, relation: Relation, condition: str) -> RowCondition:
    """The condition as Postgres writes it back, and its columns. Raises ValueError, which says what is wrong."""
    try:
        with connection.transaction(force_rollback=True):
            path = SQL("set local search_path = {}, public, pg_catalog").format(Identifier(relation.schema))
            connection.execute(path)
            connection.execute(
                SQL("create temporary table {} (like {})").format(Identifier(_TABLE), Identifier(*relation.qualified))
            )
            create_index = f"create index {_INDEX} on pg_temp.{_TABLE} ((1)) where ({condition})"
            connection.execute(create_index.encode(), prepare=True)  # what is prepared is one statement
            connection.execute("set local search_path = pg_catalog")
            row = connection.execute(_CONDITION).fetchone()
    except errors.Error as error:
        raise ValueError(f"{condition!r} {_why(error)}") from None
    assert row is not None
    sql, columns = row
    if not columns:
        raise ValueError(f"{condition!r} names no column of {relation.name}")
    row_condition = RowCondition(sql=sql, columns=tuple(columns))
    _ = row_condition.statement  # raises for what no statement can have
    return row_condition


def _why(error: errors.Error) -> str:
    """What is wrong with a condition, and what to write instead."""
    reason = error.diag.message_primary or "cannot be read"
    if isinstance(error, errors.InvalidObjectDefinition):
        return f"{_OF_TIME}; compare columns with fixed values, or search a view"
    if isinstance(error, errors.FeatureNotSupported | errors.GroupingError | errors.WindowingError):
        return f'is not a condition on one row ({reason}): search a view that has it, with sync = "sweep"'
    if isinstance(error, errors.InsufficientPrivilege):
        return f"cannot be checked ({reason}): the role of DATABASE_URL needs the right to make temporary tables"
    return f"is not a condition on a row: {reason}"
