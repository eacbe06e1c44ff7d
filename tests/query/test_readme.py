"""What the README shows is what its readers get, in the first places of the results and without a chat model."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def asked_in_the_readme(domain: str) -> str:
    """The one question that the README puts to a domain."""
    [question] = re.findall(rf'quarry ask {domain} "([^"]+)"', README)
    return str(question)


def streamed(text: str) -> list[dict[str, Any]]:
    """The events of a stream in either form."""
    lines = (line.removeprefix("data:").strip() for line in text.splitlines())
    return [json.loads(line) for line in lines if line.startswith("{")]


def sample(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROOT / "sql/sample" / path).read_text().splitlines()]


def test_the_number_of_defeated_motions_is_counted_exactly(sample_client: TestClient) -> None:
    events = streamed(sample_client.post("/records/ask", json={"question": asked_in_the_readme("records")}).text)
    [number] = [event["total"] for event in events if event["type"] == "aggregation"]
    dates = {meeting["id"]: meeting["date"] for meeting in sample("records/meetings.jsonl")}
    defeated = [motion for motion in sample("records/motions.jsonl") if motion["result"].startswith("Defeated")]
    days = [motion.get("date") or dates[motion["meeting_id"]] for motion in defeated]
    assert number == sum(day.startswith("2025") for day in days) > 0


def test_the_why_question_is_answered_from_the_decision_on_the_elm(sample_client: TestClient) -> None:
    [address] = re.findall(r"curl -N 'http://127.0.0.1:8080(/records/ask\?[^']+)'", README)
    events = streamed(sample_client.get(address).text)
    answer = "".join(event["chunk"] for event in events if event["type"] == "final_answer_chunk")
    first, *_ = answer.split("\n")
    assert "elm" in first
    assert re.search(r"\[\d+\]", first)


def test_the_words_find_the_bike_lanes_alone(sample_client: TestClient) -> None:
    [address] = re.findall(r"curl 'http://127.0.0.1:8080(/records/search\?[^']+)'", README)
    titles = [result["title"] for result in sample_client.get(address).json()["results"]]
    assert len(titles) == 5
    assert all("Lantern Street" in title and "bike lane" in title for title in titles)


def test_the_first_companies_are_robots_that_can_be_leased(sample_client: TestClient) -> None:
    body = {"messages": [{"role": "user", "content": asked_in_the_readme("companies")}]}
    answer = streamed(sample_client.post("/companies/chat", json=body).text)[-1]["data"]
    first = [answer["companiesById"][each["companyId"]] for each in answer["references"][:3]]
    assert len(first) == 3
    for company in first:
        assert "Leasing" in company["business_models"]
        assert re.search(r"robot", json.dumps(company), re.IGNORECASE)


def test_the_first_person_is_a_backend_engineer_in_bengaluru_who_worked_on_payments(sample_client: TestClient) -> None:
    found = sample_client.post("/people/search", json={"query": asked_in_the_readme("people")}).json()["people"]
    card, *_ = found[0]["matched_cards"]
    assert "Backend Engineer" in card["title"]
    assert {"in Bengaluru", "backend engineers", "payments"} <= {*found[0]["meets"]}
    assert {each["city"] for person in found for each in person["matched_cards"]} == {"Bengaluru"}


def test_the_campaigns_with_a_free_trial_are_counted_exactly_by_channel(sample_client: TestClient) -> None:
    answer = sample_client.post("/campaigns/chat", json={"message": asked_in_the_readme("campaigns")}).json()
    rows = [row for row in sample("campaigns/campaigns.jsonl") if "Free Trial" in row["key_value_props"]]
    sentence, *others = filter(None, answer["response"].split("\n"))
    assert sentence.startswith(f"{len(rows)} campaigns")
    for channel, count in Counter(row["channel"] for row in rows).items():
        assert f"- {channel}: {count} campaign{'' if count == 1 else 's'}" in others
    assert others[-1].startswith("Read as: campaigns, ")
    assert answer["confidence"]["level"] != "low"
