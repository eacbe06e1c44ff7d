"""What is known of an answer by the query that was read, and what is doubted without one."""

from __future__ import annotations

from typing import Any

from quarry.query.algebra import Cell, Query
from quarry.query.contract import QueryResult, ResultColumn
from quarry.records.by_reader import doubted, lines_of
from quarry.records.candidates import RecordText
from quarry.records.evidence import EvidenceSource
from quarry.records.facts import Facts


def result(rows: list[list[Cell]], names: list[str], **query: Any) -> QueryResult:
    columns = [ResultColumn(name=each, label=each, kind="text") for each in names]
    asked = Query.model_validate({"source": "boats", **query})
    return QueryResult(
        query=asked, sentence="Boats.", columns=columns, rows=rows, total=len(rows), truncated=False, filters=[]
    )


def test_each_of_several_numbers_has_its_own_line() -> None:
    numbers = result([[4, 9]], ["lowest price", "highest price"], aggregate=["min(price)", "max(price)"])
    assert list(lines_of(numbers)) == ["- boats – lowest price: 4", "- boats – highest price: 9"]


def test_a_value_that_several_rows_share_is_one_line_that_counts_them() -> None:
    harbours = result([["Oslo"], ["Bergen"], ["Oslo"]], ["harbour"], select=["harbour"])
    assert list(lines_of(harbours)) == ["- Oslo – rows: 2", "- Bergen – rows: 1"]
    single = result([["Oslo"], ["Bergen"]], ["harbour"], select=["harbour"])
    assert list(lines_of(single)) == ["- Oslo", "- Bergen"]


def source(body: str) -> EvidenceSource:
    text = RecordText("boats", "1", "Tern", body, None, None, None, None, None, "")
    return EvidenceSource(1, text, 0.8, 1.0)


def test_rows_of_values_are_in_doubt_where_no_query_was_read_for_sure() -> None:
    row = source("Tern\nharbour: Oslo\nbuilt: 1998")
    assert "“moored” was not read" in doubted(Facts(), [row], ["moored"]).doubt
    prose = source("Tern\nShe was laid up in Oslo for two winters because nobody could pay for the repair of her hull.")
    assert not doubted(Facts(), [row, prose], ["moored"]).doubt
