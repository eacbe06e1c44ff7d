"""Asking about campaigns on the page: searches, answer, counts as charts, campaigns, and questions that follow."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page, Request, expect

from tests.page.conftest import Site, answer_ndjson, answered, body_of, requests_to

ASKED = "search?" + urlencode(
    {"domain": "campaigns", "q": "How many campaigns with a free trial are there, by channel?"}
)


QUESTION = "Email or TV campaigns for tea, but nothing funny"
READ: dict[str, Any] = {
    "conditions": [
        {
            "any_of": [{"field": "channel", "values": ["Email"]}, {"field": "channel", "values": ["TV"]}],
            "label": "on Email or on TV",
        },
        {"any_of": [{"field": "sentiment", "values": ["Funny"], "negated": True}], "label": "not Funny"},
    ],
    "theme": "tea",
    "words": "",
    "evidence": [
        {"field": "channel", "value": "Email", "start": 0, "end": 5, "assertion": "affirmed"},
        {"field": "channel", "value": "TV", "start": 9, "end": 11, "assertion": "affirmed"},
        {"field": "sentiment", "value": "Funny", "start": 43, "end": 48, "assertion": "negated"},
    ],
}
ANSWER: dict[str, Any] = {
    "response": "None.",
    "campaigns": [],
    "total": 0,
    "suggestions": [],
    "detectedFilters": {"channel": ["Email", "TV"]},
    "constraints": READ,
    "telemetry": {"runId": "r", "turnCount": 1, "toolCallCount": 1, "endReason": "answered", "degradedSteps": []},
}


def test_a_count_shows_its_steps_its_chart_and_its_campaigns(site: Site) -> None:
    page = site.open(ASKED)
    answered(page)
    page.locator(".timeline-summary").click()
    expect(page.locator(".timeline li").first).to_have_text(re.compile(r"^(Filtering|Searching|Counting).*: done"))
    understood = page.get_by_role("region", name="How the question was understood")
    expect(understood.get_by_role("listitem")).to_contain_text("Free Trial")
    expect(page.get_by_role("heading", level=2).locator("mark")).to_have_text("free trial")
    total = page.get_by_role("list", name=re.compile(r"^\d+ campaigns$"))
    count = int((total.get_attribute("aria-label") or "").split()[0])
    bars = page.get_by_role("figure", name="By channel").locator("dd")
    assert sum(int(text) for text in bars.all_inner_texts()) == count
    expect(page.locator(".prose > p + .charts")).to_be_visible()  # directly below the number
    expect(page.get_by_role("figure")).to_have_count(1)  # the groups that were asked for
    items = total.locator(":scope > li")
    before = items.count()
    expect(items.first.get_by_role("list", name="Conditions")).to_contain_text("Free Trial")
    page.get_by_role("button", name=re.compile("^Show .* more$")).press("Enter")
    expect(items).to_have_count(count)
    expect(total.get_by_role("button").nth(before)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("Channel")
    page.keyboard.press("Escape")
    expect(total.get_by_role("button").nth(before)).to_be_focused()


def test_the_filters_of_a_question_can_be_kept_for_the_next(site: Site) -> None:
    page = site.open(ASKED)
    answered(page)
    sent = requests_to(page, "/campaigns/chat")
    page.get_by_role("button", name="Keep for the next question").click()
    page.locator(".choice").first.click()
    expect(page.locator(".turn")).to_have_count(2)
    answered(page)
    expect(page.get_by_role("alert")).to_have_count(0)
    [body] = [body_of(request) for request in sent]
    assert (body["activeFilters"], body["applyFiltersToQuery"]) == ({"value_prop": ["Free Trial"]}, True)
    assert [message["role"] for message in body["history"]] == ["user", "assistant"]
    page.go_back()
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.get_by_role("button", name="Keep for the next question")).to_have_attribute("aria-pressed", "true")
    assert len(sent) == 1


def test_conditions_are_marked_in_the_question_and_can_be_changed(site: Site) -> None:
    sent: list[Request] = []

    def listen(page: Page) -> None:
        page.route("**/campaigns/chat", answer_ndjson({"type": "final_answer", "data": ANSWER}))
        requests_to(page, "/campaigns/chat", sent)

    page = site.open("search?" + urlencode({"domain": "campaigns", "q": QUESTION}), before=listen)
    understood = page.get_by_role("region", name="How the question was understood")
    expect(understood.get_by_role("list", name="Must")).to_have_text("on Email or on TV")
    expect(understood.get_by_role("list", name="Not")).to_have_text("Funny")
    expect(understood.get_by_role("list", name="About")).to_have_text("tea")
    expect(page.get_by_role("heading", name=QUESTION).locator("mark")).to_have_text(["Email", "TV", "funny"])
    understood.get_by_role("button", name="Remove: on Email or on TV").press("Enter")
    expect(understood).to_contain_text("Answered with your changes.")
    expect(page.locator(".turn")).to_have_count(1)
    assert body_of(sent[1]) == {
        "message": QUESTION,
        "history": [],
        "constraints": {"conditions": READ["conditions"][1:], "theme": "tea", "evidence": READ["evidence"][2:]},
    }
    understood.get_by_role("button", name="Funny", exact=True).click()
    with page.expect_request("**/campaigns/chat"):
        page.get_by_role("group", name="Change: Funny").get_by_role("button", name="Better with").click()
    [_, mood] = body_of(sent.pop())["constraints"]["conditions"]
    assert mood == {"any_of": [{"field": "sentiment", "values": ["Funny"], "negated": False}], "strength": "preferred"}
    with page.expect_request("**/campaigns/chat"):
        understood.get_by_role("button", name="Read the question again").click()
    assert "constraints" not in body_of(sent[-1])


def test_the_condition_that_excludes_everything_is_dropped_by_one_press(site: Site) -> None:
    page = site.open("search?domain=campaigns&q=Campaigns+on+TV+by+Lumen+Bank+in+1990")
    answered(page)
    drops = page.get_by_role("group", name="Drop a condition").get_by_role("button")
    expect(drops).to_have_text(["Without “captured in 1990”"])
    with page.expect_request("**/campaigns/chat") as asked:
        drops.click()
    labels = [each["label"] for each in body_of(asked.value)["constraints"]["conditions"]]
    assert labels == ["on TV", "by Lumen Bank"]
    expect(page.locator(".campaign").first).to_be_visible()
    expect(drops).to_have_count(0)
