"""`<quarry-ask>` on a page of another origin, as docs/embed.md shows it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from tests.page.conftest import Sessions, Site, site_of
from tests.running import free_port, running_server, serving_app

DOCS = (Path(__file__).resolve().parents[2] / "docs/embed.md").read_text()


@pytest.fixture(scope="module")
def html() -> list[str]:
    """The content of the second site; each test sets it."""
    return [""]


@pytest.fixture(scope="module")
def elsewhere(html: list[str]) -> Iterator[str]:
    """The address of another site on this machine."""

    async def index(_: object) -> HTMLResponse:
        return HTMLResponse(html[0])

    with serving_app(Starlette(routes=[Route("/", index), Route("/favicon.ico", index)])) as url:
        yield url


@pytest.fixture(scope="module")
def open_service(page_database: str, elsewhere: str) -> Iterator[str]:
    """A service that allows the other site's pages."""
    with running_server(page_database, RATE_LIMIT_PER_MINUTE="0", ALLOWED_ORIGIN=elsewhere) as url:
        yield url


@pytest.fixture
def site(sessions: Sessions, elsewhere: str, nothing_kept: None) -> Iterator[Site]:
    yield from site_of(sessions, elsewhere)


def example(service: str) -> str:
    """The page of docs/embed.md, with the address of `service`."""
    [block] = re.findall(r"```html\n(.*?)```", DOCS, re.DOTALL)
    return str(block).replace("http://127.0.0.1:8080", service)


def ask(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask").click()


def test_a_page_of_another_origin_shows_an_answer_with_its_sources(
    site: Site, html: list[str], open_service: str
) -> None:
    html[0] = example(open_service)
    page = site.open()
    ask(page, "Why did the council keep the old elm in Quill Square?")
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^Answered from \d+ sources?\.$"))
    sources = page.get_by_role("list", name="Sources").get_by_role("listitem")
    expect(sources.first).to_contain_text(re.compile("elm", re.IGNORECASE))
    assert "&#" not in " ".join(sources.all_inner_texts())
    citation = page.get_by_role("link", name=re.compile("^Source ")).first
    number = str(citation.text_content()).strip("[]")
    citation.click()
    expect(page.locator(f"li[value='{number}']")).to_be_focused()


def test_text_that_is_withdrawn_is_not_shown_with_the_answer(site: Site, html: list[str], open_service: str) -> None:
    events = [
        {"type": "final_answer_chunk", "chunk": "The elm was felled in "},
        {"type": "text_withdrawn", "reason": "Most of it is not borne out."},
        {
            "type": "sources",
            "sources": [{"n": 1, "type": "motion", "id": "m1", "title": "It stays", "snippet": "It stays."}],
        },
        {"type": "final_answer_chunk", "chunk": "The elm stays [1]."},
        {"type": "done", "answer_id": None, "degraded": ["records_answer"]},
    ]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    headers = {"Access-Control-Allow-Origin": "*"}
    html[0] = example(open_service)
    page = site.open()
    page.route(
        "**/records/ask*",
        lambda route: route.fulfill(body=stream, content_type="text/event-stream", headers=headers),
    )
    ask(page, "What became of the elm?")
    expect(page.get_by_role("status")).to_have_text("Answered from 1 source.")
    expect(page.locator("quarry-ask")).to_contain_text("The elm stays")
    expect(page.locator("quarry-ask")).not_to_contain_text("felled")


def test_an_unreachable_service_is_reported(site: Site, html: list[str], open_service: str) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    html[0] = example(open_service).replace("<quarry-ask", f'<quarry-ask src="{gone}"')
    page = site.open()
    ask(page, "What was decided?")
    expect(page.get_by_role("status")).to_contain_text("cannot be reached")
    site.complaints.clear()  # the browser's own line about the refused connection
