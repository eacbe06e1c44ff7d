"""Asking about campaigns on the page: searches, answer, counts as charts, campaigns, and follow-up questions."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.fakes.openai_server import Body, FakeOpenAI, Reply
from tests.page.conftest import Site, answered, body_of, requests_to

ASKED = "search?" + urlencode(
    {"domain": "campaigns", "q": "How many campaigns with a free trial are there, by channel?"}
)


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
    expect(page.locator(".prose > p + .number-charts")).to_be_visible()  # directly below the number
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


@pytest.mark.parametrize(
    ("domain", "call"),
    [
        ("campaigns", ("filter_campaigns", {"channel": ["SMS"]})),
        ("companies", ("query", {"source": "companies", "aggregate": ["count"]})),
    ],
)
def test_a_statement_that_nothing_bears_out_is_marked_where_it_stands(
    model_site: Site, model: FakeOpenAI, domain: str, call: tuple[str, Body]
) -> None:
    wrong = "In all they reached 12,345 people."

    def respond(body: Body) -> Reply:
        is_first = bool(body.get("tools")) and body["messages"][-1]["role"] == "user"
        return Reply.tool_calls([call]) if is_first else Reply.text(wrong)

    model.respond = respond
    page = model_site.open("search?" + urlencode({"domain": domain, "q": "How many were reached, and by which?"}))
    answered(page)
    page.reload()
    answered(page)
    mark = page.locator(".prose .statement-mark[data-state='flagged']")
    expect(mark).to_have_text("†")
    expect(mark).to_have_attribute("aria-label", re.compile("^Not borne out: .*12,345"))
    expect(page.locator(".prose").last).to_have_text(f"{wrong}†")
    expect(page.locator(".turn-answer .confidence[data-level='low']").first).to_be_visible()
