"""axe-core finds nothing, and nothing is wider than the screen: each kind of view, on a small phone and on a desk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from quarry.people.contract import Contact, UnlockResponse
from tests.page import test_campaigns_page as campaigns
from tests.page import test_companies_page as companies
from tests.page import test_ontology_page as ontology
from tests.page import test_people_page as people
from tests.page.conftest import (
    HELD_STREAM,
    NARROW,
    Site,
    answer_json,
    answer_problem,
    answer_sse,
)
from tests.page.test_sign_in import ManagedLogin

SMALL_PHONE, DESK = 320, 1280

QUESTION = "Why did the council keep the old elm in Quill Square?"
ASKED = "search?" + urlencode({"q": QUESTION})
LISTED = "search?q=bridge&type=motion"
DONE = ".answer-grid[data-state=done]"

LONG = "Donaudampfschifffahrtsgesellschaftskapitän" * 5
"""A word that no line holds."""

FINDINGS = """async () => {
    // what changes with the colours does so within a frame
    await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
    const {violations} = await axe.run({resultTypes: ['violations']});
    return violations.flatMap(({id, nodes}) => nodes.map(({target, failureSummary}) => `${id}: ${target} ${failureSummary}`));
}"""

WIDER = """() => {
    const all = document.querySelectorAll('html, dialog[open], dialog[open] > *, :popover-open');
    const wide = [...all].filter((box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== 'hidden');
    const end = (node) => node.getBoundingClientRect().right;
    const isOut = (node) => node.checkVisibility() && wide.some((box) => end(node) > end(box));
    const named = (node) => `${node.tagName}.${node.className}`;
    return wide.length > 0 ? [...document.querySelectorAll('body *')].filter(isOut).map(named) : [];
}"""
"""What sticks out of the page, the panel or the preview, where one of them can be scrolled sideways."""

Before = Callable[[Page], object]


def routed(path: str, handler: Callable[..., None]) -> Before:
    return lambda page: page.route(path, handler)


def held(page: Page) -> None:
    page.add_init_script(HELD_STREAM)


def state(path: str, shows: str, *clicks: str, before: Before = lambda page: None) -> Callable[[Site], Page]:
    """A view at rest. `clicks`, and what it `shows` after them, are selectors."""

    def opened(site: Site) -> Page:
        page = site.open(path, bypass_csp=True, width=SMALL_PHONE, height=640, before=before)
        for selector in clicks:
            page.locator(selector).first.click()
        expect(page.locator(shows).first).to_be_visible()
        return page

    return opened


def records_streaming(site: Site) -> Page:
    page = state(ASKED, "text=Stop", before=held)(site)
    for event in (
        {"type": "intent", "intent": "question"},
        {"type": "tool_call", "id": "1", "tool": "search", "arguments": {"text": QUESTION}},
        {"type": "tool_observation", "id": "1", "tool": "search", "count": 2, "summary": "2 records found"},
        {"type": "sources", "sources": [SOURCE | {"n": n} for n in (1, 2)]},
        {"type": "final_answer_chunk", "chunk": "It is **sound** [1], and the vote"},
    ):
        page.evaluate("(event) => send(event)", event)
    expect(page.locator(".prose strong")).to_have_text("sound")
    return page


def records_answered(site: Site) -> Page:
    page = state(ASKED, DONE, f"{DONE} .timeline-summary", "text=Not helpful", ".menu summary:visible")(site)
    page.locator(".citation").first.focus()
    expect(page.get_by_role("tooltip")).to_be_visible()
    return page


def reference(site: Site) -> Page:
    """All routes fit; axe looks at those that a search leaves, which are made alike."""
    page = state("docs", "article details[open]", "article summary:has-text('Fields')")(site)
    assert page.evaluate(WIDER) == []
    page.get_by_role("searchbox").fill("conversation")
    expect(page.locator("[data-announcer]")).to_contain_text("matches")
    return page


SOURCE = {
    "type": "motion",
    "id": "m-1",
    "title": "Keep the elm",
    "snippet": "The <mark>elm</mark> is sound.",
    "date": "2024-02-13",
    "similarity": 0.8,
}


def answer_of(*events: dict[str, Any], chunk: str = "It is sound [1].", level: str = "medium") -> Before:
    """Answers any question with everything that an answer may contain."""
    answer = answer_sse(
        {"type": "intent", "intent": "question"},
        {"type": "sources", "sources": [SOURCE | {"n": 1}]},
        {"type": "final_answer_chunk", "chunk": chunk},
        *events,
        {"type": "confidence", "level": level, "source_count": 1, "label": "Medium confidence, based on 1 source"},
        {"type": "followups", "questions": ["Who was against it?", "What did the cables cost?"]},
        {"type": "done", "answer_id": "a-1", "cached": True, "topic_changed": False, "degraded": ["records_answer"]},
    )
    return routed("**/records/ask", answer)


def in_part() -> Before:
    sentence = "It was sold to a circus [1]."
    citation = {"n": 1, "sentence": sentence, "support": 0.1, "verified": False}
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    return answer_of(
        {"type": "citations", "citations": [citation], "unsupported": [sentence]},
        chunk=f"## What is said\n\n{sentence}\n\n- one\n- two\n\n> quoted\n\n{table}\n\n```\ncode\n```",
        level="low",
    )


def counted() -> Before:
    groups = [{"value": f"2024-{month:02}", "label": f"Month {month}", "count": month} for month in range(1, 13)]
    query = {"source": "motion", "aggregate": [{"fn": "count"}], "group": [{"field": "date", "period": "month"}]}
    columns = [
        {"name": "date", "label": "month", "kind": "date"},
        {"name": "count", "label": "number of motions", "kind": "number"},
    ]
    event = {"type": "aggregation", "by": "date", "groups": groups, "columns": columns, "total": 78, "query": query}
    return answer_of(event | {"filters": {"types": ["motion"]}})


def long_results() -> Before:
    result = SOURCE | {
        "title": LONG,
        "snippet": f"<mark>{LONG}</mark> שלום 🏗️",
        "score": 1.0,
        "matched": {"text_rank": 1},
    }
    body = {"query": LONG, "intent": "keyword", "counts": {"motion": 1}, "more": False, "degraded": []}
    return routed("**/records/search?*", answer_json(body | {"results": [result | {"also": [result | {"id": "m-2"}]}]}))


def long_person() -> Before:
    [person] = people.FOUND["people"]
    return people.Searches(people.FOUND | {"people": [person | LONG_PERSON]})


def unlocking() -> Before:
    contact = Contact(email="asha@example.org", phone="+91 80 1234", links=["https://asha.example"])
    answer = UnlockResponse(charged=True, balance=9, contact=contact).model_dump(mode="json")

    def before(page: Page) -> None:
        people.Searches()(page)
        page.route("**/unlock-contact", answer_json(answer))

    return before


def kept() -> Before:
    at = "2026-01-01T10:00:00Z"
    conversation = {"id": "1", "domain": "records", "title": LONG, "turn_count": 2, "updated_at": at}
    search = {"id": "2", "domain": "people", "query": "x", "name": "x", "parameters": {}, "opened_at": at}

    def before(page: Page) -> None:
        conversations = [conversation, conversation | {"id": "3", "title": "Elm"}]
        page.route("**/me/conversations", answer_json({"conversations": conversations}))
        page.route("**/me/searches", answer_json({"searches": [search]}))

    return before


AGREED = "text=Search for one credit"
LONG_PERSON = dict.fromkeys(("name", "headline", "bio"), LONG) | {
    name: [LONG] for name in ("why_matched", "meets", "misses")
}

STATES = {
    "records first": state("", "button:has-text('old elm')"),
    "records streaming": records_streaming,
    "records answered": records_answered,
    "records cited": state(ASKED, "dialog mark", f"{DONE} .citation"),
    "records in part": state(ASKED, DONE, before=in_part()),
    "records counted": state(ASKED, "figure", before=counted()),
    "records long": state(f"search?q=x&status={LONG}", ".result", ".result-also summary", before=long_results()),
    "companies compared": state(
        companies.ASKED, "table", ".compare-box >> nth=0", ".compare-box >> nth=1", ".compare-bar >> text=Compare"
    ),
    "people first": state("search?domain=people", ".everybody li"),
    "people changing": state(
        people.ASKED, "[role=group]:has-text('Must')", AGREED, "text='at Paynest'", before=people.Searches()
    ),
    "people unlocked": state(
        people.ASKED, "text=asha@example.org", AGREED, ".result-open", "text=Show contact details", before=unlocking()
    ),
    "people long": state(people.ASKED, ".found", AGREED, before=long_person()),
    "projects found": state(ontology.ASKED, ".result", before=ontology.Workspace()),
    "campaigns answered": state(campaigns.ASKED, "figure"),
    "kept": state("#kept", "dialog input", "[aria-label='Rename: x']", "[aria-label='Delete: Elm']", before=kept()),
    "signed out": state(LISTED, "text=Sign in to search >> visible=true", before=ManagedLogin().play),
    "failed": state(
        LISTED, "[role=alert]:visible", before=routed("**/records/search?*", answer_problem(503, **{"Retry-After": "3600"}))
    ),
    "reference": reference,
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_axe_finds_nothing_and_all_fits_the_screen(site: Site, name: str) -> None:
    page = STATES[name](site)
    page.evaluate(AXE_SCRIPT)
    # each width and each scheme once: at both widths the colours are the same
    for width, scheme in ((SMALL_PHONE, "light"), (DESK, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert page.evaluate(FINDINGS) + page.evaluate(WIDER) == [], (width, scheme)


def test_touch_targets_are_large_enough(site: Site) -> None:
    page = site.open("search?q=bridge", width=NARROW, touch=True)
    expect(page.locator(".result").first).to_be_visible()
    small = page.evaluate("""() => [...document.querySelectorAll('button, summary, nav a, .wordmark')]
        .filter((node) => node.checkVisibility() && !node.matches('.result-open'))
        .map((node) => [node.innerText || node.ariaLabel, node.getBoundingClientRect().height])
        .filter(([, height]) => height < 44)""")
    assert small == []


PHONE = {"width": NARROW, "height": 844, "touch": True}


@pytest.mark.parametrize(
    ("path", "result", "clicks"),
    [
        ("search?q=bridge", ".result", ()),
        (companies.ASKED, ".found", ()),
        ("search?domain=people&q=Engineers+in+Pune", ".found", (AGREED,)),
        ("search?domain=projects&q=kitchen", ".result", ()),
        ("search?domain=campaigns&q=winter+boots", ".campaign", ()),
    ],
)
def test_the_first_result_and_all_tabs_are_within_a_phones_screen(
    site: Site, path: str, result: str, clicks: tuple[str, ...]
) -> None:
    page = site.open(path, **PHONE)  # type: ignore[arg-type]
    for selector in clicks:
        page.locator(selector).first.click()
    expect(page.locator(result).first).to_be_in_viewport(ratio=0.2)
    for tab in page.get_by_role("navigation", name="What to search").get_by_role("link").all():
        expect(tab).to_be_in_viewport(ratio=1)


def test_the_chosen_colour_scheme_outlasts_a_reload(site: Site) -> None:
    page = site.open(scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark colours").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    expect(page.get_by_role("button", name="Light colours")).to_be_visible()
    assert page.evaluate(ground) == dark
