"""The types that are built in: what their file declares holds of their tables, and nothing in `records/` knows their names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import quarry.records
from quarry import catalog
from quarry.civic.collections import COLLECTIONS
from quarry.collections.own_table import OwnTable
from quarry.local.sample import sample_directory
from quarry.postgres.migrate import connect
from quarry.records.searched_types import BUILT_IN

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


def test_every_relevant_record_of_a_judged_question_is_in_the_sample() -> None:
    def lines(name: str) -> list[dict[str, Any]]:
        text = (sample_directory() / "records" / f"{name}.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    known = {f"{type}:{line['id']}" for type in BUILT_IN for line in lines(BUILT_IN[type].rows)}
    for question in lines("judged"):
        assert set(question["relevant"]) <= known
        assert set(question["relevant"].values()) <= {1, 2, 3}
        assert bool(question["relevant"]) == (question["kind"] != "no_answer")
