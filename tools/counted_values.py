"""Generates the SQL that counts the values of a searched table and hashes records, from the declared facets and tables.

`python -m tools.counted_values` writes it into sql/functions; `python -m tools.generate` does, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import LiteralString

from quarry.collections.facets import OwnTable
from quarry.collections.relations import literal
from quarry.domains import modules
from quarry.records.tables import COLLECTIONS
from quarry.retrieval.values import relations_of, values_function
from quarry.schema.source import Source

ROOT = Path(__file__).resolve().parents[1]


def write_functions() -> None:
    """Write the functions that differ from what is declared."""
    for path, text in declared_functions().items():
        if not path.exists() or path.read_text() != text:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            print(f"wrote {path.relative_to(ROOT)}")


def declared_functions() -> dict[Path, str]:
    """The functions that list and count the values of the searched tables, and the rows they cover, by path."""
    folder = ROOT / "sql" / "functions"
    searched = [each for each in COLLECTIONS if each.declaration.text]
    hashes = {folder / "records" / "record_hashes.sql": hashes_function(searched)}
    return hashes | {
        folder / domain / f"{table.name}_values.sql": values_file(table)
        for domain, facets in modules("facets").items()
        for table in facets.SEARCHED
    }


def values_file(table: Source) -> str:
    """`<table>_values`, and the triggers that count what writes change in it."""
    related = {each.rows or "": each for relations in relations_of(table) for each in relations}
    all_writes = ["insert", "update", "delete", "truncate"]
    # rows that belong to a row are deleted with it, before the statement ends
    own_writes = ["insert", "update", "delete each row", "truncate"]
    has_owned = any(each.owner for each in related.values())
    triggers = [_triggers(table, table.name, own_writes if has_owned else all_writes)]
    for name, each in related.items():
        if each.owner:
            triggers.append(_triggers(table, name, all_writes, "id", each.owner))
        else:  # a row that others refer to exists before and after them
            triggers.append(_triggers(table, name, ["update"], each.on("t", "r")))
    return "".join([values_function(table), *triggers])


def _triggers(table: Source, changed_table: str, operations: Sequence[str], *relation: str) -> str:
    columns = _columns(table, changed_table, *(["id", relation[1]] if len(relation) > 1 else []))
    arguments = ", ".join(map(literal, (table.name, changed_table, f"{{{','.join(operations)}}}", columns, *relation)))
    return f"select keep_values_counted({arguments});\n"


def _columns(table: Source, changed_table: str, *others: str) -> str:
    """The columns of a written table that its values are made of, and others."""
    relations = [
        related
        for each in relations_of(table)
        for related in each
        if changed_table == table.name or related.rows == changed_table
    ]
    names = {None, *(related.name for related in relations)}
    sql = [each.value for each in table.listed if (each.related.name if each.related else None) in names]
    sql += [related.on("t", "r") for related in relations]
    if changed_table == table.name:
        sql += [table.dictionary_rows, table.key("t"), table.owner]
    row = "t" if changed_table == table.name else "r"
    return ", ".join(sorted({*others, *re.findall(rf"\b{row}\.(\w+)", " ".join(sql))}))


def hashes_function(own: Iterable[OwnTable]) -> LiteralString:
    """`record_hashes`: a hash of each existing record, in these tables or of collections."""
    of_own = "".join(
        f"""  select k.type, x.id, {table.row_hash}
  from unnest(p_types, p_ids) k (type, id) join {table.rows} x on x.id = k.id where k.type = {literal(table.name)}
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


if __name__ == "__main__":
    write_functions()
