"""A question for a number, asked in words, and the Query that its answer carries: `POST /query` gives the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.conftest import client_of, clone_database
from tests.records.asking import ask, of_type
from tests.records.test_reckoning import NUMBERS, fill

OF_RECORDS = (
    "How many motions carried?", "How many motions failed in 2024?", "How many motions did not carry?",
    "How many motions by result?", "Who moved the most motions?", "Which movers moved the fewest motions?",
    "How many different movers are there?", "motions per month in 2025", "How many motions each week of March 2024?",
    "How many motions carried per quarter since 2024?", "In which month were most motions moved?",
    "How many motions in June and July of 2024 and 2025?", "How many matters are there by status?",
    "How many motions are there without a mover?", "How many transcript segments mention the elm?",
    "How many matters were filed in the second half of 2024?", "How many motions on 1 March 2024?",
    "How many motions carried in the first quarter of 2024 by mover?", "How many ordinances are there?",
)  # fmt: skip
OF_COMPANIES = (
    "How many startups are there?", "How many companies are there by country?", "How many companies were founded since 2019?",
    "How many different sectors are there?", "How many companies in Germany were acquired?",
)  # fmt: skip
OF_CAMPAIGNS = (
    "How many campaigns ran by email?", "Which channels are used most?", "How many campaigns were there each month?",
    "How many campaigns say “free”?",
)  # fmt: skip
SHOWN_MAX = 50


@pytest.fixture(scope="module")
def sample(server_url: str, sample_template: str) -> Iterator[TestClient]:
    with clone_database(server_url, sample_template) as url, client_of(url) as client:
        yield client


def result_of(client: TestClient, aggregation: Mapping[str, Any]) -> dict[str, Any]:
    """The result of the query that an answer carries."""
    response = client.post("/query", json=aggregation["query"])
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()
    return result


def numbers_of(aggregation: Mapping[str, Any]) -> Any:
    """What an event says: of groups their numbers, in any order, else the number."""
    query, of = aggregation["query"], aggregation.get("of")
    if query.get("group") or query.get("select"):
        return sorted(_number(group[of] if of else group["count"]) for group in aggregation["groups"])
    return _number(aggregation["value"] if of else aggregation["total"])


def numbers_in(result: Mapping[str, Any], *, of: bool) -> Any:
    """The same of a query's result."""
    query, rows = result["query"], result["rows"]
    if query.get("select"):
        return sorted(_number(row[1]) for row in rows)
    return sorted(_number(row[2 if of else 1]) for row in rows) if query.get("group") else _number(rows[0][0])


def _number(value: Any) -> float:
    return round(float(value or 0), 6)


def check(client: TestClient, aggregation: Mapping[str, Any]) -> None:
    """The query gives the same numbers, in the same groups, over as many rows."""
    result, of = result_of(client, aggregation), bool(aggregation.get("of"))
    assert aggregation["sentence"]
    if len(aggregation["groups"]) < SHOWN_MAX:
        assert numbers_in(result, of=of) == numbers_of(aggregation)
    if result["query"].get("group") or of:
        assert result["total"] == aggregation["total"]


@pytest.mark.parametrize("question", OF_RECORDS)
def test_a_count_of_records_is_that_of_its_query(sample: TestClient, question: str) -> None:
    [aggregation] = of_type(ask(sample, question), "aggregation")
    check(sample, aggregation)


@pytest.mark.parametrize("question", OF_COMPANIES)
def test_a_count_of_companies_is_that_of_its_query(sample: TestClient, question: str) -> None:
    response = sample.post("/companies/chat", json={"messages": [{"role": "user", "content": question}]})
    check(sample, json.loads(response.text.splitlines()[-1])["data"]["aggregation"])


@pytest.mark.parametrize("question", OF_CAMPAIGNS)
def test_what_campaigns_are_found_by_is_a_query(sample: TestClient, question: str) -> None:
    answer = sample.post("/campaigns/chat", json={"message": question}).json()
    result = result_of(sample, answer["aggregation"])
    assert result["total"] == answer["total"]
    assert answer["aggregation"]["sentence"] == result["sentence"]


def test_campaigns_found_by_their_meaning_have_no_query(sample: TestClient) -> None:
    answer = sample.post("/campaigns/chat", json={"message": "campaigns about a good night's sleep"}).json()
    assert answer["total"]
    assert answer["aggregation"].get("query") is None


def test_a_company_that_the_data_does_not_hold_has_no_query(sample: TestClient) -> None:
    message = {"role": "user", "content": "How many tickets did Ada Palmer close in 2023?"}
    response = sample.post("/companies/chat", json={"messages": [message]})
    assert json.loads(response.text.splitlines()[-1])["data"]["aggregation"].get("query") is None


def test_every_number_of_a_teams_own_tables_is_that_of_a_query(server_url: str, migrated_template: str) -> None:
    with clone_database(server_url, migrated_template) as url:
        fill(url)
        with client_of(url) as client:
            for question in NUMBERS:
                [aggregation] = of_type(ask(client, question), "aggregation")
                if aggregation["by"] == "type":
                    assert aggregation["query"] is None, "a query is of one source"
                else:
                    check(client, aggregation)
