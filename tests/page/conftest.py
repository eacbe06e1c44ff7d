"""The page in a real browser: Debian's Chromium, headless, against the real server on the sample data.

One browser, one server and one database serve the whole package. Every test gets pages of its own, and fails if one of them
complains: an error that nobody caught, a message in the console, a breach of the Content-Security-Policy.

    def test_something(site: Site) -> None:
        page = site.open("search?q=bridge", width=NARROW)
        page.get_by_role("tab", name="Results").click()

With PAGE_SCREENSHOTS=FOLDER in the environment, `site.picture(page, "name")` leaves a picture there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import psycopg
import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect, sync_playwright

from tests.conftest import clone_database, model_environment
from tests.fakes.openai_server import FakeOpenAI
from tests.running import running_server
from tests.waiting import PATIENCE_SECONDS

# the shell draws the same pages without the windows around them, which cost more than the pages
CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 1000 * PATIENCE_SECONDS

NARROW, WIDE = 390, 1440

ALL_DOMAINS = ["records", "companies", "people", "ontology", "campaigns"]

Scheme = Literal["light", "dark"]


@dataclass
class Site:
    """A served page, and a browser to look at it with."""

    browser: Browser
    url: str
    complaints: list[str] = field(default_factory=list)
    _closing: ExitStack = field(default_factory=ExitStack)

    def open(
        self,
        path: str = "",
        *,
        width: int = 1280,
        height: int = 900,
        scheme: Scheme = "light",
        touch: bool = False,
        domains: Sequence[str] = (),
        before: Callable[[Page], object] = lambda page: None,
        bypass_csp: bool = False,
        wait_until: Literal["load", "commit"] = "load",
    ) -> Page:
        """A new page at `path`, in a browser session of its own. `before` prepares it; `domains` are said to hold data."""
        context = self.browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            has_touch=touch,
            is_mobile=touch,
            bypass_csp=bypass_csp,
            permissions=["clipboard-read", "clipboard-write"],
        )
        self._closing.callback(context.close)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        self._listen(page)
        if domains:
            page.route("**/config.json", answer_json({"domains": list(domains), "sign_in": None, "prefix": ""}))
        before(page)
        page.goto(f"{self.url}/{path}", wait_until=wait_until)
        return page

    def picture(self, page: Page, name: str) -> None:
        """Keep a picture of the page where somebody asked for it."""
        if folder := os.environ.get("PAGE_SCREENSHOTS"):
            page.wait_for_timeout(400)  # for what moves to come to rest
            page.screenshot(path=Path(folder) / f"{name}.png")

    def close(self) -> None:
        self._closing.close()

    def _listen(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self._note(message.type, message.text))

    def _note(self, kind: str, text: str) -> None:
        # the browser's own remarks on an answer that is an error, and on a view that waits: what the page makes of them is tested
        is_remark = (
            text.startswith("Failed to load resource") or "was preloaded using link preload but not used" in text
        )
        if kind in ("error", "warning") and not is_remark:
            self.complaints.append(text)


@pytest.fixture(scope="package")
def page_database(server_url: str, sample_template: str) -> Iterator[str]:
    """The URL of a database with the sample data, for all tests of the page."""
    with clone_database(server_url, sample_template) as url:
        yield url


@pytest.fixture(scope="package")
def served(page_database: str) -> Iterator[str]:
    """The address of a server without a chat model."""
    with running_server(page_database, RATE_LIMIT_PER_MINUTE="0") as url:
        yield url


@pytest.fixture(scope="package")
def served_with_model(page_database: str, shared_model: FakeOpenAI) -> Iterator[str]:
    environment = model_environment(shared_model.url) | {"MODEL_TIMEOUT_SECONDS": "20", "RATE_LIMIT_PER_MINUTE": "0"}
    with running_server(page_database, **environment) as url:
        yield url


# After the databases: while Playwright runs, this thread's event loop is taken.
@pytest.fixture(scope="package")
def browser(page_database: str) -> Iterator[Browser]:
    """The browser of all tests."""
    if CHROMIUM is None:
        pytest.skip("There is no Chromium here: the page is not tested (Debian: apt install chromium-headless-shell)")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def nothing_kept(page_database: str) -> None:
    """No answer is kept that an earlier test was given."""
    with psycopg.connect(page_database) as connection:
        connection.execute("update answer_cache set question_key = null")


@pytest.fixture
def site(browser: Browser, served: str, nothing_kept: None) -> Iterator[Site]:
    """The page on the sample data, without a chat model."""
    yield from _site(browser, served)


@pytest.fixture
def model_site(browser: Browser, served_with_model: str, model: FakeOpenAI, nothing_kept: None) -> Iterator[Site]:
    """The page on the sample data, with the chat model `model`."""
    yield from _site(browser, served_with_model)


def _site(browser: Browser, url: str) -> Iterator[Site]:
    site = Site(browser, url)
    yield site
    site.close()
    assert site.complaints == []


def requests_to(page: Page, address: str, made: list[Request] | None = None) -> list[Request]:
    """The requests whose address has `address` (a pattern) in it that the page makes from now on, after those `made` before. One
    that `expect_request` has waited for is among them; a handler of `page.route` may not have been called by then."""
    made = [] if made is None else made
    page.on("request", lambda request: made.append(request) if re.search(address, request.url) else None)
    return made


def body_of(request: Request) -> Any:
    """The JSON that a request was sent with."""
    return json.loads(request.post_data or "null")


def answer_json(body: object, status: int = 200, **headers: str) -> Callable[[Route], None]:
    """A handler for `page.route` that answers as the service would."""

    def handle(route: Route) -> None:
        route.fulfill(status=status, headers=headers, content_type="application/json", body=json.dumps(body))

    return handle


def answer_problem(status: int, detail: str = "", **headers: str) -> Callable[[Route], None]:
    """A handler that answers with an error."""
    return answer_json(
        {"type": "about:blank", "status": status, "detail": detail, "request_id": "r-1"}, status, **headers
    )


def answer_ndjson(*events: Any) -> Callable[[Route], None]:
    """A handler that answers with a whole stream at once."""

    def handle(route: Route) -> None:
        body = "".join(json.dumps(event) + "\n" for event in events)
        route.fulfill(status=200, content_type="application/x-ndjson", body=body)

    return handle


def answer_sse(*events: Any) -> Callable[[Route], None]:
    """As `answer_ndjson`, as server-sent events."""

    def handle(route: Route) -> None:
        body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        route.fulfill(status=200, content_type="text/event-stream", body=body)

    return handle


HELD_STREAM = """
const real = window.fetch;
const line = (event) => new TextEncoder().encode(JSON.stringify(event) + '\\n');
let early = [], stream = null;
window.send = (event) => {
  if (!stream) return early.push(event);
  stream.enqueue(line(event));
  if (['done', 'final_answer'].includes(event.type)) stream.close();
};
window.fetch = (input, init) => {
  if (!/\\/(ask|chat)$/.test(new URL(input).pathname)) return real(input, init);
  return Promise.resolve(new Response(new ReadableStream({start(controller) {
    stream = controller;
    for (const event of early.splice(0)) send(event);
    init.signal.addEventListener('abort', () => { stream = null; controller.error(init.signal.reason); });
  }})));
};
"""
"""In the place of the service: each `send` of the test is the stream's next event."""


def send(page: Page, kind: str, **data: object) -> None:
    page.evaluate("(event) => send(event)", {"type": kind, "data": data})
