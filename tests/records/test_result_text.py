"""What a result says to those who check an answer against it."""

from __future__ import annotations

import datetime

from quarry.agent.results import lines_of, result_text
from quarry.query.algebra import Cell, Query
from quarry.query.contract import QueryResult, ResultColumn
from quarry.query.phrases import Phrases
from quarry.query.schema import Schema, Source
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


def test_a_list_says_once_what_the_sentence_does_not_say() -> None:
    source = Source("track", "Tracks", ("track",), "tracks", lambda row: "id", lambda row: "name", {})
    phrases = Phrases(Schema({"track": source}), source, datetime.date(2026, 1, 1))
    found = result(["Rock", 30], ["Jazz", 8], ["Folk", 2], columns=[("genre", None), ("count", None)])
    grouped = found.model_copy(
        update={"query": Query.model_validate({"source": "track", "group": "genre", "aggregate": "count"})}
    )
    assert list(lines_of(grouped, phrases)) == []
    more = grouped.model_copy(update={"rows": [*found.rows, ["Soul", 1]]})
    assert list(lines_of(more, phrases)) == ["- Rock (30)", "- Jazz (8)", "- Folk (2)", "- Soul (1)"]
    rows = found.model_copy(
        update={"query": Query(source="track", select=("genre", "count")), "rows": found.rows[:1] * 2}
    )
    assert list(lines_of(rows, phrases)) == ["- Rock (count: 30), 2 tracks"]
