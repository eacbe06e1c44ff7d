"""What is known of an answer by the query that was read, and what is doubted without one."""

from __future__ import annotations

import datetime
from typing import Any

from quarry.agent.results import lines_of
from quarry.query.algebra import Cell, Query
from quarry.query.contract import QueryResult, ResultColumn
from quarry.query.phrases import Phrases
from quarry.query.schema import Schema, Source
from quarry.records.answer import doubted
from quarry.records.evidence import EvidenceSource, RecordText
from quarry.records.extraction import Facts


def lines(columns: dict[str, str], rows: list[list[Cell]], **query: Any) -> list[str]:
    """The lines of a result whose columns have these names and kinds."""
    asked = Query.model_validate({"source": "boats", **query})
    found = [ResultColumn(name=name, label=name, kind=kind) for name, kind in columns.items()]
    result = QueryResult(
        query=asked, sentence="Boats.", columns=found, rows=rows, total=len(rows), truncated=False, filters=[]
    )
    boats = Source("boats", "Boats", ("boat",), "boats", lambda row: "", lambda row: "", {})
    return list(lines_of(result, Phrases(Schema({"boats": boats}), boats, datetime.date(2025, 1, 1)), 9))


def test_each_of_several_numbers_has_its_own_line() -> None:
    prices = {"lowest price": "number", "highest price": "number"}
    assert lines(prices, [[4, 9]], aggregate=["min(price)", "max(price)"]) == [
        "- lowest price: 4",
        "- highest price: 9",
    ]


def test_a_value_that_several_rows_share_is_one_line_that_counts_them() -> None:
    harbour = {"harbour": "text"}
    assert lines(harbour, [["Oslo"], ["Bergen"], ["Oslo"]], select=["harbour"]) == [
        "- Oslo: 2 boats",
        "- Bergen: 1 boat",
    ]
    assert lines(harbour, [["Oslo"], ["Bergen"]], select=["harbour"]) == ["- Oslo", "- Bergen"]


def test_groups_are_written_as_a_person_would() -> None:
    months = {"group": [{"field": "built", "period": "month"}], "aggregate": ["count"]}
    assert lines({"built": "date", "count": "number"}, [["2025-01", 4]], **months) == ["- January 2025: 4 boats"]


def source(body: str) -> EvidenceSource:
    text = RecordText("boats", "1", "Tern", body, None, None, None, None, None, "")
    return EvidenceSource(1, text, 0.8, 1.0)


def test_rows_of_values_are_in_doubt_where_no_query_was_read_for_sure() -> None:
    row = source("Tern\nharbour: Oslo\nbuilt: 1998")
    assert "“moored” was not read" in doubted(Facts(), [row], ["moored"]).doubt
    prose = source("Tern\nShe was laid up in Oslo for two winters because nobody could pay for the repair of her hull.")
    assert not doubted(Facts(), [row, prose], ["moored"]).doubt
