"""What a result says in an answer."""

from __future__ import annotations

import datetime
from typing import Any

from quarry.query.contract import QueryResult, ResultColumn
from quarry.query.describe import lines_of
from quarry.query.phrases import Phrases
from quarry.schema.algebra import Cell, Query
from quarry.schema.source import Schema, Source


def lines(columns: dict[str, str], rows: list[list[Cell]], **query: Any) -> list[str]:
    """The lines of a result whose columns have these names and kinds."""
    asked = Query.model_validate({"source": "boats", **query})
    found = [ResultColumn(name=name, label=name, kind=kind) for name, kind in columns.items()]
    result = QueryResult(
        query=asked, sentence="Boats.", columns=found, rows=rows, total=len(rows), truncated=False, filters=[]
    )
    boats = Source("boats", "Boats", ("boat",), "boats", lambda row: "", lambda row: "", {})
    return list(lines_of(result, Phrases(Schema({"boats": boats}), boats, datetime.date(2025, 1, 1)), 9))


def test_a_value_that_several_rows_share_is_one_line_that_counts_them() -> None:
    harbour = {"harbour": "text"}
    assert lines(harbour, [["Oslo"], ["Bergen"], ["Oslo"]], select=["harbour"]) == [
        "- Oslo – number of boats: 2",
        "- Bergen – number of boats: 1",
    ]
    assert lines(harbour, [["Oslo"], ["Bergen"]], select=["harbour"]) == ["- Oslo", "- Bergen"]


def test_groups_that_the_sentence_does_not_name_are_written_as_a_person_would() -> None:
    months = {"group": [{"field": "built", "period": "month"}], "aggregate": ["count"]}
    rows: list[list[Cell]] = [["2025-01", 4], ["2025-02", 0], ["2025-03", 1], ["2025-04", 2]]
    kinds = {"built": "date", "count": "number"}
    assert lines(kinds, rows, **months)[::2] == ["- January 2025: 4 boats", "- March 2025: 1 boat"]
    assert lines(kinds, rows[:3], **months) == []
