"""Nothing visible moves while the page loads, however its files and data arrive."""

from __future__ import annotations

from playwright.sync_api import Page, Route, expect

from tests.page.conftest import Site

STEP_MS = 40
"""Between one file and the next: long enough for what is there to be painted."""
QUIET_STEPS = 15
"""So many steps without a request, and all has come."""

GOOD_MAX = 0.1
"""The cumulative layout shift up to which a page is good, by Web Vitals."""

WATCH = """
window.moved = [];
const told = ({node, previousRect, currentRect}) =>
  `${node?.nodeName}.${node?.className} ${previousRect.y}..${previousRect.bottom} -> ${currentRect.y}..${currentRect.bottom}`;
new PerformanceObserver((list) => {
  for (const shift of list.getEntries()) if (!shift.hadRecentInput) window.moved.push([shift.value, ...shift.sources.map(told)]);
}).observe({type: 'layout-shift', buffered: true});
"""

QUESTION = "search?q=Why+did+the+council+keep+the+old+elm+in+Quill+Square%3F"


def open_step_by_step(site: Site, path: str) -> Page:
    """The page on a phone, with its requests answered one after another."""
    waiting: list[Route] = []

    has_come = False

    def wait(route: Route) -> None:
        if has_come or route.request.is_navigation_request():
            route.continue_()
        else:
            waiting.append(route)

    def before(page: Page) -> None:
        page.add_init_script(WATCH)
        page.route("**/*", wait)

    page = site.open(path, width=360, height=640, touch=True, before=before, wait_until="commit")
    quiet = 0
    while quiet < QUIET_STEPS:
        page.wait_for_timeout(STEP_MS)
        quiet = 0 if waiting else quiet + 1
        if waiting:
            waiting.pop(0).continue_()
    has_come = True
    expect(page.locator("[data-prompt]")).to_be_visible()
    expect(page.locator(":is(.loading, [aria-busy=true]):visible")).to_have_count(0)
    return page


def test_little_moves_while_a_shared_link_loads(site: Site) -> None:
    moved = open_step_by_step(site, QUESTION).evaluate("window.moved")
    assert sum(each[0] for each in moved) < GOOD_MAX, moved
