"""What a result says to those who check an answer against it."""

from __future__ import annotations

from quarry.agent.results import result_text
from quarry.query.algebra import Cell, Query
from quarry.query.contract import QueryResult, ResultColumn
from quarry.records.support import support


def result(*rows: list[Cell], columns: list[tuple[str, str | None]]) -> QueryResult:
    made = [ResultColumn(name=name, label=name, kind="number", unit=unit) for name, unit in columns]
    query = Query(source="track")
    return QueryResult(
        query=query, sentence="", columns=made, rows=list(rows), total=40, truncated=False, filters=[], spans=None
    )


def is_supported(sentence: str, found: QueryResult) -> bool:
    return not support(sentence, {}, results=[result_text(found)]).unsupported


def test_numbers_may_be_rounded_and_told_in_another_unit() -> None:
    found = result(["Moby Dick", 766_354], columns=[("name", None), ("length", "milliseconds")])
    assert is_supported("Moby Dick lasts 12.8 minutes.", found)
    assert is_supported("Moby Dick lasts 766,354 milliseconds.", found)
    assert not is_supported("Moby Dick lasts 14.8 minutes.", found)


def test_an_amount_without_a_unit_is_not_converted() -> None:
    assert not is_supported("The total is 12.8.", result([766_354], columns=[("total", None)]))


def test_the_number_of_groups_is_a_number_of_the_result() -> None:
    found = result(["Rock", 30], ["Jazz", 8], ["Folk", 2], columns=[("genre", None), ("count", None)])
    assert is_supported("The 40 tracks fall into 3 genres.", found)
    assert not is_supported("The 40 tracks fall into 4 genres.", found)
