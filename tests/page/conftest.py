"""The page in a real browser: Debian's Chromium, headless, against the real server on the sample data.

One browser, one server and one database serve the whole package. Every test gets pages of its own, in sessions where nothing is
left of earlier tests, and fails if one of them complains: an error that nobody caught, a message in the console, a breach of the
Content-Security-Policy.

    def test_something(site: Site) -> None:
        page = site.open("search?q=bridge", width=NARROW)
        page.get_by_role("tab", name="Results").click()
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, Request, Route, expect, sync_playwright

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
    # the pages of a session share a process: a new one costs a quarter of what a page does
    "--renderer-process-limit=1",
    # of few processes and threads: what they tell each other costs a tenth of a page
    "--in-process-gpu",
    "--enable-features=NetworkServiceInProcess2",
    "--num-raster-threads=1",
]
PATIENCE_MS = 500 * PATIENCE_SECONDS
"""Less: the page's server has started."""

NARROW, WIDE = 390, 1440

ALL_DOMAINS = ["records", "companies", "people", "ontology", "campaigns"]

Scheme = Literal["light", "dark"]


class Kind(NamedTuple):
    """The properties by which browser sessions differ; everything else belongs to a page."""

    touch: bool
    bypass_csp: bool


class Sessions:
    """Browser sessions that tests use one after another: a new one costs as much as half a page."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self._kept: dict[Kind, tuple[BrowserContext, CDPSession]] = {}

    def new(self, kind: Kind) -> BrowserContext:
        context = self.browser.new_context(
            has_touch=kind.touch,
            is_mobile=kind.touch,
            bypass_csp=kind.bypass_csp,
            permissions=["clipboard-read", "clipboard-write"],
            # what turns while a test waits would be drawn sixty times a second
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE_MS)
        return context

    def kept(self, kind: Kind) -> BrowserContext:
        """The session of that kind that is kept."""
        if kind not in self._kept:
            context = self.new(kind)
            # a page that stays keeps the process
            self._kept[kind] = context, context.new_cdp_session(context.new_page())
        return self._kept[kind][0]

    def forget(self, kind: Kind, url: str) -> None:
        """Close the pages of a session that is kept, and take away what they have left there. The page's files stay in its cache:
        they are the same for every test, and what a test holds up or answers itself is never taken from there."""
        context, devtools = self._kept[kind]
        for page in context.pages[1:]:
            page.close()
        context.clear_cookies()
        devtools.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})


@dataclass
class Site:
    """A served page, and a browser to look at it with."""

    sessions: Sessions
    url: str
    complaints: list[str] = field(default_factory=list)
    _closing: ExitStack = field(default_factory=ExitStack)
    _taken: set[Kind] = field(default_factory=set)

    @property
    def browser(self) -> Browser:
        return self.sessions.browser

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
        """Opens a page at `path`, in its own browser session. `before` prepares it; `domains` are the ones with data."""
        page = self._session(Kind(touch, bypass_csp)).new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        self._listen(page)
        if domains:
            page.route("**/config.json", answer_json({"domains": list(domains), "sign_in": None, "prefix": ""}))
        before(page)
        page.goto(f"{self.url}/{path}", wait_until=wait_until)
        return page

    def close(self) -> None:
        self._closing.close()

    def _session(self, kind: Kind) -> BrowserContext:
        """A session in which nothing was done: the one that is kept, and where the test has it already a new one."""
        if kind in self._taken:
            context = self.sessions.new(kind)
            self._closing.callback(context.close)
            return context
        self._taken.add(kind)
        self._closing.callback(self.sessions.forget, kind, self.url)
        return self.sessions.kept(kind)

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
def sessions(page_database: str) -> Iterator[Sessions]:
    """The browser of all tests."""
    if CHROMIUM is None:
        pytest.skip("There is no Chromium here: the page is not tested (Debian: apt install chromium-headless-shell)")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield Sessions(browser)
        browser.close()


@pytest.fixture
def nothing_kept(page_database: str) -> None:
    """Deletes stored answers of earlier tests."""
    with psycopg.connect(page_database) as connection:
        connection.execute("update answer_cache set question_key = null")


@pytest.fixture
def site(sessions: Sessions, served: str, nothing_kept: None) -> Iterator[Site]:
    """The page on the sample data, without a chat model."""
    yield from site_of(sessions, served)


@pytest.fixture
def model_site(sessions: Sessions, served_with_model: str, model: FakeOpenAI, nothing_kept: None) -> Iterator[Site]:
    """The page on the sample data, with the chat model `model`."""
    yield from site_of(sessions, served_with_model)


def site_of(sessions: Sessions, url: str) -> Iterator[Site]:
    """The page at `url`, which reports no errors."""
    site = Site(sessions, url)
    yield site
    site.close()
    assert site.complaints == []


def answered(page: Page) -> None:
    """Waits until the chat's last question is answered."""
    expect(page.locator(".turn-answer").last).to_have_attribute("aria-busy", "false")


def requests_to(page: Page, address: str, made: list[Request] | None = None) -> list[Request]:
    """The page's requests to addresses that contain `address` (a pattern) from now on, after the first `made`, including one
    that `expect_request` waited for; a handler of `page.route` may not have been called by then.
    """
    made = [] if made is None else made
    page.on("request", lambda request: made.append(request) if re.search(address, request.url) else None)
    return made


def body_of(request: Request) -> Any:
    """The JSON body of a request."""
    return json.loads(request.post_data or "null")


def answer_json(body: object, status: int = 200, **headers: str) -> Callable[[Route], None]:
    """A handler for `page.route` that answers as the service does."""

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
