"""What a query gives, as the lines of an answer."""

from __future__ import annotations

from typing import Any

from quarry.query.algebra import Query
from quarry.query.contract import QueryResult, ResultColumn
from quarry.query.result import Cell
from quarry.records.by_reader import lines_of


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
