"""Addresses hold the state: a reload and Back charge nothing, call no model again and lose nothing; items have links."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route, expect

from tests.page.conftest import (
    NARROW,
    Site,
    answer_json,
    answer_ndjson,
    requests_to,
)
from tests.page.test_companies_page import ASKED as COMPANIES
from tests.page.test_people_page import ASKED as PEOPLE
from tests.page.test_people_page import Searches, asked

QUESTION = "Why did the council keep the old elm in Quill Square?"
RUN = "0b3a1c52-7a51-4b33-9a5e-2f6f5f1f9f10"
TELEMETRY = {"runId": RUN, "iterationCount": 1, "toolCallCount": 1, "endReason": "converged", "degradedSteps": []}
ASKING = "/(companies/chat|people/search|records/(ask|search))"  # what costs something


def test_a_person_has_a_link_that_back_closes_and_a_reload_charges_nothing(site: Site) -> None:
    searches = Searches()
    page = asked(site.open(PEOPLE, before=searches, width=NARROW, touch=True))
    page.locator(".result-open").tap()
    panel = page.get_by_role("dialog", name="Asha Rao")
    expect(panel).to_contain_text("Double entry, twice.")
    expect(page).to_have_url(re.compile(r"q=Backend.*#person/p-1$"))
    page.reload()
    expect(panel).to_contain_text("Double entry, twice.")
    page.go_back()
    expect(panel).to_have_count(0)
    expect(page.locator(".result-open")).to_be_visible()
    page.go_forward()
    expect(panel).to_be_visible()
    panel.get_by_role("button", name="Close").tap()
    expect(page).to_have_url(re.compile(r"q=Backend[^#]*$"))
    expect(page.locator(".result-open")).to_be_visible()
    assert len(searches.bodies) == 1


def test_a_people_search_reloaded_before_its_answer_is_charged_once(site: Site) -> None:
    page = site.open()
    page.route("**/people/search", lambda route: None)
    page.goto(f"{site.url}/{PEOPLE}")
    with page.expect_request("**/people/search") as first:
        asked(page)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    searches = Searches()
    searches(page)
    page.reload()
    expect(page.get_by_role("article")).to_be_visible()
    assert searches.keys == [first.value.headers["idempotency-key"]]


class Runs:
    """A service that starts a run and then loses its readers; a client that resumes gets `rest`."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self.asked = 0
        self.rest: Callable[[Route], None] = lambda route: route.abort()
        self._events = events

    def __call__(self, page: Page) -> None:
        # reading on is tried again five times, without the pauses in between
        page.add_init_script(
            "const later = window.setTimeout;"
            "window.setTimeout = (work, milliseconds, ...given) => later(work, milliseconds > 8000 ? milliseconds : 0, ...given);"
        )
        page.route("**/companies/chat*", self._handle)

    def events(self, until: int | None = None, run: str = RUN) -> Callable[[Route], None]:
        """The events of a run, each with its place."""
        return answer_ndjson(*({**event, "seq": f"{run}/{n}"} for n, event in enumerate(self._events[:until], start=1)))

    def _handle(self, route: Route) -> None:
        if "after_seq=" in route.request.url:
            self.rest(route)
            return
        self.asked += 1
        (self.events(until=1) if self.asked == 1 else self.events(run=str(uuid4())))(route)


@pytest.fixture
def lost(site: Site) -> tuple[Page, Runs]:
    """A page whose question was being answered, and which could not resume."""
    step = {"type": "activity", "data": {"id": "plan", "label": "Planning", "status": "running"}}
    final = {"content": "Two fit.", "references": [], "companiesById": {}, "telemetry": TELEMETRY}
    runs = Runs(step, {"type": "partial_text", "data": {"text": "Two fit."}}, {"type": "final_answer", "data": final})
    page = site.open(COMPANIES, before=runs)
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    return page, runs


def test_a_lost_answer_resumes_after_a_reload_and_is_asked_once(lost: tuple[Page, Runs]) -> None:
    page, runs = lost
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    runs.rest = runs.events()
    page.reload()
    expect(page.locator(".prose")).to_have_text("Two fit.")
    page.reload()
    expect(page.locator(".prose")).to_have_text("Two fit.")
    assert runs.asked == 1


def test_a_refused_host_and_an_empty_database_say_what_to_do(site: Site) -> None:
    refused = answer_json({"status": 421, "detail": "This host is not served."}, 421)
    page = site.open(before=lambda page: page.route("**/config.json", refused))
    expect(page.get_by_role("alert")).to_contain_text("QUARRY_ALLOWED_HOSTS")
    page.unroute("**/config.json")
    page.route("**/config.json", answer_json(json.loads('{"domains": [], "sign_in": null, "prefix": ""}')))
    page.reload()
    told = page.get_by_role("heading", name="There is nothing here yet")
    expect(told).to_be_visible()
    begins = [each.evaluate("(node) => node.getBoundingClientRect().left") for each in (told, page.locator("h1"))]
    assert begins[0] == begins[1]


def test_a_link_to_one_record_opens_it_without_a_search(site: Site) -> None:
    page = site.open("search?domain=companies#company/c-afyapamoja")
    asked = requests_to(page, ASKING)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Founded")
    dialog.get_by_role("button", name="Copy link").click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.keyboard.press("Escape")
    expect(page).to_have_url(f"{site.url}/search?domain=companies")
    for link, says in (
        ("search?domain=campaigns#campaign/cmp-lumen-voyage-3", "Captured"),
        ("./#motion/2023-11-14-council-m2", "Mover"),
        ("search?domain=companies#company/nobody", "Nothing here"),
    ):
        page.goto(f"{site.url}/{link}")
        expect(dialog).to_contain_text(says)
    assert asked == []
