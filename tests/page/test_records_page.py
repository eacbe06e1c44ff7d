"""Records on the page: from a question to its sources."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from playwright.sync_api import Page, Route, expect

from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.page.conftest import WIDE, Site, answer_json, answer_problem, answer_sse, body_of, requests_to
from tests.records.asking import ANSWER, FOLLOWUPS, QUESTION, playing

WORDS = "bridge weight limit"
HEAD = "Sources: 1, 2\n\n"
"""The first line of a model's answer, as the prompt asks for it."""
PIECES = ["The elm ", "was kept ", "because it ", "is sound [1]."]
LISTING = "**/records/search?*"


@pytest.fixture(autouse=True)
def no_kept_answers(page_database: str) -> None:
    """Each test generates its own answers."""
    with psycopg.connect(page_database) as connection:
        connection.execute("delete from answer_cache")


def ask(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name="Ask or search the records")
    box.fill(text)
    box.press("Enter")


def finished(page: Page) -> Page:
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    return page


def answered(site: Site, **how: Any) -> Page:
    """The page with the answer to QUESTION, which has its own address."""
    page = site.open(**how)
    ask(page, QUESTION)
    expect(finished(page)).to_have_url(re.compile("id="))
    return page


def query_of(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def path_of(site: Site, page: Page) -> str:
    return page.url.removeprefix(f"{site.url}/")


def test_the_first_visit_offers_questions_of_the_sample_data(site: Site) -> None:
    page = site.open()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ask the records")
    page.get_by_role("button", name="Why did the council decide to keep the old elm").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("old elm in Quill Square?")
    finished(page)


def test_a_question_opens_the_answer_and_words_open_the_results(site: Site) -> None:
    page = answered(site)
    expect(page.get_by_role("tab", name="Answer")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".prose")).to_contain_text("elm")
    expect(page.locator(".source")).to_have_count(8)
    expect(page.locator(".confidence")).to_have_count(0)
    page.get_by_role("button", name="New search").click()
    ask(page, WORDS)
    expect(page.get_by_role("tab", name="Results")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".result")).to_have_count(20)
    expect(page.locator(".result mark").first).to_be_visible()
    page.get_by_role("button", name="More results").click()
    expect(page.locator(".result")).to_have_count(40)
    expect(page.locator(".result").nth(20).get_by_role("button")).to_be_focused()
    requests = requests_to(page, "/records/ask")
    for tab in ("Answer", "Results", "Answer"):
        page.get_by_role("tab", name=tab).click()
    finished(page)
    assert len(requests) == 1


def test_the_answer_and_its_steps_are_shown_while_the_model_writes(model_site: Site, model: FakeOpenAI) -> None:
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
        if piece == PIECES[0]:
            expect(page.locator(".timeline li[data-status='running']")).to_contain_text("Writing the answer")
        expect(page.locator(".prose")).to_contain_text(piece.replace("[1]", "1").strip())
    finished(page)
    seen = page.evaluate("window.seen")
    texts = [each["text"].replace("\u00a0", " ").strip() for each in seen]
    assert len(texts) >= len(PIECES)
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert all(each["sources"] > 0 for each in seen), "a citation was shown before its source"
    expect(page.locator(".timeline-summary")).to_have_text(re.compile(r"^Research · 2 steps · "))
    page.locator(".timeline-summary").click()
    expect(page.locator(".timeline li").first).to_contain_text(f"Searching all records for “{QUESTION}”")


def test_stop_cancels_the_run_and_keeps_what_is_there(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing(
        answer=Reply.text(HEAD + "".join(PIECES), pieces=[HEAD, *PIECES], permits=threading.Semaphore(2))
    )
    page = model_site.open()
    ask(page, QUESTION)
    expect(page.locator(".prose")).to_contain_text("The elm")
    with page.expect_request(re.compile(r"/runs/[0-9a-f-]{36}$")) as cancelled:
        page.get_by_role("button", name="Stop").click()
    assert cancelled.value.method == "DELETE"
    expect(page.get_by_role("note")).to_contain_text("Stopped.")
    expect(page.locator(".prose")).to_contain_text("The elm")
    model.respond = playing()
    page.get_by_role("button", name="Ask again").click()
    expect(finished(page).locator(".prose")).to_contain_text("the vote was 7–2")


def test_a_citation_previews_its_source_and_opens_it(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing()
    page = answered(model_site, width=WIDE)
    mark = page.locator("[data-cites='1']").first
    title = page.locator(".source[data-n='1'] .card-title").inner_text()
    mark.hover()
    expect(page.get_by_role("tooltip")).to_contain_text(title)
    page.mouse.move(0, 0)
    expect(page.get_by_role("tooltip")).to_be_hidden()
    mark.focus()
    expect(page.get_by_role("tooltip")).to_contain_text(title)
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_be_hidden()
    mark.press("Enter")
    expect(page.get_by_role("dialog", name=title)).to_contain_text("Attendees")


def test_a_follow_up_is_sent_with_the_conversation_and_a_new_search_without(
    model_site: Site, model: FakeOpenAI
) -> None:
    model.respond = playing()
    page = answered(model_site)
    requests = requests_to(page, "/records/ask")
    page.get_by_role("button", name=FOLLOWUPS[0]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(FOLLOWUPS[0])
    finished(page)
    earlier = page.get_by_role("region", name="Earlier in this conversation").locator("details")
    expect(earlier).to_have_count(1)
    expect(earlier.locator(".prose")).to_be_hidden()
    earlier.get_by_text(QUESTION).click()
    expect(earlier.locator(".prose")).not_to_be_empty()
    expect(earlier.get_by_role("link", name="Open this answer")).to_be_visible()
    page.get_by_role("button", name="New search").click()
    ask(page, QUESTION)
    finished(page)
    assert [body_of(each)["history"] for each in requests] == [[{"question": QUESTION, "answer": ANSWER}], []]


def test_a_shared_link_shows_the_stored_answer_without_asking(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing()
    page = answered(model_site)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url
    assert query_of(page).keys() == {"q", "id"}
    model.reset()
    shared = model_site.open()
    requests = requests_to(shared, "/records/ask")
    shared.goto(link)
    expect(finished(shared).locator(".prose")).to_contain_text("The council keeps the elm")
    expect(shared.get_by_role("note").first).to_contain_text("This answer was given on")
    expect(shared.locator("[data-cites='1']").first).to_be_visible()
    assert (requests, model.requests) == ([], [])


def test_only_its_owner_revokes_a_link_which_then_has_expired(site: Site) -> None:
    path = path_of(site, answered(site))

    def opened(name: str) -> Page:
        def as_owner(route: Route) -> None:
            route.continue_(headers={**route.request.headers, "authorization": f"Bearer {name}"})

        return finished(site.open(path, before=lambda page: page.route("**/me/answers/*", as_owner)))

    expect(opened("bob").get_by_role("button", name="Revoke link")).to_have_count(0)
    page = opened("demo")
    page.get_by_role("button", name="Revoke link").click()
    expect(page.get_by_role("button", name="Copy link")).to_have_count(0)
    expired = site.open(path)
    expect(expired.get_by_role("alert")).to_contain_text("This answer has expired")
    expired.get_by_role("button", name="Ask this question").click()
    finished(expired)


def test_back_and_forward_show_earlier_searches_without_asking_again(site: Site) -> None:
    page = answered(site)
    first = page.url
    ask(page, WORDS)
    expect(page.locator(".result").first).to_be_visible()
    requests = requests_to(page, "/records/ask")
    page.go_back()
    expect(page).to_have_url(first)
    expect(page.locator(".prose")).to_contain_text("elm")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ask the records")
    page.go_forward()
    page.reload()
    expect(page.locator(".prose")).to_contain_text("elm")
    page.go_forward()
    expect(page.locator(".result").first).to_be_visible()
    assert requests == []


def test_filters_narrow_the_list_and_stay_in_the_address(site: Site) -> None:
    page = site.open(f"search?q={WORDS}")
    motions = page.get_by_role("button", name=re.compile("^Motions"))
    motions.click()
    expect(motions).to_have_attribute("aria-pressed", "true")
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


def test_offline_is_distinguished_from_a_service_that_is_down(site: Site) -> None:
    page = site.open(f"search?q={WORDS}", before=lambda page: page.route(LISTING, lambda route: route.abort()))
    expect(page.get_by_role("alert")).to_contain_text("The service cannot be reached")
    page.unroute(LISTING)
    page.context.set_offline(True)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_contain_text("You are offline")
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".result").first).to_be_visible()


def test_a_stream_that_fails_can_be_tried_again(site: Site) -> None:
    failure = {"type": "error", "message": "The database went away."}
    events = answer_sse({"type": "intent", "intent": "question"}, failure)
    page = site.open(before=lambda page: page.route("**/records/ask", events))
    ask(page, QUESTION)
    expect(page.get_by_role("alert")).to_contain_text("The database went away.")
    page.unroute("**/records/ask")
    page.get_by_role("button", name="Try again").click()
    finished(page)


def test_a_broken_stream_resumes_without_asking_again(site: Site) -> None:
    page = site.open()
    requests = requests_to(page, "/records/ask")

    def break_off(route: Route) -> None:
        whole = route.fetch()
        route.fulfill(response=whole, body="\n\n".join(whole.text().split("\n\n")[:4]) + "\n\n")

    page.route(re.compile(r"records/ask$"), break_off, times=1)
    ask(page, QUESTION)
    expect(finished(page).locator(".source")).to_have_count(8)
    assert len(requests) == 2
    assert re.search(r"after_seq=[0-9a-f-]{36}%2F4$", requests[1].url)


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


CLOSED = "The bridge was closed.\nTrucks go by Wharf Road."
CITED_FIELDS = {
    "summary": "A long story.\n" * 80 + "The bridge was closed.",
    "note": "Trucks go by Wharf Road.\nSo it is.",
    "status": "open",
    "sign": "A <b>sign</b> says so.",
}
CITED_RECORD = {
    "type": "matter",
    "id": "m1",
    "title": "The bridge",
    "fields": CITED_FIELDS,
    "texts": ["summary", "note"],
}


def citing(quote: str) -> Callable[[Page], None]:
    """Answers any question with a sentence that cites this passage of the record."""
    source = {"n": 1, "type": "matter", "id": "m1", "title": "The bridge", "snippet": "closed"}
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
        page.route("**/records/matter/m1", answer_json(CITED_RECORD))

    return before


def test_a_record_opens_at_the_cited_passage_also_after_a_reload(site: Site) -> None:
    page = site.open(before=citing(CLOSED), width=320, height=568)
    ask(page, QUESTION)
    finished(page).locator(".citation").press("Enter")
    panel = page.get_by_role("dialog", name="The bridge")
    marks = panel.locator("mark")
    # the passage goes on in the next text, behind its label
    expect(marks).to_have_text(["The bridge was closed.", "Trucks go by Wharf Road."])
    expect(marks.first).to_be_in_viewport(ratio=1)
    expect(marks.first).to_be_focused()
    assert panel.evaluate("(node) => Math.max(node.scrollWidth, document.documentElement.scrollWidth)") <= 320
    page.reload()
    expect(marks).to_have_count(2)
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    page.locator(".source").click()
    expect(panel).to_contain_text("A long story.")
    expect(marks).to_have_count(0)


@pytest.mark.parametrize(
    ("quote", "marked"),
    [
        ("A <b>sign</b> says so.", ["A <b>sign</b> says so."]),
        ("The bridge was closed.\nThe ferry runs.", []),
    ],
    ids=["markup", "not in the record"],
)
def test_only_a_passage_in_the_record_is_marked(site: Site, quote: str, marked: list[str]) -> None:
    page = site.open(before=citing(quote))
    ask(page, QUESTION)
    finished(page).locator(".citation").click()
    panel = page.get_by_role("dialog", name="The bridge")
    expect(panel.get_by_role("button", name="Copy citation")).to_be_visible()
    expect(panel.locator("mark")).to_have_text(marked)
    expect(panel.locator("b")).to_have_count(0)


def test_a_sentence_that_no_source_supports_is_marked_also_when_shared(model_site: Site, model: FakeOpenAI) -> None:
    model.respond = playing(answer=Reply.text("The elm was sold to a circus for 900 dollars [1]."))
    page = answered(model_site)
    for shown in (page, finished(model_site.open(path_of(model_site, page)))):
        expect(shown.locator(".citation.is-unsupported")).to_have_count(1)
        mark = shown.locator(".statement-mark[data-state='flagged']")
        expect(mark).to_have_text("†")
        expect(mark).to_have_attribute("aria-label", re.compile("^Not borne out: .*900"))


def test_withdrawn_text_leaves_the_page_before_the_answer_by_rule(model_site: Site, model: FakeOpenAI) -> None:
    kept = "The council keeps the elm [1]."
    model.respond = playing(
        answer=Reply.text(f"{kept} The vote was 4–5 [1]. It cost 99 dollars [1]. Pandas ate it in 1650 [1].")
    )
    prose = finished(answered(model_site)).locator(".prose").first
    expect(prose).not_to_contain_text("99 dollars")
    expect(prose).not_to_contain_text(kept.partition(" [")[0])
    expect(prose.locator(".citation").first).to_be_visible()


def test_feedback_takes_a_comment_and_can_be_sent_again(site: Site) -> None:
    page = answered(site)
    page.get_by_role("button", name="Not helpful").click()
    page.get_by_role("textbox", name="What is wrong?").fill("Another tree")
    page.route("**/feedback", answer_problem(503))
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Sending failed. Try again.")).to_be_visible()
    page.unroute("**/feedback")
    with page.expect_response(re.compile("/feedback$")) as sent:
        page.get_by_role("button", name="Send").click()
    assert sent.value.status == 204
    expect(page.get_by_role("group", name="Did this help?")).to_have_text("Thank you.")


def test_a_repeated_question_is_answered_from_the_store_until_asked_again(site: Site) -> None:
    page = answered(site)
    page.get_by_role("button", name="New search").click()
    ask(page, QUESTION)
    notes = finished(page).locator(".answer-after")
    expect(notes).to_contain_text("Saved answer")
    notes.get_by_role("button", name="Ask again").click()
    expect(finished(page).locator(".answer-after")).not_to_contain_text("Saved answer")


def test_a_count_by_month_is_drawn_below_its_number_with_empty_months_in_order(site: Site) -> None:
    page = site.open("search?q=How+many+motions+per+month+in+2025%3F&tab=answer")
    finished(page)
    chart = page.get_by_role("figure", name="Number of motions by month")
    expect(chart.locator("dt").first).to_have_text("January 2025")
    expect(chart.locator("dt").last).to_have_text("December 2025")
    numbers = [int(number) for number in chart.locator("dd").all_inner_texts()]
    assert (len(numbers), numbers[6], sum(numbers)) == (12, 0, 65)
    expect(page.locator(".prose > p + .number-charts")).to_be_visible()
    expect(page.locator(".confidence")).to_contain_text("Medium: this is probably what the question means")
    asked_next = page.get_by_role("list", name="Follow-up questions").get_by_role("button")
    assert all("vote" in each for each in asked_next.all_inner_texts()), "only what can be asked of motions"
    page.get_by_role("link", name="Show the records behind this").click()
    expect(page.get_by_role("tab", name="Results")).to_have_text("Results 65")


SHARES = {
    "source": "motion",
    "where": {"field": "date", "op": "=", "value": "2025"},
    "aggregate": [
        {"name": "carried part", "ratio": [{"fn": "count", "where": {"field": "result", "value": "Carried"}}, "count"]},
        {"percent_of_total": "count"},
        {"name": "growth", "change": ["count", {"previous": "count"}]},
    ],
    "group": [{"field": "date", "period": "month"}],
}


def test_a_chart_shows_the_number_that_you_choose_with_its_title_and_unit_and_the_statement_that_runs(
    site: Site,
) -> None:
    def given(route: Route) -> None:
        route.continue_(post_data=json.dumps(body_of(route.request) | {"understood": {"query": SHARES}}))

    page = site.open("search?q=motions&tab=answer", before=lambda page: page.route("**/records/ask", given))
    finished(page)
    chart = page.get_by_role("combobox", name="Chart")
    titles = chart.locator("option").all_inner_texts()
    assert titles == [
        f"{number} by month (date)" for number in ("Carried part", "Share of number of motions", "Growth")
    ]
    values = []
    for title in titles:
        chart.select_option(title)
        expect(page.locator("figcaption")).to_have_text(title)
        values.append(page.locator("figure dd").all_inner_texts())
    assert all(value == "–" or value.endswith("%") for value in values[0])
    assert round(sum(float(value.rstrip("%")) for value in values[1])) == 100
    assert "-20%" in values[2]
    assert "–" in values[2], "after a month without motions there is no growth"
    expect(page.locator(".prose")).to_contain_text("growth is change of number of motions against")
    expect(page.locator(".confidence")).to_have_text("High: the exact result of the conditions that you set")
    page.get_by_text("Show the SQL").click()
    expect(page.get_by_label("The statement")).to_contain_text("$1")
    expect(page.get_by_role("list", name="Its parameters")).to_contain_text("'carried'", ignore_case=True)
    page.get_by_role("button", name="Copy with its values").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "%(" not in copied
    assert "$1" not in copied


def test_how_a_question_was_read_is_shown_with_what_its_words_may_mean(site: Site) -> None:
    page = site.open()
    ask(page, "How many motions were carried?")
    finished(page)
    page.get_by_role("button", name="How was this read?").click()
    panel = page.get_by_role("dialog", name="How was this read?")
    expect(panel).to_contain_text("chance of being right")
    expect(panel.get_by_role("term").filter(has_text="motions")).to_be_visible()
    expect(panel.get_by_role("listitem").first).to_contain_text("show number from motion")


def test_titles_are_suggested_while_somebody_types_and_opened_by_keyboard(site: Site) -> None:
    page = site.open()
    box = page.get_by_role("textbox", name="Ask or search the records")
    box.press_sequentially("sable riv brigde")
    options = page.get_by_role("listbox", name="Titles").get_by_role("option")
    expect(options.first).to_contain_text("Sable River Bridge Replacement")
    box.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(box).to_have_attribute("aria-activedescendant", re.compile("-0$"))
    box.press("Escape")
    expect(options).to_have_count(0)
    box.press_sequentially(" re")
    expect(options.first).to_be_visible()
    box.press("ArrowDown")
    box.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("Sable River Bridge Replacement")
    page.keyboard.press("Escape")
    # without a choice, Enter searches
    box.fill("bridge")
    expect(options.first).to_be_visible()
    box.press("Enter")
    expect(page.locator(".result").first).to_be_visible()
    expect(options).to_have_count(0)


def test_a_question_gets_no_titles_and_a_filter_holds_for_those_of_words(site: Site) -> None:
    page = site.open("search?q=bridge&type=matter&tab=results")
    requests = requests_to(page, "/records/suggest")
    box = page.get_by_role("textbox", name="Ask or search the records")
    box.fill("Why was the bridge closed?")
    box.fill("river bri")
    options = page.get_by_role("option")
    expect(options.first).to_contain_text("Matter")
    assert [parse_qs(urlsplit(each.url).query) for each in requests] == [{"q": ["river bri"], "type": ["matter"]}]


def test_a_chart_s_numbers_stand_once_and_go_out_as_a_table_csv_and_a_picture(site: Site) -> None:
    page = site.open("search?q=How+many+motions+are+there+by+result%3F")
    finished(page)
    expect(page.get_by_role("figure", name="Number of motions by result")).to_be_visible()
    expect(page.locator(".prose > ul:visible")).to_have_count(0)
    page.get_by_text("Show as a table").click()
    cells = page.locator(".chart-tools td.is-number")
    expect(cells.first).to_be_visible()
    heading = page.get_by_role("columnheader", name="Number of motions")
    for order in ("ascending", "descending"):
        heading.get_by_role("button").click()
        expect(heading).to_have_attribute("aria-sort", order)
        values = [int(text) for text in cells.all_inner_texts()]
        assert values == sorted(values, reverse=order == "descending")
    menu = page.locator(".chart-tools .menu")
    for label, begins in (("CSV", b"\xef\xbb\xbfresult,"), ("Picture", b"\x89PNG")):
        menu.locator("summary").click()
        with page.expect_download() as download:
            menu.get_by_role("button", name=label).click()
        assert download.value.path().read_bytes().startswith(begins)


def test_periods_make_a_line_with_a_value_for_each(site: Site) -> None:
    page = site.open("search?q=How+many+motions+per+month+in+2025%3F")
    finished(page)
    chart = page.get_by_role("figure", name="Number of motions by month")
    expect(chart.locator("polyline")).to_have_count(1)
    expect(chart.locator("dd")).to_have_count(12)


def test_the_address_of_people_opens_the_page_in_a_browser(site: Site) -> None:
    page = site.open("people")
    expect(page).to_have_url(re.compile(r"/search\?domain=people$"))
    expect(page.get_by_role("heading", level=1)).to_be_visible()
