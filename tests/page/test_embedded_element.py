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


EVENTS = [
    {
        "type": "sources",
        "sources": [
            {"n": 1, "type": "motion", "id": "m1", "title": "It stays", "snippet": "It stays.", "date": "2024-02-13"}
        ],
    },
    {"type": "final_answer_chunk", "chunk": "The elm stays [1]."},
    {"type": "done", "answer_id": None},
]


def answering(page: Page) -> None:
    """Each question of the page is answered at once by `EVENTS`."""
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in EVENTS)
    headers = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}
    page.route(
        "**/records/ask*", lambda route: route.fulfill(body=body, content_type="text/event-stream", headers=headers)
    )


@pytest.mark.parametrize(
    ("language", "label", "button", "status", "day"),
    [
        ("de", "Ihre Frage", "Fragen", "Beantwortet aus 1 Quelle.", "13. Februar 2024"),
        ("fr-CA", "Votre question", "Demander", "Réponse tirée de 1 source.", "13 février 2024"),
        ("nl", "Your question", "Ask", "Answered from 1 source.", "13 February 2024"),
    ],
)
def test_its_labels_are_in_the_language_of_the_page_around_it(
    site: Site, html: list[str], open_service: str, language: str, label: str, button: str, status: str, day: str
) -> None:
    html[0] = example(open_service).replace('lang="en"', f'lang="{language}"')
    page = site.open()
    answering(page)
    page.get_by_label(label).fill("?")
    page.get_by_role("button", name=button).click()
    expect(page.get_by_role("status")).to_have_text(status)
    expect(page.locator("quarry-ask")).to_contain_text(day)


def test_escape_leads_from_a_source_back_to_its_citation_and_stops_an_answer(
    site: Site, html: list[str], open_service: str
) -> None:
    html[0] = example(open_service)
    page = site.open()
    answering(page)
    ask(page, "What became of the elm?")
    citation = page.get_by_role("link", name="Source 1")
    citation.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("listitem")).to_be_focused()
    page.keyboard.press("Escape")
    expect(citation).to_be_focused()
    page.unroute_all()
    page.route("**/records/ask*", lambda route: None)
    ask(page, "And then?")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("status")).to_have_text("Stopped.")
    expect(page.get_by_role("button", name="Ask")).to_be_visible()


@pytest.mark.parametrize(("ink", "ground"), [("#1b1f1d", "#ffffff"), ("#e8ece9", "#121514")])
def test_it_takes_its_colours_from_the_page_and_from_custom_properties(
    site: Site, html: list[str], open_service: str, ink: str, ground: str
) -> None:
    style = (
        f"body {{ color: {ink}; background: {ground} }} .own {{ --quarry-accent: rgb(1, 2, 3); --quarry-radius: 9px }}"
    )
    html[0] = example(open_service).replace("<main>", f"<style>{style}</style><main>")
    page = site.open()
    field, button = page.get_by_label("Your question"), page.get_by_role("button", name="Ask")
    own = page.evaluate("getComputedStyle(document.body).color")
    assert field.evaluate("each => getComputedStyle(each).color") == own
    assert button.evaluate("each => getComputedStyle(each).color") == own
    page.evaluate("document.querySelector('quarry-ask').classList.add('own')")
    assert button.evaluate("each => getComputedStyle(each).backgroundColor") == "rgb(1, 2, 3)"
    assert field.evaluate("each => getComputedStyle(each).borderRadius") == "9px"
