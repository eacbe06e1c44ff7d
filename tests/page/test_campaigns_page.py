"""Asking about campaigns on the page: searches, answer, counts as charts, campaigns, and questions that follow."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from tests.page.conftest import NARROW, WIDE, Site
from tests.page.test_accessibility import grave_findings

ASKED = "search?" + urlencode(
    {"domain": "campaigns", "q": "How many campaigns with a free trial are there, by channel?"}
)


def answered(page: Page) -> None:
    expect(page.locator(".turn-answer").last).to_have_attribute("aria-busy", "false")


def test_an_answer_shows_its_searches_its_counts_and_its_campaigns(site: Site) -> None:
    page = site.open(ASKED)
    answered(page)
    page.locator(".timeline-summary").click()
    expect(page.locator(".timeline li").first).to_have_text(re.compile(r"^(Filtering|Searching).*: done"))
    expect(page.get_by_role("group", name="How the question was read")).to_contain_text("Value proposition: Free Trial")
    total = page.get_by_role("list", name=re.compile(r"^\d+ campaigns$"))
    count = int((total.get_attribute("aria-label") or "").split()[0])
    bars = page.get_by_role("figure", name="By channel").locator("dd")
    assert sum(int(text) for text in bars.all_inner_texts()) == count
    before = total.get_by_role("listitem").count()
    page.get_by_role("button", name=re.compile("^Show .* more$")).press("Enter")
    expect(total.get_by_role("listitem")).to_have_count(count)
    expect(total.get_by_role("button").nth(before)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("Channel")
    page.keyboard.press("Escape")
    expect(total.get_by_role("button").nth(before)).to_be_focused()


def test_what_was_read_from_a_question_can_be_kept_for_the_next(site: Site) -> None:
    page = site.open(ASKED)
    answered(page)
    sent: list[Any] = []
    page.on(
        "request", lambda request: sent.append(request.post_data_json) if "/campaigns/chat" in request.url else None
    )
    page.get_by_role("button", name="Keep for the next question").click()
    page.locator(".choice").first.click()
    expect(page.locator(".turn")).to_have_count(2)
    answered(page)
    expect(page.get_by_role("alert")).to_have_count(0)
    [body] = sent
    assert (body["activeFilters"], body["applyFiltersToQuery"]) == ({"value_prop": ["Free Trial"]}, True)
    assert [message["role"] for message in body["history"]] == ["user", "assistant"]
    page.go_back()
    expect(page.locator(".turn")).to_have_count(1)
    expect(page.get_by_role("button", name="Keep for the next question")).to_have_attribute("aria-pressed", "true")
    assert len(sent) == 1


def test_axe_finds_nothing_serious_about_campaigns(site: Site) -> None:
    page = site.open(ASKED, width=WIDE, bypass_csp=True)
    answered(page)
    assert grave_findings(page) == []
    page.locator(".campaign").first.click()
    page.set_viewport_size({"width": NARROW, "height": 844})
    page.emulate_media(color_scheme="dark")
    assert grave_findings(page) == []
    site.picture(page, "campaigns-panel-narrow")
