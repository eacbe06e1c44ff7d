"""axe-core finds nothing serious, in either colour scheme, on a phone and on a desk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.page.conftest import NARROW, WIDE, Site

GRAVE = {"serious", "critical"}


def grave_findings(page: Page) -> list[str]:
    """What axe-core finds on the page as it is, of some weight."""
    page.wait_for_timeout(400)  # what is fading in has no contrast yet
    results: dict[str, Any] = Axe().run(page).response
    return [
        f"{finding['id']}: {node['target']} {node.get('failureSummary', '')}"
        for finding in results["violations"]
        if finding["impact"] in GRAVE
        for node in finding["nodes"]
    ]


def first(page: Page) -> None:
    expect(page.get_by_role("textbox")).to_be_visible()


def answer(page: Page) -> None:
    page.goto(page.url + "search?q=Why did the council keep the old elm in Quill Square?")
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    page.locator(".timeline-summary").click()
    page.locator(".citation").first.focus()
    expect(page.get_by_role("tooltip")).to_be_visible()


def results(page: Page) -> None:
    page.goto(page.url + "search?q=bridge&type=motion&from=2024-01-01")
    expect(page.locator(".result").first).to_be_visible()


def record(page: Page) -> None:
    results(page)
    page.locator(".result-open").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("Mover")


def cited(page: Page) -> None:
    page.goto(page.url + "search?q=Why did the council keep the old elm in Quill Square?")
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    page.locator(".citation").last.press("Enter")
    expect(page.get_by_role("dialog").locator("mark").first).to_be_visible()


def failure(page: Page) -> None:
    page.route("**/records/search?*", lambda route: route.abort())
    page.goto(page.url + "search?q=bridge")
    expect(page.get_by_role("alert")).to_be_visible()


@pytest.mark.parametrize("state", [first, answer, results, record, cited, failure], ids=lambda state: state.__name__)
@pytest.mark.parametrize(("width", "scheme"), [(NARROW, "dark"), (WIDE, "light")])
def test_axe_finds_nothing_serious(site: Site, state: Callable[[Page], None], width: int, scheme: str) -> None:
    page = site.open(width=width, scheme="dark" if scheme == "dark" else "light", bypass_csp=True)
    state(page)
    assert grave_findings(page) == []


def test_what_is_touched_is_large_enough(site: Site) -> None:
    page = site.open("search?q=bridge", width=NARROW, touch=True)
    expect(page.locator(".result").first).to_be_visible()
    small = page.evaluate("""() => [...document.querySelectorAll('button, summary, nav a, .wordmark')]
        .filter((node) => node.checkVisibility() && !node.matches('.result-open'))
        .map((node) => [node.innerText || node.ariaLabel, node.getBoundingClientRect().height])
        .filter(([, height]) => height < 44)""")
    assert small == []


def test_who_wants_no_motion_gets_none(site: Site) -> None:
    page = site.open()
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{site.url}/search?q=bridge&type=motion")
    page.locator(".result-open").first.click()
    duration = page.get_by_role("dialog").evaluate("(node) => parseFloat(getComputedStyle(node).animationDuration)")
    assert duration < 0.001


def test_the_chosen_scheme_holds_over_the_systems(site: Site) -> None:
    page = site.open(scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark colours").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    expect(page.get_by_role("button", name="Light colours")).to_be_visible()
    assert page.evaluate(ground) == dark
