"""What we say of a result in German and French is borne out by that result."""

from __future__ import annotations

from typing import Any

import pytest

from quarry.language.messages import language, speaking
from quarry.language.recognition import Language
from quarry.query.contract import QueryResult, ResultColumn
from quarry.query.describe import describe, lines_of, with_list
from quarry.query.phrases import Phrases
from quarry.schema.algebra import Cell, Column, Query, Result
from tests.query.test_describe import SCHEMA, TODAY
from tests.verification.answers import verify

COUNT = Column("count", "count", "number")
PRICE = Column("avg(price)", "average price", "money", "EUR")

RESULTS: list[tuple[dict[str, Any], list[Column], list[list[Cell]], int]] = [
    ({"aggregate": "count"}, [COUNT], [[12345]], 12345),
    ({"aggregate": "avg(price)"}, [PRICE], [[1234.56]], 9),
    ({"aggregate": ["avg(price)", "count"]}, [PRICE, COUNT], [[1234567.5, 2500]], 2500),
    (
        {"aggregate": {"fn": "share", "where": {"field": "urgent", "value": True}}},
        [Column("share", "share", "number", is_share=True)], [[0.375]], 1200,
    ),
    (
        {"aggregate": ["count", "avg(price)"], "group": "status"}, [Column("status", "status", "text"), COUNT, PRICE],
        [["offen", 1200, 1234.5], ["fertig", 800, 99.95], ["neu", 20, 0.05], [None, 3, 1000000.0]], 2023,
    ),
    (
        {"aggregate": "count", "group": {"field": "opened_on", "period": "month"}},
        [Column("opened_on", "opened on", "date"), COUNT],
        [["2026-03", 1500], ["2026-04", 20], ["2026-05", 3], ["2026-06", 1], ["2026-07", 2]], 1526,
    ),
    (
        {"select": ["status", "price", "opened_on"], "limit": 3},
        [Column("status", "status", "text"), Column("price", "price", "money", "EUR"), Column("opened_on", "opened on", "date")],
        [["offen", 1234.5, "2026-05-03"], ["fertig", 12.0, "2026-12-24"], ["neu", None, None]], 3,
    ),
]  # fmt: skip


@pytest.mark.parametrize("spoken", ["english", "german", "french"])
@pytest.mark.parametrize("place", range(len(RESULTS)))
def test_no_statement_of_ours_about_a_result_is_flagged(place: int, spoken: Language) -> None:
    query, columns, rows, total = RESULTS[place]
    with speaking(spoken):
        said, result = answered(query, columns, rows, total)
        found = verify(said, results=[result], today=TODAY)
        assert language() == spoken
    assert found.statements
    assert not [(each.text, each.reason) for each in found.of("flagged")]


@pytest.mark.parametrize("spoken", ["german", "french"])
def test_another_number_in_a_statement_is_flagged_in_each_language(spoken: Language) -> None:
    query, columns, rows, total = RESULTS[1]
    with speaking(spoken):
        said, result = answered(query, columns, rows, total)
        assert said.count("34,56") == 1
        wrong = verify(said.replace("34,56", "43,56"), results=[result], today=TODAY)
    assert wrong.of("flagged")


def answered(
    query: dict[str, Any], columns: list[Column], rows: list[list[Cell]], total: int
) -> tuple[str, QueryResult]:
    """The answer without a model for a result, and the result."""
    asked = Query.model_validate({"source": "tickets", **query})
    described = describe(asked, Result(columns, rows, total, False), SCHEMA, TODAY)
    shown = [
        ResultColumn(name=each.name, label=label, kind=each.kind, unit=each.unit, share=each.is_share)
        for each, label in zip(columns, described.labels, strict=True)
    ]
    result = QueryResult(
        query=asked, sentence=described.sentence, columns=shown, rows=rows, total=total, truncated=False,
        filters=described.filters, groups=described.groups,
    )  # fmt: skip
    phrases = Phrases(SCHEMA, SCHEMA.sources["tickets"], TODAY)
    return "\n".join(with_list(result.sentence, [*lines_of(result, phrases)])), result
