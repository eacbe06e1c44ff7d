"""The API reference that the browser builds from the service's own description."""

from __future__ import annotations

import shlex

from playwright.sync_api import expect

from tests.page.conftest import Site


def test_the_reference_is_linked_searchable_and_its_calls_work(site: Site) -> None:
    page = site.open()
    page.get_by_role("link", name="API reference").click()
    expect(page.get_by_role("heading", name="POST /records/ask")).to_be_visible()
    assert page.locator("[href^='/'], [src^='/']").count() == 0  # it works below any prefix
    route = page.locator("article", has=page.get_by_role("heading", name="POST /records/ask"))

    page.keyboard.press("/")
    page.keyboard.type("records history question")
    expect(page.locator(".operation:not([hidden])")).to_have_count(1)
    expect(page.locator("[data-announcer]")).to_have_text("1 match")
    expect(route).to_contain_text("history list of PriorTurn · at most 50")

    route.get_by_role("button", name="Copy").click()
    words = shlex.split(page.evaluate("navigator.clipboard.readText()").replace("\\\n", ""))
    sent = dict(words[at + 1].split(": ") for at, word in enumerate(words) if word == "-H")
    answer = page.request.post(words[2], headers=sent, data=words[words.index("-d") + 1])
    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")

    route.get_by_role("link", name="404 Not found").click()
    expect(page.locator("#problem-not-found")).to_be_in_viewport()


def test_required_parameters_and_fields_come_first(site: Site) -> None:
    page = site.open("docs")
    expect(page.get_by_role("heading", name="POST /records/ask")).to_be_visible()
    lists = page.locator("article dl.fields").evaluate_all(
        "(lists) => lists.map((list) => [...list.children].filter((each) => each.localName === 'dt')"
        ".map((each) => / · required( ·|$)| required( ·|$)/.test(each.textContent)))"
    )
    assert any(True in each and False in each for each in lists)
    assert [each for each in lists if each != sorted(each, reverse=True)] == []
