"""What people ask of a weaving studio's two tables: rows by conditions that only columns tell, their extremes, who did most."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.collections.test_search import served
from tests.pairs import database_sql
from tests.records.asking import answer_of, ask

STUDIO = database_sql("pinned_studio")
DECLARED = """
[collections.sittings]
source = "sittings"
text = { remark = "B" }
date = "held_on"
[collections.sittings.facets]
observer = "value"
loom = "value"
pattern = "value"
minutes = { kind = "number", unit = "minutes" }

[collections.gear]
source = "gear"
title = "name"
text = { name = "A", about = "B" }
cite = ["about"]
[collections.gear.facets]
kind = "value"
price_per_day = "money"
deposit = "money"
parts = "number"
"""


@pytest.fixture(scope="module")
def client(shared_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with served(shared_url, STUDIO, DECLARED, tmp_path_factory.mktemp("studio")) as client:
        yield client


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Which loom was used most?", "by loom: Draw Loom 27"),
        ("Who used the Draw Loom most?", "by observer: Ona Tamm"),
        ("Who observed most often?", "by observer: Ona Tamm 20"),
        ("Who made the most sittings?", "by observer: Ona Tamm 20"),
        ("Which sitting took longest?", "The highest minutes of 40 sittings is"),
        ("Which sitting had the shortest duration?", "The lowest minutes of 40 sittings is 11"),
        ("How many minutes did Edda Kok take in total?", "The total minutes of 10 sittings"),
        ("Which gear is cheapest per day?", "is 2: Niddy noddy"),
        ("the most expensive gear per day", "is 22: Warping mill"),
        ("Which gear costs the most?", "is 22: Warping mill"),
        ("Which gear costs least per day?", "is 2: Niddy noddy"),
    ],
)
def test_the_most_and_the_least_are_told(client: TestClient, question: str, told: str) -> None:
    assert told in answer_of(ask(client, question)).split("\n")[0]


@pytest.mark.parametrize("question", ["Which kind is cheapest per day?", "Which observer took the most?"])
def test_a_most_of_what_no_row_tells_is_no_number(client: TestClient, question: str) -> None:
    assert "aggregation" not in [event["type"] for event in ask(client, question)]


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Which wheels have more than 20 parts?", ["Spinning wheel", "Castle wheel"]),
        ("Which gear costs less than 12 per day?", ["Spinning wheel", "Castle wheel", "Niddy noddy"]),
    ],
)
def test_all_rows_that_meet_the_conditions_are_told_and_no_word_of_these_is_missing(
    client: TestClient, question: str, titles: list[str]
) -> None:
    answer = answer_of(ask(client, question))
    assert "hold nothing" not in answer
    assert all(title in answer for title in titles)
    assert "Warping mill" not in answer


def test_who_did_it_in_a_month_is_told_where_it_was_done_then_and_refused_where_not(client: TestClient) -> None:
    assert "hold nothing" not in answer_of(ask(client, "Who held sittings in March 2031?"))
    assert answer_of(ask(client, "Who held sittings in March 1931?")) == "The records hold no sittings in March 1931."


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Which loom was used for Twill on 14 January 2031?", "loom: Draw Loom"),
        ("What is the deposit for the carding drum?", "Carding drum – deposit: 90"),
        ("How much is the castle wheel?", "Castle wheel – price per day: 11.5"),
        ("How much is the deposit for the castle wheel?", "Castle wheel – deposit: 75"),
    ],
)
def test_the_value_that_is_asked_for_comes_first(client: TestClient, question: str, value: str) -> None:
    assert value in answer_of(ask(client, question)).split("\n")[0]
