"""The types that are built in: what their file declares holds of their tables, and nothing in `records/` knows their names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import quarry.records
from quarry import catalog
from quarry.civic.collections import COLLECTIONS
from quarry.collections.own_table import OwnTable
from quarry.postgres.migrate import connect

SEARCHED = [each for each in COLLECTIONS if each.declaration.text]

CODE = sorted(Path(quarry.records.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("collection", COLLECTIONS, ids=lambda each: each.name)
def test_the_columns_that_are_declared_are_there(collection: OwnTable, shared_sample_url: str) -> None:
    with connect(shared_sample_url) as connection:
        columns = dict(
            connection.execute(
                "select attname, attndims > 0 from pg_attribute where attrelid = to_regclass(%s) and attnum > 0",
                [collection.rows],
            ).fetchall()
        )
    assert {name: used.is_array for name, used in collection.columns.items()}.items() <= columns.items()


@pytest.mark.parametrize("collection", SEARCHED, ids=lambda each: each.name)
def test_a_table_holds_the_words_of_the_columns_that_are_declared(collection: OwnTable, shared_sample_url: str) -> None:
    with connect(shared_sample_url) as connection:
        row = connection.execute(
            "select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d join pg_attribute a on (a.attrelid, a.attnum) ="
            " (d.adrelid, d.adnum) where d.adrelid = to_regclass(%s) and a.attname = 'text_search'",
            [collection.rows],
        ).fetchone()
    assert row is not None
    assert {*collection.declaration.text} == {*re.findall(r"\w+", row[0])} & {
        *catalog.LOADABLE[collection.rows].columns
    }


def test_no_code_knows_a_type_or_a_facet_of_them_by_name() -> None:
    names = {name for each in COLLECTIONS for name in (each.name, each.rows, *each.declaration.facets)}
    used_by_all = {"date", "title", "body", "meeting", "document", "status", "category", "result"}
    known = rf"""["'](?:{"|".join(sorted(names - used_by_all))})["']"""
    assert [path.name for path in CODE if re.search(known, path.read_text())] == []
