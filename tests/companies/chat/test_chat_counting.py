"""Questions for a number of companies, their groups, the newest and the largest: answered exactly, without a model."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.companies.chat.chatting import chat, final


def number(url: str, query: str) -> Any:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(
    ("question", "where"),
    [
        ("how many fintech companies are there", "'Fintech' = any(sectors)"),
        ("how many companies were acquired", "status = 'acquired'"),
        ("how many companies are in Scandinavia", "hq_country in ('Denmark', 'Norway', 'Sweden')"),
        ("how many companies in London were founded after 2015", "hq_city = 'London' and founded_year > 2015"),
    ],
)
def test_a_count_is_that_of_all_rows(client: TestClient, shared_sample_url: str, question: str, where: str) -> None:
    counted = number(shared_sample_url, f"select count(*) from companies where {where}")
    answer = final(chat(client, question))
    assert answer["content"].startswith(f"{counted} compan")
    aggregation = answer["aggregation"]
    assert aggregation["query"]["source"] == "companies"
    assert str(counted) in aggregation["sentence"]
    expected = {"groups": [], "total": counted, "other": 0, "overlapping": False}
    assert {name: aggregation[name] for name in expected} == expected
    assert len(answer["references"]) == min(counted, 10)
    assert all(reference["misses"] == [] for reference in answer["references"])


def test_a_region_is_named_as_the_question_names_it_with_the_number_of_its_countries(client: TestClient) -> None:
    for answer in (final(chat(client, "how many companies are in Europe")), final(chat(client, "lending in Europe"))):
        [label] = [chip["label"] for chip in answer["understood"]["chips"] if "Europe" in chip["label"]]
        assert label == "in Europe (28 countries)"


def test_what_was_calculated_is_not_called_a_number_of_companies(client: TestClient, shared_sample_url: str) -> None:
    total = number(shared_sample_url, "select sum(total_funding_usd) from companies where 'Fintech' = any(sectors)")
    answer = final(chat(client, "total funding of fintech companies"))["aggregation"]
    assert (answer["of"], answer["value"]) == ("sum(funding)", float(total))
    assert answer["total"] == number(shared_sample_url, "select count(*) from companies where 'Fintech' = any(sectors)")
    groups = final(chat(client, "average funding by sector"))["aggregation"]
    average = number(shared_sample_url, "select avg(total_funding_usd) from companies where 'Biotech' = any(sectors)")
    assert (groups["of"], groups["groups"][0]["value"]) == ("avg(funding)", "Biotech")
    assert groups["groups"][0].get("count") is None
    assert groups["groups"][0]["avg(funding)"] == pytest.approx(float(average))
