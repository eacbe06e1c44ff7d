"""Asking about companies on the page: the steps, the summary as it streams, the companies, and follow-up questions."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import psycopg
from playwright.sync_api import Page, Request, expect

from tests.page.conftest import HELD_STREAM, Site, answer_ndjson, answered, body_of, requests_to, send

QUESTION = "Fintech startups in Africa"
ASKED = "search?" + urlencode({"domain": "companies", "q": QUESTION})


def last_event(**answer: object) -> dict[str, Any]:
    telemetry = {"runId": "r", "iterationCount": 1, "toolCallCount": 1, "endReason": "converged", "degradedSteps": []}
    nothing = {"content": "Nothing fits.", "references": [], "companiesById": {}, "telemetry": telemetry}
    return {"type": "final_answer", "data": nothing | answer}


def test_a_question_is_answered_with_steps_a_summary_and_companies(site: Site) -> None:
    page = site.open("search?domain=companies", domains=["companies"])
    expect(page.get_by_role("textbox")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    answered(page)
    expect(page.get_by_role("heading", name=QUESTION)).to_be_focused()
    expect(page.locator(".prose")).not_to_be_empty()
    page.locator(".timeline-summary").click()
    steps = page.locator(".timeline li")
    assert steps.count() > 2
    assert all(status == "completed" for status in steps.evaluate_all("(items) => items.map((i) => i.dataset.status)"))
    first = page.get_by_role("list", name="Companies").get_by_role("article").first
    expect(first.locator(".confidence")).to_contain_text(re.compile(r"^(Likely|Possible|Doubtful) fit, \d+ %$"))
    expect(first.locator(".chip").first).to_be_visible()
    name = first.get_by_role("button").inner_text()
    first.get_by_role("button").press("Enter")
    panel = page.get_by_role("dialog", name=name)
    expect(panel).to_contain_text("Founded")
    expect(panel).to_contain_text("What it does")
    page.keyboard.press("Escape")
    expect(first.get_by_role("button")).to_be_focused()


def test_a_follow_up_continues_the_session_and_neither_back_nor_a_reload_asks_again(
    site: Site, page_database: str
) -> None:
    page = site.open(ASKED)
    answered(page)
    shown = page.locator(".found .result-open").all_inner_texts()
    sent = requests_to(page, "/companies/chat")
    page.keyboard.press("/")
    page.keyboard.type("Only those in Kenya")
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_count(2)
    answered(page)
    [body] = [body_of(request) for request in sent]
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert len(body["clientContext"]["previousCandidateIds"]) == len(shown)
    with psycopg.connect(page_database) as connection:
        turns = connection.execute("select query from search_runs where session_id = %s", [body["sessionId"]])
        assert {query for (query,) in turns} >= {QUESTION}
    page.go_back()
    expect(page.locator(".turn")).to_have_count(1)
    assert page.locator(".found .result-open").all_inner_texts() == shown
    page.go_forward()
    expect(page.locator(".turn")).to_have_count(2)
    page.reload()
    expect(page.locator(".turn")).to_have_count(2)
    assert page.locator(".turn").first.locator(".found .result-open").all_inner_texts() == shown
    page.get_by_role("button", name="New search").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Find companies in plain words")
    assert len(sent) == 1


def test_steps_and_text_are_shown_as_they_come_until_stopped(site: Site) -> None:
    page = site.open(ASKED, before=lambda page: page.add_init_script(HELD_STREAM))
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    send(page, "activity", id="plan", label="Planning", status="running")
    expect(page.locator(".timeline li")).to_have_attribute("data-status", "running")
    send(page, "activity", id="plan", label="Planned", status="completed", durationMs=1234)
    send(page, "activity", id="rank", label="Ranking", status="failed", detail="By simple rules instead", durationMs=50)
    expect(page.locator(".timeline li")).to_have_text(
        ["Planned: done1.2 s", "Ranking: failed50 msBy simple rules instead"]
    )
    send(page, "activity", id="check", label="Checking", status="running")
    send(page, "partial_text", text="Two **fit")
    send(page, "partial_text", text="** well")
    expect(page.locator(".prose strong")).to_have_text("fit")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("note")).to_have_text("Stopped. Ask again")
    expect(page.locator(".prose")).to_have_text("Two fit well")
    expect(page.locator(".timeline-summary")).to_contain_text("1 failed · stopped")
    page.get_by_role("button", name="Ask again").click()
    degraded = last_event()["data"]["telemetry"] | {"degradedSteps": ["company_rerank"]}
    send(page, "final_answer", **(last_event()["data"] | {"telemetry": degraded}))
    expect(page.get_by_role("note")).to_contain_text("the ranking")


def test_conditions_are_marked_in_the_question_and_can_be_removed_or_weakened(site: Site) -> None:
    question = "Companies in Africa, not crypto"
    country = {"field": "country", "values": ["Kenya", "Ghana"]}
    crypto = {"not": {"any_of": [{"field": "sector", "value": "Crypto"}, {"words": "crypto"}]}}
    choices = ["required", "preferred", "excluded"]
    said = [("Crypto", "/where/0"), ("tokens", "/where/1"), ("in Kenya or Ghana", "/where/2")]
    read = {
        "query": {"source": "companies", "where": [crypto, {"not": {"words": "tokens"}}, country]},
        "chips": [{"label": label, "pointer": pointer, "choices": choices} for label, pointer in said],
        "spans": [{"pointer": "/where/2", "start": 13, "end": 19}, {"pointer": "/where/0", "start": 25, "end": 31}],
    }
    sent: list[Request] = []

    def listen(page: Page) -> None:
        page.route("**/companies/chat", answer_ndjson(last_event(understood=read)))
        requests_to(page, "/companies/chat", sent)

    page = site.open("search?" + urlencode({"domain": "companies", "q": question}), before=listen)
    understood = page.get_by_role("region", name="How the question was understood")
    expect(page.get_by_role("heading", name=question).locator("mark")).to_have_text(["Africa", "crypto"])
    understood.get_by_role("button", name="Remove: Crypto").press("Enter")
    expect(understood).to_contain_text("Answered with your changes.")
    left = body_of(sent[1])["understood"]
    assert left["query"]["where"] == [{"not": {"words": "tokens"}}, country]
    assert [each["pointer"] for each in left["chips"]] == ["/where/0", "/where/1"]
    assert left["spans"] == [{"pointer": "/where/1", "start": 13, "end": 19}]
    understood.get_by_role("button", name="in Kenya or Ghana", exact=True).click()
    with page.expect_request("**/companies/chat"):
        page.get_by_role("group", name="Change: in Kenya or Ghana").get_by_role("button", name="Preferred").click()
    weakened = body_of(sent[-1])["understood"]
    assert (weakened["preferred"], weakened["chips"][-1]["pointer"]) == ([country], "/preferred/0")


def test_one_press_drops_the_condition_that_excludes_everything(site: Site) -> None:
    page = site.open("search?domain=companies&q=Climate+startups+in+Norway+founded+before+1950")
    answered(page)
    drops = page.get_by_role("group", name="Drop a condition").get_by_role("button")
    expect(drops).to_have_text(["Without “founded until 1949”"])
    drops.click()
    expect(page.locator(".found").first).to_be_visible()
