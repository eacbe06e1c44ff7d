"""The columns of tables as a running service reads them: names and types alone, without statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quarry.collections.relations import Column
from quarry.postgres.pool import Database

Table = tuple[str, str]
"""Schema and name."""

_COLUMNS = """
select n.nspname::text as schema, c.relname::text as relation, a.attname::text as name, a.attnum::int as number,
  format_type(a.atttypid, a.atttypmod) as type,
  case when e.typtype = 'd' then format_type(e.typbasetype, null) else format_type(coalesce(e.oid, b.oid), null) end as base,
  coalesce(e.typcategory, b.typcategory)::text as category, b.typcategory = 'A' as is_array, not a.attnotnull as is_nullable,
  col_description(a.attrelid, a.attnum) as comment
from unnest(%(schemas)s::text[], %(names)s::text[]) s (schema, name)
join pg_namespace n on n.nspname = s.schema
join pg_class c on c.relnamespace = n.oid and c.relname = s.name
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_type t on t.oid = a.atttypid
join pg_type b on b.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end
left join pg_type e on b.typcategory = 'A' and e.oid = b.typelem
where has_column_privilege(c.oid, a.attnum, 'select')
order by c.oid, a.attnum
"""


async def columns_of(database: Database, tables: Sequence[Table]) -> Mapping[Table, list[Column]]:
    """The columns of these tables that the database's role may read, in their order. Raises DatabaseUnavailable."""
    found: dict[Table, list[Column]] = {table: [] for table in tables}
    names = {"schemas": [schema for schema, _ in tables], "names": [name for _, name in tables]}
    for row in await database.rows(_COLUMNS, names) if tables else []:
        table = row.pop("schema"), row.pop("relation")
        found[table].append(Column(**row, width=None, distinct=None))
    return found
