"""A measure that a source declares is named by every door."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from quarry.collections.declaration import DeclarationError
from tests.collections.test_search import filled
from tests.conftest import client_of
from tests.query.desk import asked

TABLES = """
create schema depot;
create table depot.deliveries (
  id int primary key, region text not null,
  state text not null, fee numeric not null, fuel numeric not null, left_on date not null
);
insert into depot.deliveries values
  (1, 'North', 'done', 100, 40, '2026-02-01'), (2, 'North', 'lost', 50, 10, '2026-03-01'),
  (3, 'South', 'done', 70, 30, '2026-03-05'),
  (4, 'South', 'done', 30, 5, '2025-03-05'), (5, 'West', 'done', 20, 5, '2026-04-05');
"""
DECLARED = """
[collections.deliveries]
source = "depot.deliveries"
date = "left_on"
[collections.deliveries.facets]
region = "value"
state = "value"
fee = { kind = "money", currency = "EUR" }
fuel = { kind = "money", currency = "EUR" }
[collections.deliveries.measures]
revenue = { sum = "fee", where = "state != 'lost'", unit = "EUR", synonyms = ["turnover", "net sales"] }
margin = { ratio = [{ sum = "fee - fuel" }, "revenue"], unit = "%" }
"""

WRONG = """
[collections.deliveries.measures]
growth = { change = ["revenue", { previous = "revenue" }] }
odd = { sum = "fee - weight" }
"""
"""`growth` is right: it goes from period to period."""

BY_MONTH = [["2026-01", 0], ["2026-02", 100], ["2026-03", 70], ["2026-04", 20]]


@pytest.fixture(scope="module")
def client(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with filled(server_url, migrated_template, tmp_path_factory.mktemp("depot"), DECLARED, TABLES) as url:
        with client_of(url) as client:
            yield client


@pytest.mark.parametrize(
    ("question", "measure", "rows"),
    [
        ("turnover by region in 2026", "revenue", [["North", 100], ["South", 70], ["West", 20]]),
        ("What was the revenue in 2026?", "revenue", [[190]]),
        ("net sales per region", "revenue", [["North", 100], ["South", 100], ["West", 20]]),
        ("How high is the turnover of deliveries in the region South?", "revenue", [[100]]),
        ("turnover by month in 2026", "revenue", BY_MONTH),
        ("margin by region", "margin", [["North", 1], ["South", 0.65], ["West", 0.75]]),
    ],
)
def test_a_question_that_names_a_measure_is_answered_by_it(
    client: TestClient, question: str, measure: str, rows: list[list[object]]
) -> None:
    explained = client.post("/query/explain", json={"question": question, "sources": ["deliveries"]}).json()
    [best, *_] = explained["queries"]
    assert best["query"]["aggregate"] == [measure], explained["queries"]
    assert sorted(asked(client, best["query"])["rows"], key=str)[: len(rows)] == rows


def test_an_answer_without_a_model_gives_the_measure_and_its_query(client: TestClient) -> None:
    body = {"question": "What is the turnover by region in 2026?", "types": ["deliveries"]}
    response = client.post("/records/ask", json=body)
    assert '"revenue"' in response.text, response.text[:3000]


def test_a_query_names_a_measure_by_its_synonym_and_the_sources_list_it(client: TestClient) -> None:
    result = asked(client, {"source": "deliveries", "aggregate": ["turnover"], "group": ["region"]})
    assert result["rows"][0] == ["North", 100]
    assert "revenue" in result["sentence"].lower()
    listed = client.get("/collections").json()
    assert '"turnover"' in str(listed).replace("'", '"')


def test_apply_refuses_a_measure_that_cannot_be_computed(
    server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    declared = DECLARED.replace("[collections.deliveries.measures]", WRONG.strip()).replace(
        'state = "value"', 'state = "value"\nweight = { kind = "number", column = "id", unit = "kg" }'
    )
    with pytest.raises(DeclarationError) as error:
        with filled(server_url, migrated_template, tmp_path_factory.mktemp("wrong"), declared, TABLES):
            pass
    [wrong] = str(error.value).splitlines()
    assert (
        "collections.deliveries.measures.odd: fee is in EUR, weight in kg: you can only add or subtract numbers of the same unit"
        in wrong
    )
