"""What is shown where not all that was asked for is met: what comes nearest, and what each condition costs."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.companies.chat.chatting import chat, final, found, playing, ranking
from tests.fakes.openai_server import FakeOpenAI

NEAREST = "these come nearest"


def test_where_no_startup_fits_companies_of_any_status_are_searched(client: TestClient) -> None:
    answer = final(chat(client, "companies acquired by Square in 2019"))
    statuses = {company["status"] for company in answer["companiesById"].values()}
    assert "startup" not in statuses


def test_where_a_model_finds_none_fitting_none_is_shown_as_near(model_client: TestClient, model: FakeOpenAI) -> None:
    model.respond = playing(rankings=ranking("c-uber-kitchen", confidence=0.1))
    events = chat(model_client)
    assert found(events) == []
    assert NEAREST not in final(events)["content"]


def test_a_demand_that_nothing_meets_is_named_with_its_cost_and_the_nearest(client: TestClient) -> None:
    content = final(chat(client, "heat pumps in Antofagasta"))["content"]
    assert "No company here is known to be in Antofagasta." in content
    assert "Without “in Antofagasta”" in content
    assert "The nearest are " in content
    assert "(not in Antofagasta)" in content


def test_what_was_read_can_be_sent_back_changed(client: TestClient) -> None:
    question = "insurance startups in Germany founded after 2010"
    read = final(chat(client, question))["understood"]
    country = next(each for each in read["query"]["where"] if each.get("field") == "country")
    said = next(each for each in read["chips"] if each["label"] == "in Germany")
    [span] = [each for each in read["spans"] if each["pointer"] == said["pointer"]]
    assert question[span["start"] : span["end"]] == "Germany"

    def changed(*where: object, **beside: object) -> dict[str, Any]:
        others = [each for each in read["query"]["where"] if each is not country]
        given = read | beside | {"query": read["query"] | {"where": [*others, *where]}}
        return final(chat(client, question, understood=given))

    def countries(answer: dict[str, Any]) -> list[str]:
        return [company["hq_country"] for company in answer["companiesById"].values()]

    assert set(countries(changed({"field": "country", "value": "france"}))) == {"France"}
    ruled_out = changed({"not": country})
    assert countries(ruled_out)
    assert "Germany" not in countries(ruled_out)
    assert all("not in Germany" in reference["meets"] for reference in ruled_out["references"])
    assert {"Germany"} < set(countries(changed()))
    tag = {"values": ["lending"], "strength": "required", "group": 1}
    tags = [{"field": field} | tag for field in ("sector", "category", "business_model", "niche")]
    filed = final(chat(client, question, constraints={"conditions": tags}))["constraints"]["conditions"]
    assert [(each["field"], each["values"]) for each in filed] == [("category", ["Lending"])]
    preferred = changed(preferred=[*read.get("preferred", []), country])
    stands = [("in Germany" in each["meets"], "in Germany" in each["misses"]) for each in preferred["references"]]
    assert stands[0] == (True, False)
    assert (False, True) in stands


@pytest.mark.parametrize(
    ("condition", "pointer", "message"),
    [
        ({"field": "category", "values": ["Lendign"]}, "/constraints", "did you mean 'Lending'"),
        ({"field": "employees", "values": ["many"]}, "/constraints/conditions/0", "`least` and `most` belong to"),
        ({"field": "employees", "least": 9, "most": 3}, "/constraints/conditions/0", "must not be more"),
    ],
)
def test_constraints_that_no_company_can_meet_are_refused_before_the_stream_begins(
    client: TestClient, condition: dict[str, Any], pointer: str, message: str
) -> None:
    body = {"messages": [{"role": "user", "content": "banks"}], "constraints": {"conditions": [condition]}}
    response = client.post("/companies/chat", json=body)
    assert response.status_code == 422
    [error] = response.json()["errors"]
    assert error["pointer"] == pointer
    assert message in error["message"]


@pytest.mark.parametrize(
    ("condition", "pointer", "message"),
    [
        ({"field": "category", "value": "Lendign"}, "/understood/query/where/0", "did you mean 'Lending'"),
        ({"field": "catgory", "value": "Lending"}, "/understood/query/where/0/field", "category"),
        ({"not": {"field": "sector", "value": "Fintehc"}}, "/understood/query/where/0/not", "Fintech"),
    ],
)
def test_conditions_that_the_data_lacks_are_refused_where_they_stand(
    client: TestClient, condition: dict[str, Any], pointer: str, message: str
) -> None:
    query = {"source": "companies", "where": [condition]}
    body = {"messages": [{"role": "user", "content": "banks"}], "understood": {"query": query}}
    response = client.post("/companies/chat", json=body)
    assert response.status_code == 422
    [error] = response.json()["errors"]
    assert error["pointer"] == pointer
    assert message in error["message"]
