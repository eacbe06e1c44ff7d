"""Chatting without a chat model, over HTTP and on the sample data: what is found, said, streamed and recorded."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from quarry.companies.contract import Company
from tests.companies.chat.chatting import (
    activities,
    chat,
    counts_of,
    degraded,
    end_reason,
    ended,
    final,
    found,
    run_of,
    step_names,
    text_of,
)
from tests.conftest import client_of

FARM_ROBOTS = "machines that pull out weeds so the grower needs no herbicide"


class TestTheStream:
    def test_it_is_steps_then_text_then_one_answer(self, client: TestClient) -> None:
        events = chat(client)
        types = [event["type"] for event in events]
        assert set(types) == {"activity", "partial_text", "understood", "final_answer"}
        assert types[0] == "activity"
        assert types[-1] == "final_answer"
        assert all(set(event) == {"type", "data", "seq"} for event in events)
        assert text_of(events) == final(events)["content"] != ""
        assert degraded(events) == []

    def test_an_answer_names_the_session_that_it_is_a_turn_of(self, client: TestClient) -> None:
        assert final(chat(client, "Harbor", sessionId="s-1"))["sessionId"] == "s-1"
        new = [final(chat(client, "Harbor"))["sessionId"] for _ in range(2)]
        assert len({*new}) == 2

    def test_every_step_is_shown_running_then_over_under_one_id(self, client: TestClient) -> None:
        shown = activities(chat(client))
        for running, over in zip(shown[::2], shown[1::2], strict=True):
            assert (running["status"], over["status"]) == ("running", "completed")
            assert (running["id"], running["label"]) == (over["id"], over["label"])
            assert "durationMs" not in running
            assert over["durationMs"] >= 0
        assert len({step["id"] for step in shown}) == len(shown) / 2


class TestTheAnswer:
    def test_references_are_whole_and_best_first(self, client: TestClient) -> None:
        answer = final(chat(client, FARM_ROBOTS))
        assert {reference["companyId"] for reference in answer["references"][:2]} == {
            "c-kestrel-robotics",
            "c-hoe-and-row",
        }
        confidences = [reference["confidence"] for reference in answer["references"]]
        assert confidences == sorted(confidences, reverse=True)
        for reference in answer["references"]:
            assert set(reference) == {
                "companyId", "companyName", "reason", "inlineDescription", "evidenceChips", "confidence", "meets", "misses",
            }  # fmt: skip
            assert reference["reason"]
            assert reference["inlineDescription"]
            assert 1 <= len(reference["evidenceChips"]) <= 5
            assert 0 <= reference["confidence"] <= 1

    def test_each_reference_has_its_whole_company(self, client: TestClient) -> None:
        answer = final(chat(client, "Harbor"))
        assert set(answer["companiesById"]) == {reference["companyId"] for reference in answer["references"]}
        company = answer["companiesById"]["c-harbor-banking"]
        assert company["company_name"] == "Harbor"
        assert company["business_models"] == ["Subscription", "Transaction Fees"]
        assert set(company) == Company.model_fields.keys() - {"acquirer", "closed_year"}

    def test_telemetry_tells_what_it_took(self, client: TestClient, shared_sample_url: str) -> None:
        events = chat(client, FARM_ROBOTS)
        telemetry = final(events)["telemetry"]
        assert set(telemetry) == {"runId", "iterationCount", "toolCallCount", "endReason", "degradedSteps"}
        run = run_of(shared_sample_url, events)
        calls = [name for name in step_names(run) if name.endswith("_v1")]
        assert telemetry["toolCallCount"] == len(calls)
        assert telemetry["iterationCount"] == step_names(run).count("company_rerank")
        assert telemetry["degradedSteps"] == []

    @pytest.mark.parametrize("question", ["companies mining asteroids for platinum", "nuclear fusion reactors", "?!"])
    def test_where_nothing_fits_it_says_so(self, client: TestClient, question: str) -> None:
        answer = final(chat(client, question))
        assert (answer["references"], answer["companiesById"]) == ([], {})
        assert answer["content"].startswith("No company here fits")
        assert answer["telemetry"]["endReason"] == "converged"

    def test_an_empty_database_has_no_answer_and_no_error(self, database_url: str) -> None:
        with client_of(database_url) as empty:
            for question in ("companies like Harbor", FARM_ROBOTS):
                assert final(chat(empty, question))["references"] == []


class TestNames:
    @pytest.mark.parametrize(
        ("question", "id"),
        [
            ("RE ROUTE", "c-re-route"),
            ("Wagetap", "c-tidewage"),
            ("https://tidewage.example", "c-tidewage"),
            ("tell me about kestrel.ai please", "c-kestrel-ai"),
            ("Where is Tidewage based?", "c-tidewage"),
        ],
    )
    def test_a_named_company_is_the_answer_at_once(self, client: TestClient, question: str, id: str) -> None:
        events = chat(client, question)
        assert (found(events), end_reason(events)) == ([id], "exact_match")
        assert final(events)["telemetry"]["iterationCount"] == 0
        assert final(events)["references"][0]["confidence"] == 1.0
        assert list(ended(events)) == ["names", "answer"]

    def test_a_name_that_several_bear_gives_all_and_says_so(self, client: TestClient) -> None:
        events = chat(client, "harbor")
        assert set(found(events)) == {"c-harbor-banking", "c-harbor-maritime"}
        content = final(events)["content"]
        assert content.startswith("2 companies go by this name.")
        assert "Providence" in content
        assert "Rotterdam" in content
        assert end_reason(events) == "exact_match"

    def test_a_status_that_is_named_is_respected_and_one_that_is_asked_about_not_demanded(
        self, client: TestClient
    ) -> None:
        assert found(chat(client, "the closed company StackShovel")) == ["c-stackshovel"]
        assert found(chat(client, "Was Tidewage acquired?")) == ["c-tidewage"]
        assert found(chat(client, "Did StackShovel shut down?")) == ["c-stackshovel"]

    def test_a_misspelt_name_is_its_company_s(self, client: TestClient) -> None:
        assert found(chat(client, "Kestral Robotiks"))[0] == "c-kestrel-robotics"

    def test_two_named_companies_are_both_the_answer(self, client: TestClient) -> None:
        events = chat(client, "Compare Tidewage and Quincena")
        assert set(found(events)) == {"c-tidewage", "c-quincena"}
        assert "go by this name" not in final(events)["content"]


class TestSimilarity:
    @pytest.mark.parametrize(
        "question",
        ["competitors of Lusevakt", "Which companies are like Lusevakt?", "are there others like Lusevakt", "Lusevakt vs",
         "alternatives to Lusevakt?", "Who else does what Lusevakt does?", "how does Lusevakt compare to others?"],
    )  # fmt: skip
    def test_others_like_a_company_are_found_without_itself_and_not_counted(
        self, client: TestClient, question: str
    ) -> None:
        events = chat(client, question)
        assert "aggregation" not in final(events)
        assert found(events)[0] == "c-pen-nine"
        assert "c-lusevakt" not in found(events)
        for reference in final(events)["references"]:
            assert reference["evidenceChips"][0] == "Similar to Lusevakt"

    @pytest.mark.parametrize("question", ["engineers at Lusevakt", "What did Lusevakt buy?", "nurses at Lusevakt"])
    def test_who_is_asked_for_at_a_company_is_not_the_company(self, client: TestClient, question: str) -> None:
        events = chat(client, question)
        assert end_reason(events) != "exact_match"
        assert "c-lusevakt" not in found(events)


class TestDemands:
    @pytest.mark.parametrize(
        ("question", "holds"),
        [
            ("climate companies founded after 2019", lambda company: company["founded_year"] > 2019),
            ("series B logistics startups", lambda company: company["funding_stage"] == "series_b"),
            ("health companies with fewer than 30 employees", lambda company: company["employee_count"] < 30),
            ("fintech not in the US", lambda company: company["hq_country"] != "United States"),
            ("work startups in Copenhagen", lambda company: company["hq_city"] == "Copenhagen"),
            ("insurers that went out of business", lambda company: company["status"] == "closed"),
        ],
    )
    def test_every_company_meets_what_is_demanded(self, client: TestClient, question: str, holds: Any) -> None:
        companies = final(chat(client, question))["companiesById"].values()
        assert companies
        assert all(holds(company) for company in companies)


class TestFollowingUp:
    def test_what_is_said_besides_holds_with_the_question_before(self, client: TestClient) -> None:
        companies = final(chat(client, ["restaurant technology", "only the British ones"]))["companiesById"].values()
        assert {company["hq_country"] for company in companies} == {"United Kingdom"}
        assert any("Restaurant Technology" in company["categories"] for company in companies)

    def test_a_new_topic_leaves_the_one_before(self, client: TestClient) -> None:
        companies = final(chat(client, ["startups in Germany", "wind power in Denmark"]))["companiesById"].values()
        assert {company["hq_country"] for company in companies} == {"Denmark"}
        told = final(chat(client, ["fintech companies in Kenya", "solar panels for schools"]))["constraints"]
        assert "Kenya" not in str(told["conditions"])
        assert "fintech" not in told["topic"]

    def test_ids_that_do_not_exist_do_no_harm(self, client: TestClient) -> None:
        context = {"previousCandidateIds": ["nope", "c-pass-and-rail", "c-pass-and-rail"]}
        assert "c-pass-and-rail" in found(chat(client, ["restaurants", "only those in Leeds"], clientContext=context))


class TestTheRunLog:
    def test_before_and_after_are_true(self, client: TestClient, shared_sample_url: str) -> None:
        run = run_of(shared_sample_url, chat(client, "food waste"))
        [hybrid] = counts_of(run, "search_companies_hybrid_v1")
        [keyword] = counts_of(run, "search_companies_keyword_v1")
        [taxonomy] = counts_of(run, "search_companies_by_taxonomy_v1")
        assert hybrid["before"] == 0
        assert hybrid["after"] == hybrid["found"]
        assert keyword["before"] == hybrid["after"]
        assert taxonomy["before"] == keyword["after"] <= taxonomy["after"] <= keyword["after"] + taxonomy["found"]
        [kept] = counts_of(run, "company_filter")
        assert kept["after"] <= kept["before"]


class TestWrongRequests:
    @pytest.mark.parametrize(
        ("body", "pointer"),
        [
            ({}, "/messages"),
            ({"messages": [{"role": "assistant", "content": "Hi."}]}, ""),
            ({"messages": [{"role": "user", "content": "x" * 2001}]}, ""),
            ({"messages": [{"role": "user", "content": "nul \0"}]}, "/messages/0/content"),
            ({"messages": [{"role": "system", "content": "x"}]}, "/messages/0/role"),
            ({"messages": [{"role": "user", "content": "x"}] * 51}, "/messages"),
            ({"messages": [{"role": "user", "content": "x"}], "more": 1}, "/more"),
            (
                {
                    "messages": [{"role": "user", "content": "x"}],
                    "constraints": {"conditions": [{"field": "founded_year", "least": "2015"}]},
                },
                "/constraints/conditions/0/least",
            ),
            (
                {
                    "messages": [{"role": "user", "content": "x"}],
                    "clientContext": {"previousCandidateIds": ["x"] * 51},
                },
                "/clientContext/previousCandidateIds",
            ),
        ],
    )
    def test_they_are_refused_and_the_field_is_named(self, client: TestClient, body: Any, pointer: str) -> None:
        response = client.post("/companies/chat", json=body)
        assert response.status_code == 422
        assert response.headers["content-type"] == "application/problem+json"
        assert pointer in {error["pointer"] for error in response.json()["errors"]}
