"""Questions for a number of companies, their groups, the newest and the largest: answered exactly, without a model."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.companies.chat.chatting import chat, final, found, plan, playing, steps_asked
from tests.fakes.openai_server import FakeOpenAI


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


def test_the_commonest_value_is_told_with_how_many_have_it(client: TestClient, shared_sample_url: str) -> None:
    most = number(
        shared_sample_url, "select count(*) from companies, unnest(sectors) s group by s order by 1 desc limit 1"
    )
    answer = final(chat(client, "which sector has the most companies?"))
    assert answer["aggregation"]["by"] == "sector"
    assert answer["aggregation"]["groups"][0]["count"] == most
    assert str(most) in answer["content"]


def test_who_groups_by_status_means_companies_of_every_status(client: TestClient) -> None:
    groups = final(chat(client, "how many companies have each status"))["aggregation"]["groups"]
    assert {group["value"] for group in groups} == {"startup", "acquired", "public", "closed"}


def test_the_largest_come_first_with_what_they_have(client: TestClient, shared_sample_url: str) -> None:
    largest = number(shared_sample_url, "select max(employee_count) from companies")
    events = chat(client, "the five largest companies by employees")
    sizes = [final(events)["companiesById"][id]["employee_count"] for id in found(events)]
    assert sizes[0] == largest
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 5
    assert f"{largest}" in final(events)["content"].replace(",", "")


def test_what_companies_are_about_is_searched_for_and_not_counted(client: TestClient) -> None:
    answer = final(chat(client, "how many companies make heat pumps for terraced houses"))
    assert answer.get("aggregation") is None
    assert answer["references"]


class TestWithAModel:
    def test_the_model_says_what_is_counted(
        self, model_client: TestClient, model: FakeOpenAI, shared_sample_url: str
    ) -> None:
        model.respond = playing(plans=plan(counts=True, where=[{"field": "country", "values": ["germany"]}]))
        expected = number(shared_sample_url, "select count(*) from companies where hq_country = 'Germany'")
        answer = final(chat(model_client, "How large is the German scene?"))
        assert answer["aggregation"]["total"] == expected
        assert steps_asked(model) == ["company_plan"]

    def test_what_the_reader_takes_for_a_number_is_searched_for_where_the_model_plans_a_search(
        self, model_client: TestClient, model: FakeOpenAI
    ) -> None:
        model.respond = playing(plans=plan(where=[]))
        answer = final(chat(model_client, "how many companies are in Germany"))
        assert answer.get("aggregation") is None
        assert answer["references"]
