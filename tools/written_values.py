"""Generates the SQL with which writes change the counted values of a searched table, from its facets.

The changes of a statement depend only on the rows that it wrote, whatever else the tables contain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import LiteralString

from quarry.collections.own_table import OwnTable
from quarry.collections.row_sql import quoted
from quarry.retrieval.facets import Related, SearchTable
from quarry.retrieval.values import changed_values, counted, relations_of


def written_function(table: SearchTable) -> str:
    """`<table>_written`: the trigger function that counts what a statement changes, and the triggers that call it."""
    writes = list(_writes(table))
    branches = "".join(
        f"""  elsif tg_table_name = '{write.table}' and tg_op = '{write.operation.upper()}' then
    {_call(table, write)}
"""
        for write in writes
        if write.values
    )
    triggers = "\n".join(
        f"select keep_values_counted('{table.name}', '{write.table}', '{write.operation}', '{write.level}');"
        for write in writes
    )
    return f"""-- Written by tools/generate.py from the facets of {table.name}.
-- Counts what a statement changes in the values by which {table.name} are looked up.
create or replace function {table.name}_written() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'TRUNCATE' then
    perform refresh_facet_values('{table.name}');
{branches}  end if;
  return old;
end
$$;
{triggers}
"""


@dataclass(frozen=True)
class _Write:
    """An operation on a table, and the values it changes."""

    table: str
    operation: str
    values: Sequence[str] = ()
    instead: str = ""
    level: str = "statement"


def _call(table: SearchTable, write: _Write) -> str:
    """The call that counts an operation's changes. With joined tables it is planned for each statement, because a cached plan
    lives as long as the connection: one made for a single row compares each with each when many are written; one made for many
    reads a whole table for a row.
    """
    call = f"""change_facet_values(
      '{table.name}', array_agg(c.facet), array_agg(c.scope), array_agg(c.value), array_agg(c.change))
    from (
{counted(write.values, write.instead)}
    ) c (facet, scope, value, change)"""
    if write.level == "statement" and any(relations_of(table)):
        return f"execute $planned_anew$ select {call} $planned_anew$;"
    return f"perform {call};"


def _writes(table: SearchTable) -> Iterator[_Write]:
    yield from _writes_of_rows(table)
    related = [relations for relations in relations_of(table) if relations]
    for name in dict.fromkeys(relations[0].table for relations in related):
        by_it = [relations for relations in related if relations[0].table == name]
        if owner := by_it[0][0].owner:
            yield from _writes_of_owned(table, by_it[0], owner)
        else:  # a row that others belong to exists before and after them
            values = [changed_values(table, relations, "r.change") for relations in by_it]
            yield _Write(name, "update", values, _updated(name, table))


def _writes_of_rows(table: SearchTable) -> Iterator[_Write]:
    relations = relations_of(table)
    values = [changed_values(table, related, "t.change") for related in relations]
    name = table.name
    yield _Write(name, "insert", values, f"with {name} as (select 1 as change, n.* from new_rows n) ")
    yield _Write(name, "update", values, _updated(name, table))
    if any(related.owner for each in relations for related in each):
        # rows that belong to a row are deleted with it, before the statement ends
        yield _Write(name, "delete", values, f"with {name} as (select -1 as change, old.*) ", "each row")
    else:
        yield _Write(name, "delete", values, f"with {name} as (select -1 as change, o.* from old_rows o) ")
    yield _Write(name, "truncate")


def _updated(name: str, table: SearchTable) -> str:
    """The rows of a table before and after an update, if the columns of its values changed; most updates change none."""
    new, old = _changed(_columns(table, name))
    return (
        f"with {name} as (select 1 as change, n.* from ({new}) n\n      union all select -1, o.* from ({old}) o)\n    "
    )


def _changed(columns: str) -> tuple[str, str]:
    """The changes of an update in some columns: the rows before and after it."""
    new, old = f"select {columns} from new_rows", f"select {columns} from old_rows"
    return f"{new} except all {old}", f"{old} except all {new}"


def _writes_of_owned(table: SearchTable, relations: Sequence[Related], owner: str) -> Iterator[_Write]:
    """Writes of rows that belong to another row, by which that row may be found."""
    name, key = relations[0].table, table.key
    values = [changed_values(table, relations, "r.change", where="true")]
    if () in relations_of(table):
        values.append(changed_values(table, (), "t.change", where="t.change <> 0"))
    before = re.sub(rf"\b{name}\b", "before", table.where)
    columns = _columns(table, name, "id", owner)
    new, old = _changed(columns)
    for operation, written in {
        "insert": {"new_rows": 1},
        "update": {"changed_to": 1, "changed_from": -1},
        "delete": {"old_rows": -1},
    }.items():
        owners = " union ".join(f"select {owner} from {rows}" for rows in written)
        signed = " union all ".join(f"select {change} as change, w.* from {rows} w" for rows, change in written.items())
        # compared by joins: too many ids in a list would be compared each with each
        added = "".join(
            f" and not exists (select from {rows} w where w.id = b.id)" for rows in written if written[rows] > 0
        )
        removed = "".join(f" union all select {columns} from {rows}" for rows in written if written[rows] < 0)
        changed = f"changed_to as ({new}),\n    changed_from as ({old}),\n    " if operation == "update" else ""
        instead = (
            f"with {changed}before as (select {columns} from {name} b where b.{owner} in ({owners}){added}{removed}),\n"
            f"    owners as (select t.* from {table.name} t where t.{key} in ({owners})),\n"
            f"    {table.name} as (select (a.{key} is not null)::int - (b.{key} is not null)::int as change, t.* from owners t\n"
            f"      left join (select t.{key} from owners t where {table.where}) a on a.{key} = t.{key}\n"
            f"      left join (select t.{key} from owners t where {before}) b on b.{key} = t.{key}),\n"
            f"    {name} as ({signed})\n    "
        )
        yield _Write(name, operation, values, instead)
    yield _Write(name, "truncate")


def _columns(table: SearchTable, written: str, *others: str) -> str:
    """The columns of a written table that its values are made of, and others."""
    relations = [
        related for each in relations_of(table) for related in each if written == table.name or related.table == written
    ]
    names = {None, *(related.name for related in relations)}
    sql = [facet.sql for facet in table.listed if facet.related in names]
    sql += [related.on for related in relations]
    if written == table.name:
        sql += [table.where, f"t.{table.key}", f"t.{table.scope or table.key}"]
    row = "t" if written == table.name else "r"
    return ", ".join(sorted({*others, *re.findall(rf"\b{row}\.(\w+)", " ".join(sql))}))


def hashes_function(own: Iterable[OwnTable]) -> LiteralString:
    """`record_hashes`: a hash of each existing record, in these tables or of collections."""
    of_own = "".join(
        f"""  select k.type, x.id, {table.row_hash}
  from unnest(p_types, p_ids) k (type, id) join {table.rows} x on x.id = k.id where k.type = {quoted(table.name)}
  union all
"""
        for table in own
    )
    return f"""-- Written by tools/generate.py from the built-in collections.
-- Hashes of all fields of each existing record, to detect changed records.
create or replace function record_hashes(p_types text[], p_ids text[])
returns table (type text, id text, hash text)
language sql stable
as $$
{of_own}  select c.name, r.id, r.row_hash
  from unnest(p_types, p_ids) k (type, id)
  join collections c on c.name = k.type
  join collection_rows r on r.collection = c.id and r.id = k.id
$$;
"""
