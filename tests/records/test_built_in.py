"""The types that are built in: what their file declares holds of their tables, and nothing in `records/` knows their names."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import quarry.records
from quarry.catalog import LOADABLE
from quarry.collections.catalog_reading import relations_of_schema
from quarry.collections.checking import check
from quarry.collections.declaration import Lines, read_declarations
from quarry.collections.facets import OwnTable, own_tables
from quarry.postgres.migrate import connect
from quarry.records.tables import COLLECTIONS
from tests.collections.made import catalog

SEARCHED = [each for each in COLLECTIONS if each.declaration.text]

PACKAGE = Path(quarry.records.__file__).parent.parent
CODE = sorted({*Path(quarry.records.__file__).parent.glob("*.py")} - {Path(quarry.records.tables.__file__)})


@pytest.mark.parametrize("file", sorted(PACKAGE.glob("*/quarry.toml")), ids=lambda file: file.parent.name)
def test_what_is_declared_of_our_tables_passes_the_check_of_a_users_own(file: Path, shared_sample_url: str) -> None:
    with connect(shared_sample_url) as connection:
        [(schema,)] = connection.execute("select current_schema()").fetchall()
        relations = relations_of_schema(connection, schema)
    public = [
        replace(
            each,
            schema="public",
            is_row_security_active=False,
            references=tuple(replace(other, target=("public", other.target[1])) for other in each.references),
        )
        for each in relations
    ]
    text = file.read_text()
    found = check(read_declarations(text), catalog(*public), Lines(text, file.name), own_schema=None)
    # a column that is made for a facet is no field of a record
    assert [each for each in found.errors if "is hidden, and would be shown" not in each] == []
    arrays = {(each.name, column.name): column.is_array for each in relations for column in each.columns}
    for each in own_tables(str(file), [*LOADABLE.values()]):
        for name, used in each.columns.items():
            assert used.path or name in each.declaration.facets or used.is_array == arrays[each.rows, name]


@pytest.mark.parametrize("collection", SEARCHED, ids=lambda each: each.name)
def test_a_table_holds_the_words_of_the_columns_that_are_declared(collection: OwnTable, shared_sample_url: str) -> None:
    with connect(shared_sample_url) as connection:
        row = connection.execute(
            "select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d join pg_attribute a on (a.attrelid, a.attnum) ="
            " (d.adrelid, d.adnum) where d.adrelid = to_regclass(%s) and a.attname = 'text_search'",
            [collection.rows],
        ).fetchone()
    assert row is not None
    assert {*collection.declaration.text} == {*re.findall(r"\w+", row[0])} & {*LOADABLE[collection.rows].columns}


def test_no_code_knows_a_type_or_a_facet_of_them_by_name() -> None:
    names = {name for each in COLLECTIONS for name in (each.name, each.rows, *each.declaration.facets)}
    used_by_all = {"date", "title", "body", "meeting", "document", "status", "category", "result"}
    known = rf"""["'](?:{"|".join(sorted(names - used_by_all))})["']"""
    assert [path.name for path in CODE if re.search(known, path.read_text())] == []
