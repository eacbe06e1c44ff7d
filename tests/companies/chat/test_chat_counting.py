"""Questions for a number of companies, their groups, the newest and the largest: answered exactly, without a model."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.companies.chat.chatting import chat, end_reason, final, found
from tests.fakes.openai_server import FakeOpenAI


def number(url: str, query: str) -> Any:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(
    ("question", "where"),
    [
        ("how many fintech companies are there", "'Fintech' = any(sectors) and status = 'startup'"),
        ("how many companies were acquired", "status = 'acquired'"),
        ("how many startups are in Germany", "hq_country = 'Germany' and status = 'startup'"),
        (
            "number of insurance startups without pet insurance",
            "'Insurance' = any(sectors) and not 'Pet Insurance' = any(categories) and status = 'startup'",
        ),
    ],
)
def test_a_count_is_that_of_all_rows(client: TestClient, shared_sample_url: str, question: str, where: str) -> None:
    counted = number(shared_sample_url, f"select count(*) from companies where {where}")
    answer = final(chat(client, question))
    assert answer["content"].startswith(f"There are **{counted}** ")
    aggregation = answer["aggregation"]
    assert aggregation["query"]["source"] == "companies"
    assert str(counted) in aggregation["sentence"]
    expected = {"groups": [], "total": counted, "other": 0, "overlapping": False}
    assert {name: aggregation[name] for name in expected} == expected
    assert len(answer["references"]) == min(counted, 10)
    assert all(reference["misses"] == [] for reference in answer["references"])


def test_of_what_was_only_assumed_both_numbers_are_told(client: TestClient, shared_sample_url: str) -> None:
    every = number(shared_sample_url, "select count(*) from companies where 'Fintech' = any(sectors)")
    content = final(chat(client, "how many fintech companies are there"))["content"]
    assert content.endswith(f"Counting companies of every status, there are {every}.")


def test_what_is_not_there_is_none_and_each_condition_s_cost_is_told(
    client: TestClient, shared_sample_url: str
) -> None:
    startups = number(shared_sample_url, "select count(*) from companies where status = 'startup'")
    answer = final(chat(client, "how many startups are in Antofagasta"))
    assert answer["content"] == f"There are **0** startups in Antofagasta. Without “in Antofagasta”, {startups}."
    assert answer["references"] == []


def test_values_that_differ_are_counted(client: TestClient, shared_sample_url: str) -> None:
    cities = number(
        shared_sample_url, "select count(distinct folded_value(hq_city)) from companies where status = 'startup'"
    )
    aggregation = final(chat(client, "how many different cities"))["aggregation"]
    assert (aggregation["by"], aggregation["total"]) == ("city", cities)


def test_groups_come_with_the_most_first_and_years_as_they_passed(client: TestClient, shared_sample_url: str) -> None:
    most = number(
        shared_sample_url,
        "select count(*) from companies, unnest(sectors) s where status = 'startup' group by s order by 1 desc limit 1",
    )
    by_sector = final(chat(client, "most common sectors"))["aggregation"]
    assert by_sector["by"] == "sector"
    assert by_sector["groups"][0]["count"] == most
    assert by_sector["overlapping"]
    assert sum(group["count"] for group in by_sector["groups"]) + by_sector["other"] > by_sector["total"]
    by_year = final(chat(client, "companies by year"))["aggregation"]
    assert sum(group["count"] for group in by_year["groups"]) + by_year["other"] == by_year["total"]
    years = [group["value"] for group in by_year["groups"] if group["value"] is not None]
    assert years == sorted(years)
    assert len(years) > 5


def test_who_groups_by_status_means_companies_of_every_status(client: TestClient) -> None:
    groups = final(chat(client, "how many companies by status"))["aggregation"]["groups"]
    assert {group["value"] for group in groups} == {"startup", "acquired", "public", "closed"}


def test_the_largest_come_first_with_what_they_have(client: TestClient, shared_sample_url: str) -> None:
    largest = number(
        shared_sample_url,
        "select id from companies where hq_country = 'Germany' and status = 'startup'"
        " order by employee_count desc nulls last limit 1",
    )
    events = chat(client, "the three largest startups in Germany")
    companies = [final(events)["companiesById"][id] for id in found(events)]
    assert companies[0]["id"] == largest
    assert len(companies) == 3
    sizes = [company["employee_count"] for company in companies]
    assert sizes == sorted(sizes, reverse=True)
    assert f"with {sizes[0]} employees" in final(events)["content"]


def test_what_companies_are_about_is_no_number_and_it_says_so(client: TestClient) -> None:
    answer = final(chat(client, "how many companies make heat pumps for terraced houses"))
    assert answer.get("aggregation") is None
    assert answer["content"].startswith("What companies are about is not recorded as a value")
    assert answer["references"]


def test_who_is_named_is_not_counted(client: TestClient) -> None:
    events = chat(client, "when was Tidewage founded")
    assert (found(events), end_reason(events)) == (["c-tidewage"], "exact_match")


def test_no_model_is_asked_for_a_number(model_client: TestClient, model: FakeOpenAI) -> None:
    assert final(chat(model_client, "how many fintech companies are there"))["aggregation"]["total"]
    assert model.chat_requests == []
