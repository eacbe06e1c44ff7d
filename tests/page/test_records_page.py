"""Records in the page: the way from a question to its sources."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.page.conftest import NARROW, WIDE, Site, answer_json, answer_problem, answer_sse, body_of, requests_to
from tests.records.asking import ANSWER, FOLLOWUPS, QUESTION, playing

WORDS = "bridge weight limit"
HEAD = "Sources: 1, 2\n\n"
"""The form's first line, by which a model's text is known at once to be its answer."""
PIECES = ["The elm ", "was kept ", "because it ", "is sound [1]."]


@pytest.fixture(autouse=True)
def no_kept_answers(page_database: str) -> None:
    """Each test has its answers made: those of other tests are not given again."""
    with psycopg.connect(page_database) as connection:
        connection.execute("delete from answer_cache")


def ask(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name="Ask or search the records")
    box.fill(text)
    box.press("Enter")


def finished(page: Page) -> None:
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")


def history_of(request: Request) -> object:
    return body_of(request)["history"]


def query_of(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_the_first_visit_offers_questions_of_the_sample_data(site: Site) -> None:
    page = site.open()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ask the record")
    page.get_by_role("button", name="Why did the council decide to keep the old elm").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("old elm in Quill Square?")
    finished(page)


def test_where_other_data_is_served_no_sample_question_is_offered(site: Site) -> None:
    page = site.open(before=lambda page: page.route("**/examples.json", answer_json({})))
    tried = page.get_by_role("list", name="Questions to try")
    expect(tried).to_be_visible()
    expect(tried).not_to_contain_text("old elm")


def test_a_question_opens_the_answer_and_words_open_the_results(site: Site) -> None:
    page = site.open()
    ask(page, QUESTION)
    finished(page)
    expect(page.get_by_role("tab", name="Answer")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".prose")).to_contain_text("elm")
    expect(page.locator(".source")).to_have_count(8)
    expect(page.locator(".confidence")).to_contain_text("based on 4 sources")
    page.get_by_role("button", name="New search").click()
    expect(page).to_have_url(re.compile(r"/$"))
    ask(page, WORDS)
    expect(page.get_by_role("tab", name="Results")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".result")).to_have_count(20)
    expect(page.locator(".result mark").first).to_be_visible()


def test_words_get_an_answer_when_the_reader_asks_for_one(site: Site) -> None:
    page = site.open(f"search?q={WORDS}")
    expect(page.locator(".result").first).to_be_visible()
    requests = requests_to(page, "/records/ask")
    page.get_by_role("tab", name="Answer").click()
    finished(page)
    page.get_by_role("tab", name="Results").click()
    page.get_by_role("tab", name="Answer").click()
    assert len(requests) == 1


def test_the_answer_grows_as_the_model_writes_it(model_site: Site, model: FakeOpenAI) -> None:
    permits = threading.Semaphore(1)
    model.respond = playing(answer=Reply.text(HEAD + "".join(PIECES), pieces=[HEAD, *PIECES], permits=permits))
    page = model_site.open()
    page.evaluate("""() => {
        window.seen = [];
        new MutationObserver(() => {
            const text = document.querySelector('.prose')?.innerText ?? '';
            const sources = document.querySelectorAll('.source').length;
            if (text && window.seen.at(-1)?.text !== text) window.seen.push({text, sources});
        }).observe(document.body, {subtree: true, childList: true, characterData: true});
    }""")
    ask(page, QUESTION)
    for piece in PIECES:
        permits.release()
        expect(page.locator(".prose")).to_contain_text(piece.replace("[1]", "1").strip())
    finished(page)
    seen = page.evaluate("window.seen")
    texts = [each["text"].replace("\u00a0", " ").strip() for each in seen]
    grown = ["".join(PIECES[: n + 1]).replace("[1]", "1").strip() for n in range(len(PIECES))]
    assert [text for text in texts if text in grown] == grown
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert all(each["sources"] > 0 for each in seen), "a citation was shown before its source"


def test_research_steps_show_while_they_run_and_fold_away(model_site: Site, model: FakeOpenAI) -> None:
    permits = threading.Semaphore(1)
    model.respond = playing(
        answer=Reply.text(HEAD + ANSWER, pieces=[f"{HEAD}It", ANSWER.removeprefix("It")], permits=permits)
    )
    page = model_site.open()
    ask(page, QUESTION)
    expect(page.locator(".timeline li[data-status='running']", has_text="Writing the answer")).to_have_count(1)
    permits.release()
    finished(page)
    summary = page.locator(".timeline-summary")
    expect(summary).to_have_text(re.compile(r"^Research · 2 steps · "))
    summary.click()
    steps = page.locator(".timeline li")
    expect(steps.first).to_contain_text(f"Searching all records for “{QUESTION}”")
    expect(steps.first).to_contain_text("records found")
    expect(page.locator(".timeline li[data-status='completed']")).to_have_count(2)


def test_stop_keeps_what_is_there_and_ends_the_request(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing(
        answer=Reply.text(HEAD + "".join(PIECES), pieces=[HEAD, *PIECES], permits=threading.Semaphore(2))
    )
    page = model_site.open()
    ask(page, QUESTION)
    expect(page.locator(".prose")).to_contain_text("The elm")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "stopped")
    expect(page.get_by_role("note")).to_contain_text("Stopped.")
    expect(page.locator(".prose")).to_contain_text("The elm")
    expect(page.get_by_role("button", name="Search", exact=True)).to_be_visible()
    model.respond = playing()
    page.get_by_role("button", name="Ask again").click()
    finished(page)
    expect(page.locator(".prose")).to_contain_text("the vote was 7–2")


def test_a_citation_previews_its_source_and_opens_it(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing()
    page = model_site.open(width=WIDE)
    ask(page, QUESTION)
    finished(page)
    mark = page.locator("[data-cites='1']").first
    title = page.locator(".source[data-n='1'] .card-title").inner_text()
    mark.hover()
    expect(page.get_by_role("tooltip")).to_contain_text(title)
    model_site.picture(page, "citation")
    page.mouse.move(0, 0)
    expect(page.get_by_role("tooltip")).to_be_hidden()
    mark.focus()
    expect(page.get_by_role("tooltip")).to_contain_text(title)
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_be_hidden()
    mark.press("Enter")
    expect(page.get_by_role("dialog", name=title)).to_be_visible()
    expect(page.get_by_role("dialog")).to_contain_text("Attendees")


def test_no_line_begins_with_a_citation(model_site: Site, model: FakeOpenAI) -> None:
    told = " ".join(f"{'so ' * words}it is sound [1][2]." for words in range(40))
    model.respond = playing(answer=Reply.text(told))
    page = model_site.open(f"search?q={QUESTION}")
    finished(page)
    marks = page.locator(".citation")
    assert marks.count() == 80
    first = """(marks) => marks.filter((mark) => {
        const before = document.createRange();
        before.setStart(mark.parentNode, 0);
        before.setEndBefore(mark);
        return before.getClientRects()[0].bottom < mark.getBoundingClientRect().top;
    }).length"""
    for width in (320, 640, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert marks.evaluate_all(first) == 0, width


def test_a_tap_on_a_citation_shows_its_source(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing()
    page = model_site.open(width=NARROW, height=800, touch=True)
    ask(page, QUESTION)
    finished(page)
    page.locator("[data-cites='1']").first.tap()
    preview = page.get_by_role("tooltip")
    expect(preview).to_be_visible()
    box = preview.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= NARROW
    preview.get_by_role("button", name="Open").tap()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_follow_ups_are_asked_with_what_was_said_before(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing()
    page = model_site.open()
    ask(page, QUESTION)
    finished(page)
    requests = requests_to(page, "/records/ask")
    page.get_by_role("button", name=FOLLOWUPS[0]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(FOLLOWUPS[0])
    finished(page)
    assert history_of(requests[0]) == [{"question": QUESTION, "answer": ANSWER}]
    expect(page.get_by_role("navigation", name="Earlier in this conversation")).to_contain_text(QUESTION)
    page.get_by_role("button", name="New search").click()
    ask(page, QUESTION)
    finished(page)
    assert history_of(requests[1]) == []


def test_a_new_topic_leaves_the_conversation_behind(site: Site) -> None:
    page = site.open()
    ask(page, QUESTION)
    finished(page)
    ask(page, "How much did the hackers cost?")
    expect(page.get_by_role("heading", level=1)).to_have_text("How much did the hackers cost?")
    finished(page)
    expect(page.get_by_role("navigation", name="Earlier in this conversation")).to_have_count(0)


def test_a_shared_link_shows_the_stored_answer_without_asking(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing()
    page = model_site.open()
    ask(page, QUESTION)
    finished(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert set(parse_qs(urlsplit(link).query)) == {"q", "id"}
    assert link == page.url
    model.reset()
    shared = model_site.open()
    requests = requests_to(shared, "/records/ask")
    shared.goto(link)
    finished(shared)
    expect(shared.locator(".prose")).to_contain_text("It is sound")
    expect(shared.get_by_role("heading", level=1)).to_have_text(QUESTION)
    today = datetime.now(UTC).strftime("%-d %B %Y")
    expect(shared.get_by_role("note").first).to_contain_text(f"as it was given on {today}")
    expect(shared.locator("[data-cites='1']").first).to_be_visible()
    assert requests == []
    assert model.requests == []


def test_an_expired_link_says_so_and_offers_the_question(site: Site) -> None:
    page = site.open(f"search?q={QUESTION}&id=unknown")
    expect(page.get_by_role("alert")).to_contain_text("This answer has expired")
    page.get_by_role("button", name="Ask this question").click()
    finished(page)
    assert "unknown" not in page.url


def test_back_and_forward_bring_back_what_was_there_without_asking_again(site: Site) -> None:
    page = site.open()
    ask(page, QUESTION)
    finished(page)
    first = page.url
    ask(page, WORDS)
    expect(page.locator(".result").first).to_be_visible()
    requests = requests_to(page, "/records/ask")
    page.go_back()
    expect(page).to_have_url(first)
    expect(page.get_by_role("heading", level=1)).to_have_text(QUESTION)
    expect(page.locator(".prose")).to_contain_text("elm")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ask the record")
    page.go_forward()
    expect(page.locator(".prose")).to_contain_text("elm")
    page.go_forward()
    expect(page.locator(".result").first).to_be_visible()
    assert requests == []
    page.go_back()
    page.reload()
    expect(page.locator(".prose")).to_contain_text("elm")
    assert requests == []


def test_filters_narrow_the_list_and_stay_in_the_address(site: Site) -> None:
    page = site.open(f"search?q={WORDS}")
    motions = page.get_by_role("button", name=re.compile("^Motions"))
    motions.click()
    expect(motions).to_have_attribute("aria-pressed", "true")
    expect(motions).to_be_focused()
    expect(page.locator(".result:not([data-type='motion'])")).to_have_count(0)
    expect(page.locator(".result").first).to_be_visible()
    expect(motions).to_be_focused()
    assert query_of(page)["type"] == ["motion"]
    page.locator("summary", has_text="Any date").click()
    page.get_by_label("From").fill("2025-01-01")
    expect(page).to_have_url(re.compile("from=2025-01-01"))
    expect(page.locator(".result .card-meta").first).to_contain_text(re.compile("2025|2026"))
    page.go_back()
    page.go_back()
    expect(motions).to_have_attribute("aria-pressed", "false")


def test_a_follow_up_is_asked_of_the_same_records_until_that_is_taken_away(site: Site) -> None:
    page = site.open("search?q=Was+the+elm+kept%3F&type=motion&from=2024-01-01&tab=answer")
    scope = page.locator(".scope")
    expect(scope).to_have_text("Only motions, since 2024")
    ask(page, "Who moved to keep the elm?")
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    expect(scope).to_have_text("Only motions, since 2024")
    expect(page.locator(".source:not([data-type='motion'])")).to_have_count(0)
    page.get_by_role("tab", name="Results").click()
    expect(page.locator(".result").first).to_be_visible()
    expect(page.locator(".result:not([data-key^='motion/'])")).to_have_count(0)
    page.get_by_role("tab", name="Answer").click()
    page.get_by_role("button", name="Ask all records").click()
    expect(page.locator(".source:not([data-type='motion'])").first).to_be_visible()
    expect(scope).to_be_hidden()


def test_of_thousands_of_values_any_can_be_filtered_by(site: Site) -> None:
    groups = [{"value": f"Mover {number}", "count": 2000 - number} for number in range(1000)]
    told = {"total": 9, "exact": True, "groups": groups, "truncated": True}
    page = site.open(
        "search?q=bridge&type=motion",
        before=lambda page: page.route("**/records/facets?*by=mover*", answer_json(told)),
    )
    expect(page.locator(".result").first).to_be_visible()
    page.locator("details.facets > summary").click()
    mover = page.get_by_role("combobox", name="Mover")
    expect(mover).to_have_attribute("placeholder", "Any")
    assert mover.evaluate("(input) => input.list.options.length") == 60
    mover.fill("Mover 999")
    mover.press("Enter")
    expect(page.get_by_role("group", name="Filters")).to_contain_text("mover: Mover 999")
    assert query_of(page)["mover"] == ["Mover 999"]


def test_filters_that_could_not_be_fetched_can_be_tried_again(site: Site) -> None:
    page = site.open(
        "search?q=bridge&type=motion", before=lambda page: page.route("**/collections", answer_problem(503))
    )
    expect(page.locator(".result").first).to_be_visible()
    page.locator("details.facets > summary").click()
    note = page.get_by_role("note").filter(has_text="could not be fetched")
    expect(note).to_be_visible()
    page.unroute("**/collections")
    note.get_by_role("button", name="Try again").click()
    expect(page.get_by_label("Mover")).to_be_visible()


def test_what_is_written_from_right_to_left_is_read_so(site: Site) -> None:
    title = "שלום, world!"
    result = {"type": "motion", "id": "m", "title": title, "snippet": title, "score": 1.0, "matched": {"text_rank": 1}}
    body = {
        "query": "x",
        "intent": "keyword",
        "results": [result],
        "counts": {"motion": 1},
        "more": False,
        "degraded": [],
    }
    page = site.open("search?q=x", before=lambda page: page.route("**/records/search?*", answer_json(body)))
    for part in (".result-open", ".card-text"):
        order = page.locator(part).evaluate("""(node) => [0, 6].map((at) => {
            const letter = document.createRange();
            letter.setStart(node.firstChild, at);
            letter.setEnd(node.firstChild, at + 1);
            return letter.getBoundingClientRect().left;
        })""")
        assert order[0] > order[1], part


def test_the_list_goes_on_where_it_ended(site: Site) -> None:
    page = site.open(f"search?q={WORDS}")
    expect(page.locator(".result")).to_have_count(20)
    page.get_by_role("button", name="More results").click()
    expect(page.locator(".result")).to_have_count(40)
    expect(page.locator(".result").nth(20).get_by_role("button")).to_be_focused()


def test_nothing_found_says_what_may_help(site: Site) -> None:
    nothing = {
        "query": "x",
        "intent": "keyword",
        "results": [],
        "counts": {},
        "more": False,
        "degraded": ["query_embedding"],
    }
    page = site.open(
        "search?q=x&type=motion", before=lambda page: page.route("**/records/search?*", answer_json(nothing))
    )
    expect(page.get_by_role("heading", name="Nothing found")).to_be_visible()
    expect(page.get_by_role("note")).to_contain_text("search by meaning")
    expect(page.get_by_role("button", name="Save search")).to_be_visible()
    expect(page.get_by_role("link", name="API reference")).to_be_visible()
    page.get_by_role("button", name="Search without filters").click()
    expect(page).to_have_url(re.compile(r"search\?q=x&tab=results$"))


def test_a_degraded_answer_says_which_part_was_missing(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing(answer=Reply.http_error(500))
    page = model_site.open()
    ask(page, QUESTION)
    finished(page)
    expect(page.get_by_role("note")).to_contain_text("the writing of the answer")
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (429, "A short pause, please"),
        (503, "A part of the service is down"),
        (500, "Something went wrong"),
        (401, "Sign in to search"),
    ],
)
def test_a_failed_search_says_what_happened(site: Site, status: int, says: str) -> None:
    problem = answer_problem(status, **({"Retry-After": "2"} if status in (429, 503) else {}))
    page = site.open(f"search?q={WORDS}", before=lambda page: page.route("**/records/search?*", problem))
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(says)
    if status != 401:
        page.unroute("**/records/search?*")
        page.get_by_role("button", name=re.compile("^Try again")).click()
        expect(page.locator(".result").first).to_be_visible()


def test_the_wait_that_the_service_asks_for_is_counted_down(site: Site) -> None:
    problem = answer_problem(429, **{"Retry-After": "2"})
    page = site.open(f"search?q={WORDS}", before=lambda page: page.route("**/records/search?*", problem))
    retry = page.get_by_role("button", name=re.compile("^Try again"))
    expect(retry).to_be_disabled()
    expect(retry).to_have_text("Try again")
    expect(retry).to_be_enabled()


def test_offline_is_told_apart_from_a_service_that_is_down(site: Site) -> None:
    page = site.open()
    expect(page.get_by_role("textbox")).to_be_visible()
    page.route("**/records/search?*", lambda route: route.abort())
    ask(page, WORDS)
    expect(page.get_by_role("alert")).to_contain_text("The service cannot be reached")
    page.unroute("**/records/search?*")
    page.context.set_offline(True)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_contain_text("You are offline")
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".result").first).to_be_visible()


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "intent", "intent": "question"}, {"type": "error", "message": "The database went away."}],
        [{"type": "intent", "intent": "question"}],
    ],
    ids=["said", "cut off"],
)
def test_a_stream_that_fails_can_be_tried_again(site: Site, events: list[object]) -> None:
    page = site.open(before=lambda page: page.route("**/records/ask", answer_sse(*events)))
    ask(page, QUESTION)
    expect(page.get_by_role("alert")).to_contain_text(
        "The database went away." if len(events) == 2 else "The answer broke off"
    )
    page.unroute("**/records/ask")
    page.get_by_role("button", name="Try again").click()
    finished(page)


def test_a_record_opens_whole_with_its_meeting(site: Site) -> None:
    page = site.open(f"search?q={WORDS}&type=motion")
    first = page.locator(".result-open").first
    title = first.inner_text()
    first.click()
    panel = page.get_by_role("dialog", name=title)
    expect(panel).to_contain_text("Votes for")
    expect(panel).to_contain_text("Attendees")
    expect(panel.get_by_role("link", name="Minutes")).to_have_attribute("rel", re.compile("noopener"))
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(first).to_be_focused()


def test_a_record_that_is_gone_says_so(site: Site) -> None:
    page = site.open(f"search?q={WORDS}", before=lambda page: page.route("**/records/*/**", answer_problem(404)))
    page.locator(".result-open").first.click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("Nothing here")


def test_an_answer_is_kept_once(site: Site, page_database: str) -> None:
    with psycopg.connect(page_database) as connection:
        before = connection.execute("select count(*) from answer_cache").fetchone()
        page = site.open()
        ask(page, QUESTION)
        finished(page)
        page.get_by_role("tab", name="Results").click()
        expect(page.locator(".result").first).to_be_visible()
        page.reload()
        expect(page.locator(".result").first).to_be_visible()
        page.get_by_role("tab", name="Answer").click()
        finished(page)
        connection.commit()
        after = connection.execute("select count(*) from answer_cache").fetchone()
    assert before
    assert after == (before[0] + 1,)


def test_of_very_many_results_the_page_says_at_least_how_many_there_are(site: Site) -> None:
    many = {
        "query": "x",
        "intent": "keyword",
        "results": [],
        "counts": {"motion": 654, "matter": 12},
        "more": True,
        "capped": ["motion"],
        "degraded": [],
    }
    page = site.open("search?q=x", before=lambda page: page.route("**/records/search?*", answer_json(many)))
    expect(page.get_by_role("tab", name="Results")).to_have_text("Results 666+")
    types = page.get_by_role("group", name="Types of record")
    expect(types.get_by_role("button", name="Motions")).to_have_text("Motions654+")
    expect(types.get_by_role("button", name="Matters")).to_have_text("Matters12")


def test_records_that_say_the_same_are_named_under_one_of_them_and_can_be_opened(site: Site) -> None:
    also = {"type": "motion", "id": "m2", "title": "Mend the lantern", "date": "2024-03-05"}
    first = {"type": "motion", "id": "m1", "title": "Mend the quay's lantern", "snippet": "Mend", "score": 1.0}
    found = {
        "query": "lantern",
        "intent": "keyword",
        "results": [{**first, "matched": {"text_rank": 1}, "also": [also]}],
        "counts": {"motion": 2},
        "more": False,
        "degraded": [],
    }
    page = site.open("search?q=lantern", before=lambda page: page.route("**/records/search?*", answer_json(found)))
    result = page.locator(".result")
    expect(result.get_by_role("button")).to_have_count(1)
    result.get_by_text("1 more that says the same").click()
    with page.expect_request("**/records/motion/m2"):
        result.get_by_role("button", name="Mend the lantern").click()


def test_a_citation_shows_the_passage_that_it_stands_on(site: Site) -> None:
    page = site.open()
    ask(page, QUESTION)
    finished(page)
    page.locator(".citation").first.focus()
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("Word for word")
    quote = tip.locator(".quote").inner_text()
    assert quote in page.locator(".prose").inner_text().replace("\u00a0", " ")


CLOSED = "The bridge was closed.\nTrucks go by Wharf Road."
CITED_FIELDS = {
    "summary": "A long story.\n" * 80 + "The bridge was closed.",
    "note": "Trucks go by Wharf Road.\nSo it is.",
}
CITED_RECORD: dict[str, object] = {
    "type": "matter",
    "id": "m1",
    "title": "The bridge",
    "fields": CITED_FIELDS,
    "texts": [*CITED_FIELDS],
}


def citing(quote: str, record: dict[str, object]) -> Callable[[Page], None]:
    """Have any question answered by a sentence that cites this of the record."""
    source = {"n": 1, "type": record["type"], "id": record["id"], "title": record["title"], "snippet": "closed"}
    cited = {"n": 1, "sentence": quote, "quote": quote, "start": 0, "end": len(quote), "support": 1, "verified": True}
    answer = answer_sse(
        {"type": "sources", "sources": [source]},
        {"type": "final_answer_chunk", "chunk": f"{quote} [1]"},
        {"type": "citations", "citations": [cited], "unsupported": []},
        {"type": "confidence", "level": "low", "source_count": 1, "label": "Low confidence"},
        {"type": "done", "answer_id": None, "cached": False, "topic_changed": False},
    )

    def before(page: Page) -> None:
        page.route("**/records/ask", answer)
        page.route("**/records/matter/m1", answer_json(record))

    return before


def test_a_record_opens_at_the_passage_that_is_cited_and_marks_it(site: Site) -> None:
    page = site.open(before=citing(CLOSED, CITED_RECORD), width=320, height=568)
    ask(page, QUESTION)
    finished(page)
    page.locator(".citation").press("Enter")
    panel = page.get_by_role("dialog", name="The bridge")
    marks = panel.locator("mark")
    # the passage goes on in the next text, behind its label
    expect(marks).to_have_text(["The bridge was closed.", "Trucks go by Wharf Road."])
    expect(marks.first).to_be_in_viewport(ratio=1)
    expect(marks.first).to_be_focused()
    assert panel.locator(".record-text").all_inner_texts()[1] == "Trucks go by Wharf Road.\nSo it is."
    assert panel.evaluate("(node) => Math.max(node.scrollWidth, document.documentElement.scrollWidth)") <= 320
    site.picture(page, "records-cited-320")
    page.keyboard.press("Escape")
    expect(page.locator(".citation")).to_be_focused()


def test_the_passage_is_marked_again_after_a_reload_and_forward_and_nowhere_else(site: Site) -> None:
    page = site.open(before=citing(CLOSED, CITED_RECORD))
    ask(page, QUESTION)
    finished(page)
    page.locator(".citation").click()
    panel = page.get_by_role("dialog", name="The bridge")
    expect(panel.locator("mark")).to_have_count(2)
    page.reload()
    expect(panel.locator("mark")).to_have_count(2)
    expect(panel.locator("mark").first).to_be_in_viewport()
    page.go_back()
    expect(panel).to_have_count(0)
    page.go_forward()
    expect(panel.locator("mark")).to_have_count(2)
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    page.locator(".source").click()
    expect(panel).to_contain_text("A long story.")
    expect(panel.locator("mark")).to_have_count(0)


@pytest.mark.parametrize(
    ("quote", "marked"),
    [
        ("Trucks go by Wharf Road.\nThe bridge was closed.", ["The bridge was closed.", "Trucks go by Wharf Road."]),
        ("status: open", ["Status", "open"]),
        ("The bridge was closed. Status: open.", ["The bridge was closed.", "Status", "open"]),
        ("A <b>sign</b> says so.", ["A <b>sign</b> says so."]),
        ("The bridge was closed for good.", []),
        ("The bridge was closed.\nThe ferry runs.", []),
        ("…", []),
    ],
    ids=[
        "lines that are shown apart",
        "a fact",
        "a fact behind a text",
        "markup",
        "another sentence",
        "one line of two",
        "no word",
    ],
)
def test_only_a_passage_that_the_record_holds_is_marked(site: Site, quote: str, marked: list[str]) -> None:
    fields = {**CITED_FIELDS, "status": "open", "sign": "A <b>sign</b> says so."}
    page = site.open(before=citing(quote, {**CITED_RECORD, "fields": fields}))
    ask(page, QUESTION)
    finished(page)
    page.locator(".citation").click()
    panel = page.get_by_role("dialog", name="The bridge")
    expect(panel.get_by_role("button", name="Copy citation")).to_be_visible()
    expect(panel.locator("mark")).to_have_text(marked)
    expect(panel.locator("b")).to_have_count(0)


def test_what_the_answer_quotes_of_the_sample_is_marked_in_its_record(site: Site) -> None:
    page = site.open()
    ask(page, QUESTION)
    finished(page)
    for citation in page.locator(".citation").all():
        citation.focus()
        quote = page.get_by_role("tooltip").locator(".quote").inner_text()
        citation.press("Enter")
        panel = page.get_by_role("dialog")
        expect(panel.get_by_role("button", name="Copy citation")).to_be_visible()
        marked = " ".join(panel.locator("mark").all_inner_texts())
        assert re.findall(r"\w+", marked.lower()) == re.findall(r"\w+", quote.lower())
        page.keyboard.press("Escape")
        expect(panel).to_have_count(0)


def test_what_was_just_closed_is_opened_again(site: Site) -> None:
    page = site.open()
    ask(page, QUESTION)
    finished(page)
    page.locator(".citation").first.click()
    panel = page.get_by_role("dialog")
    expect(panel.get_by_role("button", name="Copy citation")).to_be_visible()
    entries = page.evaluate("history.length")
    # before the browser tells that it was closed
    page.evaluate("document.querySelector('dialog').close(); document.querySelector('.citation').click()")
    expect(panel.get_by_role("button", name="Copy citation")).to_be_visible()
    assert "#" in page.url
    assert page.evaluate("history.length") == entries
    page.go_back()
    expect(panel).to_have_count(0)
    expect(page).to_have_url(re.compile(r"id=[^#]+$"))


def test_a_sentence_that_no_source_supports_is_shown_so(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing(answer=Reply.text("The elm was sold to a circus for 900 dollars [1]."))
    page = model_site.open()
    ask(page, QUESTION)
    finished(page)
    expect(page.locator(".citation.is-unsupported")).to_have_count(1)
    expect(page.locator(".answer-after")).to_contain_text("1 sentence that no cited source supports")
    expect(page).to_have_url(re.compile("id="))
    shared = model_site.open(page.url.removeprefix(f"{model_site.url}/"))
    finished(shared)
    expect(shared.locator(".citation.is-unsupported")).to_have_count(1)
    expect(shared.locator(".answer-after")).to_contain_text(
        "1 sentence that no cited source supports: “The elm was sold"
    )


def test_a_stream_that_breaks_is_read_on_without_asking_again(site: Site) -> None:
    page = site.open()
    requests = requests_to(page, "/records/ask")
    cut = re.compile(r"records/ask$")

    def break_off(route: Route) -> None:
        whole = route.fetch()
        route.fulfill(response=whole, body="\n\n".join(whole.text().split("\n\n")[:4]) + "\n\n")

    page.route(cut, break_off, times=1)
    ask(page, QUESTION)
    finished(page)
    expect(page.locator(".prose")).to_contain_text("elm")
    expect(page.locator(".source")).to_have_count(8)
    assert len(requests) == 2
    assert re.search(r"after_seq=[0-9a-f-]{36}%2F4$", requests[1].url)


def test_stopping_cancels_the_run(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing(research=[Reply.hang(30)])
    page = model_site.open()
    ask(page, QUESTION)
    expect(page.locator(".activity")).to_be_visible()
    with page.expect_request(re.compile(r"/runs/[0-9a-f-]{36}$")) as cancelled:
        page.get_by_role("button", name="Stop").click()
    assert cancelled.value.method == "DELETE"


def test_who_says_that_it_did_not_help_may_say_why(site: Site) -> None:
    page = site.open()
    ask(page, QUESTION)
    finished(page)
    page.get_by_role("button", name="Not helpful").click()
    page.get_by_role("textbox", name="What is wrong with it?").fill("Another tree")
    page.route("**/feedback", answer_problem(503))
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("This could not be sent: try again.")).to_be_visible()
    page.unroute("**/feedback")
    with page.expect_response(re.compile("/feedback$")) as told:
        page.get_by_role("button", name="Send").click()
    assert told.value.status == 204
    expect(page.get_by_role("group", name="Did this help?")).to_have_text("Thank you.")


def test_the_same_question_is_answered_again_from_the_store_unless_asked_anew(site: Site) -> None:
    page = site.open()
    ask(page, QUESTION)
    finished(page)
    page.get_by_role("button", name="New search").click()
    ask(page, QUESTION)
    finished(page)
    notes = page.locator(".answer-after")
    expect(notes).to_contain_text("Given before")
    notes.get_by_role("button", name="Ask again").click()
    finished(page)
    expect(notes).not_to_contain_text("Given before")


def test_a_link_that_was_taken_back_leads_nowhere(site: Site) -> None:
    page = site.open()
    ask(page, QUESTION)
    finished(page)
    expect(page).to_have_url(re.compile("id="))
    address = page.url
    page.get_by_role("button", name="Revoke link").click()
    expect(page.get_by_role("button", name="Copy link")).to_have_count(0)
    assert "id=" not in page.url
    expect(site.open(address.removeprefix(f"{site.url}/")).locator(".answer-after")).to_contain_text("expired")


def test_of_very_many_periods_the_latest_are_drawn_and_how_many_there_are_is_said(site: Site) -> None:
    months = [f"{2010 + place // 12}-{place % 12 + 1:02}-01" for place in range(110)]
    counted = {
        "type": "aggregation",
        "by": "month",
        "groups": [{"value": month, "count": 1 + (month == months[-1])} for month in months[-50:]],
        "group_count": len(months),
        "total": 111,
        "filters": {"types": ["motion"]},
    }
    events = [
        {"type": "intent", "intent": "question"},
        {"type": "sources", "sources": []},
        counted,
        {"type": "final_answer_chunk", "chunk": "The records hold 111 motions."},
        {"type": "citations", "citations": [], "unsupported": []},
        {"type": "confidence", "level": "high", "source_count": 0, "label": "Counted"},
        {"type": "followups", "questions": []},
        {"type": "done", "answer_id": "a-1", "cached": False, "topic_changed": False},
    ]
    page = site.open(before=lambda page: page.route("**/records/ask", answer_sse(*events)))
    ask(page, "How many motions were there per month?")
    bars = page.get_by_role("figure", name="Motions by month").locator("dt")
    expect(bars).to_have_count(20)
    expect(bars.first).to_have_text("Jul 2017")
    expect(bars.last).to_have_text("Feb 2019")
    expect(page.get_by_text("20 of 110 are drawn.")).to_be_visible()


@pytest.mark.xfail(reason="the learned reader does not read this yet")
def test_what_several_types_hold_is_drawn_by_their_names_with_each_number_on_one_line(site: Site) -> None:
    page = site.open()
    ask(page, "How many records are there?")
    finished(page)
    chart = page.get_by_role("figure", name="Records by type")
    expect(chart.locator("dt").first).to_have_text("Transcripts")
    first, last = chart.locator("dd").first, chart.locator("dd").last
    expect(first).to_have_text("1,090")
    assert first.evaluate("(cell) => cell.offsetHeight") == last.evaluate("(cell) => cell.offsetHeight")


def test_an_owner_who_opens_the_link_takes_it_back_and_nobody_else_can(site: Site) -> None:
    page = site.open()
    ask(page, QUESTION)
    finished(page)
    expect(page).to_have_url(re.compile("id="))
    path = page.url.removeprefix(f"{site.url}/")
    for name in ("bob", "demo"):
        opened = site.open(path, before=as_owner(name))
        finished(opened)
        expect(opened.get_by_role("button", name="Copy link")).to_be_visible()
        expect(opened.get_by_role("button", name="Revoke link")).to_have_count(int(name == "demo"))
    opened.get_by_role("button", name="Revoke link").click()
    expect(opened.get_by_role("button", name="Copy link")).to_have_count(0)
    expect(site.open(path).locator(".answer-after")).to_contain_text("expired")


def test_an_answer_opens_where_it_cannot_be_told_whose_it_is(site: Site) -> None:
    page = site.open()
    ask(page, QUESTION)
    finished(page)
    expect(page).to_have_url(re.compile("id="))
    path = page.url.removeprefix(f"{site.url}/")
    opened = site.open(path, before=lambda page: page.route("**/me/answers/*", answer_problem(503)))
    finished(opened)
    expect(opened.locator(".confidence")).to_be_visible()
    expect(opened.get_by_role("button", name="Revoke link")).to_have_count(0)


def as_owner(name: str) -> Callable[[Page], None]:
    """Have it asked whose an answer is as a user of this name."""

    def asked(route: Route) -> None:
        route.continue_(headers={**route.request.headers, "authorization": f"Bearer {name}"})

    def before(page: Page) -> None:
        page.route("**/me/answers/*", asked)

    return before


def test_how_a_question_was_read_is_shown_with_what_its_words_may_mean(site: Site) -> None:
    page = site.open()
    ask(page, "How many motions were carried?")
    finished(page)
    page.get_by_role("button", name="How was this read?").click()
    panel = page.get_by_role("dialog", name="How was this read?")
    expect(panel).to_contain_text("right with a chance of")
    expect(panel.get_by_role("term").filter(has_text="motions")).to_be_visible()
    expect(panel.get_by_role("listitem").first).to_contain_text("show number from motion")
