"""axe-core finds nothing, and nothing is wider than a small phone: every view in every state, in either colour scheme."""

from __future__ import annotations

import re
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
    Scheme,
    Site,
    answer_json,
    answer_ndjson,
    answer_problem,
    answer_sse,
    answered,
    send,
)
from tests.page.test_sign_in import ManagedLogin

SMALL_PHONE, DESK = 320, 1280
SCHEMES: tuple[Scheme, ...] = ("light", "dark")

QUESTION = "Why did the council keep the old elm in Quill Square?"
ASKED = "search?" + urlencode({"q": QUESTION})
LISTED = "search?q=bridge&type=motion"

LONG = "Donaudampfschifffahrtsgesellschaftskapitän" * 5
"""A word that no line holds."""

FINDINGS = """async (rules) => {
    // what changes with the colours does so within a frame
    await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
    const {violations} = await axe.run({resultTypes: ['violations'], ...rules && {runOnly: rules}});
    return violations.flatMap(({id, nodes}) => nodes.map(({target, failureSummary}) => `${id}: ${target} ${failureSummary}`));
}"""

OF_COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules that look at colours, by axe's names: of a second colour scheme no other finds anything else."""

WIDER = """() => {
    const all = document.querySelectorAll('html, dialog[open], dialog[open] > *, :popover-open');
    const wide = [...all].filter((box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX !== 'hidden');
    const end = (node) => node.getBoundingClientRect().right;
    const isOut = (node) => node.checkVisibility() && wide.some((box) => end(node) > end(box));
    const named = (node) => `${node.tagName}.${node.className}`;
    return wide.length > 0 ? [...document.querySelectorAll('body *')].filter(isOut).map(named) : [];
}"""
"""What sticks out of the page, of the panel or of the preview, where one of them can be scrolled sideways."""


def at_rest(site: Site, path: str = "", **how: Any) -> Page:
    """A page that nothing fades in on: what does has no contrast yet."""
    before = how.pop("before", lambda page: None)

    def prepare(page: Page) -> None:
        page.emulate_media(reduced_motion="reduce")
        before(page)

    return site.open(path, bypass_csp=True, width=SMALL_PHONE, height=640, before=prepare, **how)


def routed(path: str, handler: Callable[..., None]) -> Callable[[Page], object]:
    return lambda page: page.route(path, handler)


def unanswered(path: str) -> Callable[[Page], object]:
    """What is asked for there never comes."""
    script = "const ask = fetch; fetch = (at, how) => String(at).includes('%s') ? new Promise(() => {}) : ask(at, how);"
    return lambda page: page.add_init_script(script % path)


def held(page: Page) -> None:
    page.add_init_script(HELD_STREAM)


# --- records


def records_first(site: Site) -> Page:
    page = at_rest(site)
    expect(page.get_by_role("button", name=re.compile("old elm"))).to_be_visible()
    return page


def records_waiting(site: Site) -> Page:
    page = at_rest(site, ASKED, before=unanswered("/records/"))
    expect(page.locator(".loading").first).to_be_visible()
    return page


def records_streaming(site: Site) -> Page:
    page = at_rest(site, ASKED, before=held)
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


def finished(page: Page) -> Page:
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    return page


def records_answered(site: Site) -> Page:
    page = finished(at_rest(site, ASKED))
    page.locator(".timeline-summary").click()
    page.get_by_role("button", name="Not helpful").click()
    page.locator(".citation").first.focus()
    expect(page.get_by_role("tooltip")).to_be_visible()
    return page


def records_taken_away(site: Site) -> Page:
    page = finished(at_rest(site, ASKED))
    page.locator(".menu summary:visible").click()
    expect(page.locator("[open] > .menu-items")).to_be_visible()
    return page


def records_cited(site: Site) -> Page:
    page = finished(at_rest(site, ASKED))
    page.locator(".citation").last.press("Enter")
    expect(page.get_by_role("dialog").locator("mark").first).to_be_visible()
    return page


def records_refused(site: Site) -> Page:
    return finished(at_rest(site, "search?q=What+is+the+capital+of+France%3F&tab=answer"))


SOURCE = {
    "type": "motion",
    "id": "m-1",
    "title": "Keep the elm",
    "snippet": "The <mark>elm</mark> is sound.",
    "date": "2024-02-13",
    "similarity": 0.8,
}


def answer_of(*events: dict[str, Any], chunk: str = "It is sound [1].", level: str = "medium") -> Callable[..., None]:
    return answer_sse(
        {"type": "intent", "intent": "question"},
        {"type": "sources", "sources": [SOURCE | {"n": 1}]},
        {"type": "final_answer_chunk", "chunk": chunk},
        *events,
        {"type": "confidence", "level": level, "source_count": 1, "label": "Medium confidence, based on 1 source"},
        {"type": "followups", "questions": ["Who was against it?", "What did the cables cost?"]},
        {"type": "done", "answer_id": "a-1", "cached": True, "topic_changed": False, "degraded": ["records_answer"]},
    )


def records_in_part(site: Site) -> Page:
    """An answer with all that may be remarked on it: a sentence without support, given before, made by simple rules."""
    sentence = "It was sold to a circus [1]."
    citations = {
        "type": "citations",
        "citations": [{"n": 1, "sentence": sentence, "support": 0.1, "verified": False}],
        "unsupported": [sentence],
    }
    markdown = f"## What is said\n\n{sentence}\n\n- one\n- two\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```"
    return finished(
        at_rest(site, ASKED, before=routed("**/records/ask", answer_of(citations, chunk=markdown, level="low")))
    )


def records_counted(site: Site) -> Page:
    groups = [{"value": f"2024-{month:02}-01", "count": month} for month in range(1, 13)]
    counted = {"type": "aggregation", "by": "month", "groups": groups, "total": 78, "filters": {"types": ["motion"]}}
    page = finished(at_rest(site, ASKED, before=routed("**/records/ask", answer_of(counted))))
    expect(page.get_by_role("figure")).to_be_visible()
    return page


def records_cut(site: Site) -> Page:
    cut = answer_sse({"type": "intent", "intent": "question"}, {"type": "final_answer_chunk", "chunk": "It is"})
    page = at_rest(site, ASKED, before=routed("**/records/ask", cut))
    expect(page.get_by_role("alert")).to_contain_text("The answer broke off")
    return page


def records_stopped(site: Site) -> Page:
    page = at_rest(site, ASKED, before=held)
    page.evaluate("(event) => send(event)", {"type": "intent", "intent": "question"})
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("note")).to_contain_text("Stopped")
    return page


def records_conversation(site: Site) -> Page:
    page = finished(at_rest(site, ASKED, before=routed("**/records/ask", answer_of())))
    page.get_by_role("button", name="Who was against it?").click()
    expect(page.locator(".trail")).to_be_visible()
    return finished(page)


def records_shared(site: Site) -> Page:
    stored = {
        "id": "a-1",
        "query": QUESTION,
        "answer": "It is sound [1].",
        "sources": [SOURCE | {"n": 1}],
        "citations": [],
        "unsupported": [],
        "suggested_followups": ["Who was against it?"],
        "confidence": "medium",
        "confidence_label": "Medium confidence",
        "created_at": "2026-01-01T00:00:00Z",
        "expires_at": "2026-01-31T00:00:00Z",
        "changed_since": [{"n": 1, "type": "motion", "id": "m-1", "title": "Keep the elm", "change": "gone"}],
    }
    return finished(at_rest(site, f"{ASKED}&id=a-1", before=routed("**/answers/a-1", answer_json(stored))))


def records_expired(site: Site) -> Page:
    page = at_rest(site, f"{ASKED}&id=a-1")
    expect(page.get_by_role("alert")).to_contain_text("expired")
    return page


def records_listed(site: Site) -> Page:
    page = at_rest(site, LISTED)
    expect(page.locator(".result").first).to_be_visible()
    page.locator("summary", has_text="Any date").click()
    expect(page.get_by_role("group", name="When they are from")).to_be_visible()
    page.locator("details.facets > summary").click()
    expect(page.locator("details.facets select").first).to_be_visible()
    return page


def records_open(site: Site) -> Page:
    page = at_rest(site, LISTED)
    page.locator(".result-open").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("Mover")
    return page


def records_none(site: Site) -> Page:
    page = at_rest(site, f"{LISTED}&to=2001-01-01&tab=results")
    expect(page.get_by_role("button", name=re.compile(r"^Any date ?\+\d"))).to_be_visible()
    return page


def records_long(site: Site) -> Page:
    long = SOURCE | {"title": LONG, "snippet": f"<mark>{LONG}</mark> שלום 🏗️", "score": 1.0, "matched": {"text_rank": 1}}
    body = {
        "query": LONG,
        "intent": "keyword",
        "results": [long | {"also": [long | {"id": "m-2"}]}],
        "counts": {"motion": 1},
        "more": False,
        "degraded": [],
    }
    page = at_rest(
        site,
        "search?" + urlencode({"q": LONG, "status": LONG}),
        before=routed("**/records/search?*", answer_json(body)),
    )
    page.locator(".result-also summary").click()
    return page


def record_long(site: Site) -> Page:
    record = {
        "type": "motion",
        "id": "m-1",
        "title": LONG,
        "date": None,
        "url": f"https://example.org/{LONG}",
        "fields": {"text": LONG * 10, "mover": LONG, "votes": ["a", LONG], "nothing": None},
        "meeting": {"title": LONG, "summary": LONG, "video_url": "https://example.org"},
    }
    page = at_rest(site, "search?q=bridge#motion/m-1", before=routed("**/records/motion/m-1", answer_json(record)))
    expect(page.get_by_role("dialog").locator(".facts").first).to_be_visible()
    return page


def answer_long(site: Site) -> Page:
    chunk = f"# {LONG}\n\n{LONG} [1]\n\n`{LONG}`\n\n<https://example.org/{LONG}>"
    chunk += f"\n\n| {LONG} | {LONG} |\n|---|---|\n| {LONG} | 2 |"
    events = routed("**/records/ask", answer_of(chunk=chunk))
    return finished(at_rest(site, "search?" + urlencode({"q": f"Why {LONG}?"}), before=events))


# --- companies


def companies_first(site: Site) -> Page:
    page = at_rest(site, "search?domain=companies")
    expect(page.get_by_role("textbox")).to_be_visible()
    return page


def companies_running(site: Site) -> Page:
    page = at_rest(site, companies.ASKED, before=held)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    send(page, "activity", id="plan", label="Planned", status="completed", durationMs=1234)
    send(page, "activity", id="rank", label="Ranking", status="failed", detail="By simple rules instead", durationMs=5)
    send(page, "activity", id="check", label="Checking", status="running")
    send(page, "partial_text", text="Two **fit** well")
    expect(page.locator(".prose strong")).to_have_text("fit")
    return page


def companies_answered(site: Site) -> Page:
    page = at_rest(site, companies.ASKED)
    answered(page)
    page.locator(".timeline-summary").click()
    page.locator(".condition .chip-open, .understood button").first.click()
    page.locator(".compare-box").nth(0).click()
    page.locator(".compare-box").nth(1).click()
    return page


def companies_open(site: Site) -> Page:
    page = at_rest(site, companies.ASKED)
    page.locator(".result-open").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("What it does")
    return page


def companies_compared(site: Site) -> Page:
    page = companies_answered(site)
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("table")).to_be_visible()
    return page


def companies_none(site: Site) -> Page:
    page = at_rest(site, companies.ASKED, before=routed("**/companies/chat", answer_ndjson(companies.last_event())))
    expect(page.locator(".prose")).to_have_text("Nothing fits.")
    return page


def companies_long(site: Site) -> Page:
    reference = {
        "companyId": "c-1",
        "companyName": LONG,
        "reason": LONG,
        "inlineDescription": LONG,
        "evidenceChips": [LONG],
        "confidence": 0.5,
        "meets": [LONG],
        "misses": [LONG],
    }
    company: dict[str, Any] = {
        "id": "c-1",
        "company_name": LONG,
        "status": "startup",
        "tagline": LONG,
        "website_url": None,
    }
    lists = ("niches", "sectors", "categories", "business_models", "founders", "former_names")
    company |= {name: [LONG] for name in lists}
    evidence = {"field": "country", "value": LONG, "start": 0, "end": 6, "assertion": "affirmed"}
    condition = {"field": "country", "values": [LONG], "negated": False, "strength": "required", "label": LONG}
    answer = companies.last_event(
        content=LONG,
        references=[reference, reference | {"companyId": "c-2"}],
        companiesById={"c-1": company, "c-2": company},
        constraints={"conditions": [condition], "excluded": [], "evidence": [evidence]},
    )
    page = at_rest(site, companies.ASKED, before=routed("**/companies/chat", answer_ndjson(answer)))
    answered(page)
    return page


# --- people


def people_first(site: Site) -> Page:
    page = at_rest(site, "search?domain=people")
    expect(page.get_by_role("region", name="Everybody").get_by_role("listitem").first).to_be_visible()
    return page


def people_profile(site: Site) -> Page:
    page = people_first(site)
    page.get_by_role("region", name="Everybody").get_by_role("button").first.click()
    expect(page.get_by_role("dialog").locator(".career-card").first).to_be_visible()
    return page


def people_waiting(site: Site) -> Page:
    page = people.asked(at_rest(site, people.ASKED, before=unanswered("/people/search")))
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    return page


def people_found(site: Site) -> Page:
    page = people.asked(at_rest(site, people.ASKED, before=people.Searches()))
    expect(page.get_by_role("article")).to_be_visible()
    return page


def people_changing(site: Site) -> Page:
    page = people_found(site)
    page.get_by_role("button", name="at Paynest", exact=True).press("Enter")
    expect(page.get_by_role("group", name="Change: at Paynest")).to_be_visible()
    return page


def people_open(site: Site) -> Page:
    page = people_found(site)
    page.locator(".result-open").click()
    expect(page.locator(".career-card")).to_be_visible()
    return page


def people_unlocked(site: Site) -> Page:
    contact = Contact(email="asha@example.org", phone="+91 80 1234", links=["https://asha.example"])
    page = people_open(site)
    answer = UnlockResponse(charged=True, balance=9, contact=contact).model_dump(mode="json")
    page.route("**/unlock-contact", answer_json(answer))
    page.get_by_role("button", name="Show contact details").click()
    expect(page.get_by_role("link", name="asha@example.org")).to_be_visible()
    return page


def people_locked(site: Site) -> Page:
    page = people_open(site)
    page.route("**/unlock-contact", answer_problem(402, "This needs one credit; you have none."))
    page.get_by_role("button", name="Show contact details").click()
    expect(page.get_by_role("alert")).to_contain_text("Out of credits")
    return page


def people_compared(site: Site) -> Page:
    [person] = people.FOUND["people"]
    several = people.FOUND | {"people": [person | {"id": f"p-{n}", "name": f"Asha {n}"} for n in range(1, 6)]}
    page = people.asked(at_rest(site, people.ASKED, before=people.Searches(several)))
    for n in range(1, 5):
        page.get_by_label(f"Compare Asha {n}").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("table")).to_be_visible()
    return page


def people_broke(site: Site) -> Page:
    page = people.asked(at_rest(site, people.ASKED, before=routed("**/people/search", answer_problem(402))))
    expect(page.get_by_role("alert")).to_contain_text("Out of credits")
    return page


def people_none(site: Site) -> Page:
    page = people.asked(at_rest(site, people.ASKED, before=people.Searches(people.FOUND | {"people": []})))
    expect(page.get_by_role("heading", name="Nobody fits")).to_be_visible()
    return page


def people_shared(site: Site) -> Page:
    page = at_rest(site, f"{people.ASKED}&search=s-0", before=routed("**/people/search*", answer_problem(404)))
    expect(page.get_by_role("button", name="Search for one credit")).to_be_visible()
    return page


def people_long(site: Site) -> Page:
    [person] = people.FOUND["people"]
    long = person | {
        "name": LONG,
        "headline": LONG,
        "bio": LONG,
        "why_matched": [LONG],
        "meets": [LONG],
        "misses": [LONG],
    }
    long |= {"work_preferred_locations": [LONG]}
    page = people.asked(at_rest(site, people.ASKED, before=people.Searches(people.FOUND | {"people": [long]})))
    expect(page.get_by_role("article")).to_be_visible()
    return page


# --- projects


def projects_first(site: Site) -> Page:
    page = at_rest(site, "search?domain=ontology")
    expect(page.get_by_role("textbox")).to_be_visible()
    return page


def projects_found(site: Site) -> Page:
    page = at_rest(site, ontology.ASKED, before=ontology.Workspace())
    expect(page.locator(".result")).to_have_count(4)
    return page


def projects_open(site: Site) -> Page:
    page = projects_found(site)
    page.locator(".result-open").first.click()
    expect(page.locator(".panel .prose")).to_be_visible()
    return page


def projects_none(site: Site) -> Page:
    page = at_rest(site, "search?domain=ontology&q=zzzzqqqq")
    expect(page.locator(".empty-title")).to_be_visible()
    return page


# --- campaigns


def campaigns_first(site: Site) -> Page:
    page = at_rest(site, "search?domain=campaigns")
    expect(page.get_by_role("textbox")).to_be_visible()
    return page


def campaigns_running(site: Site) -> Page:
    page = at_rest(site, campaigns.ASKED, before=held)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    send(page, "tool_call", id="1", tool="semantic_search", arguments={"query": "tea", "channel": ["Email"]})
    expect(page.locator(".timeline li")).to_be_visible()
    return page


def campaigns_answered(site: Site) -> Page:
    page = at_rest(site, campaigns.ASKED)
    answered(page)
    expect(page.get_by_role("figure", name="By channel")).to_be_visible()
    return page


def campaigns_open(site: Site) -> Page:
    page = campaigns_answered(site)
    page.locator(".campaign").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("Channel")
    return page


def campaigns_none(site: Site) -> Page:
    answer = {"type": "final_answer", "data": campaigns.ANSWER}
    page = at_rest(
        site,
        "search?" + urlencode({"domain": "campaigns", "q": campaigns.QUESTION}),
        before=routed("**/campaigns/chat", answer_ndjson(answer)),
    )
    answered(page)
    return page


# --- what is kept, and what failed


def kept_nothing(site: Site) -> Page:
    page = at_rest(site, "#kept", before=kept([], []))
    expect(page.get_by_role("dialog")).to_contain_text("Keep a conversation below its answer")
    return page


def kept(conversations: list[Any], searches: list[Any]) -> Callable[[Page], None]:
    def before(page: Page) -> None:
        page.route("**/me/conversations", answer_json({"conversations": conversations}))
        page.route("**/me/searches", answer_json({"searches": searches}))

    return before


def kept_things(site: Site) -> Page:
    at = "2026-01-01T10:00:00Z"
    conversation = {"id": "1", "domain": "records", "title": LONG, "turn_count": 2, "updated_at": at}
    search = {"id": "2", "domain": "people", "query": "x", "name": "x", "parameters": {}, "opened_at": at}
    page = at_rest(site, "#kept", before=kept([conversation, conversation | {"id": "3", "title": "Elm"}], [search]))
    page.get_by_role("button", name="Rename: x").click()
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_be_focused()
    page.get_by_role("button", name="Delete: Elm").click()
    return page


def panel_failed(site: Site) -> Page:
    page = at_rest(site, "#kept", before=routed("**/me/conversations", answer_problem(503, **{"Retry-After": "9"})))
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    return page


def panel_waiting(site: Site) -> Page:
    page = at_rest(site, "#kept", before=unanswered("/me/conversations"))
    expect(page.get_by_role("dialog")).to_be_visible()
    return page


def empty_database(site: Site) -> Page:
    empty = answer_json({"domains": [], "sign_in": None, "prefix": ""})
    page = at_rest(site, before=routed("**/config.json", empty))
    expect(page.get_by_role("heading", name="There is nothing here yet")).to_be_visible()
    return page


def signed_out(site: Site) -> Page:
    page = at_rest(site, LISTED, before=ManagedLogin().play)
    expect(page.get_by_role("alert")).to_contain_text("Sign in to search")
    return page


def first_call_failed(site: Site) -> Page:
    page = at_rest(site, before=routed("**/config.json", lambda route: route.abort()))
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    return page


def reference(site: Site) -> Page:
    page = at_rest(site, "docs")
    # of very many routes made by the same code a few
    page.get_by_role("searchbox").fill("records search")
    expect(page.locator(".operation:visible").nth(9)).to_have_count(0)
    page.locator("article summary", has_text="Fields").first.click()
    page.locator("article summary", has_text="Answer").first.click()
    return page


def failed(status: int) -> Callable[[Site], Page]:
    """The face of a failure."""

    def state(site: Site) -> Page:
        wait = {"Retry-After": "3600"} if status in (429, 503) else {}
        problem = answer_problem(status, **wait)
        page = at_rest(site, LISTED, before=routed("**/records/search?*", problem))
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.locator(".loading, [aria-busy=true]")).to_have_count(0)
        return page

    state.__name__ = f"failed_{status}"
    return state


STATES = [
    records_first, records_waiting, records_streaming, records_answered, records_taken_away, records_cited, records_refused,
    records_in_part, records_counted, records_cut, records_stopped, records_conversation, records_shared, records_expired,
    records_listed, records_open, records_none, records_long, record_long, answer_long,
    companies_first, companies_running, companies_answered, companies_open, companies_compared, companies_none,
    companies_long,
    people_first, people_profile, people_waiting, people_found, people_changing, people_open, people_unlocked,
    people_locked, people_compared, people_broke, people_none, people_shared, people_long,
    projects_first, projects_found, projects_open, projects_none,
    campaigns_first, campaigns_running, campaigns_answered, campaigns_open, campaigns_none,
    kept_nothing, kept_things, panel_failed, panel_waiting, empty_database, signed_out, first_call_failed, reference,
    *map(failed, (401, 403, 410, 421, 422, 429, 500, 503)),
]  # fmt: skip


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_axe_finds_nothing_and_all_fits(site: Site, state: Callable[[Site], Page]) -> None:
    page = state(site)
    page.evaluate(AXE_SCRIPT)
    findings = {}
    for width in (SMALL_PHONE, DESK):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            rules = None if scheme == SCHEMES[0] else OF_COLOURS
            findings[width, scheme] = page.evaluate(FINDINGS, rules) + page.evaluate(WIDER)
            site.picture(page, f"{state.__name__}-{width}-{scheme}")
    assert not any(findings.values()), findings


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
