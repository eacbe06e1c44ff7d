"""Results can be saved, compared, sorted and exported."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import psycopg
from playwright.sync_api import Download, Page, expect

from tests.page.conftest import Site, requests_to
from tests.page.test_people_page import ASKED, FOUND, Searches, asked

QUESTION = "Why did the council keep the old elm in Quill Square?"


def taken(page: Page, kind: str) -> str:
    page.locator(".menu summary").first.click()
    with page.expect_download() as saving:
        page.get_by_role("button", name=kind, exact=True).click()
    download: Download = saving.value
    return Path(download.path()).read_text(encoding="utf-8-sig")


def test_a_conversation_is_kept_renamed_continued_and_deleted(site: Site, page_database: str) -> None:
    page = site.open(f"search?q={QUESTION}")
    page.get_by_role("button", name="Save conversation").click()
    expect(page.get_by_role("button", name="Saved", exact=True)).to_be_disabled()
    page.get_by_role("button", name="Saved items").click()
    panel = page.get_by_role("dialog", name="Saved items")
    panel.get_by_role("button", name="Rename").click()
    panel.get_by_role("textbox").fill("The elm")
    panel.get_by_role("textbox").press("Enter")
    link = panel.get_by_role("link", name="The elm")
    expect(link).to_be_visible()
    address = link.get_attribute("href")
    with site.browser.new_context() as context:
        other = context.new_page()
        asked = requests_to(other, "/records/ask")
        other.goto(f"{site.url}/{address}")
        expect(other.locator(".prose")).to_contain_text("elm")
        assert asked == []
        with other.expect_response(lambda response: response.request.method == "PATCH"):
            other.get_by_role("textbox").fill("Who was against keeping the elm?")
            other.keyboard.press("Enter")
    with psycopg.connect(page_database) as connection:
        assert connection.execute("select title, jsonb_array_length(turns) from conversations").fetchall() == [
            ("The elm", 2)
        ]
    panel.get_by_role("button", name="Delete").click()
    panel.get_by_role("button", name="Delete").click()
    expect(panel).to_contain_text("Save a conversation with the button below its answer")


def test_a_saved_search_says_what_is_new(site: Site, page_database: str) -> None:
    page = site.open("search?q=bridge&type=motion")
    page.get_by_role("button", name="Save search").click()
    expect(page.get_by_role("button", name="Saved", exact=True)).to_be_visible()
    newest = page.locator(".result-open").nth(2).inner_text()
    key = page.locator(".result").nth(2).get_attribute("data-key") or ""
    with psycopg.connect(page_database) as connection:
        connection.execute("delete from saved_search_results where result_id = %s", [key.removeprefix("motion/")])
    page.get_by_role("button", name="Saved items").click()
    page.get_by_role("dialog").get_by_role("link", name="bridge").click()
    expect(page.get_by_role("note")).to_contain_text("1 new result since")
    expect(page.locator(".result", has=page.locator(".chip.accent")).locator(".result-open")).to_have_text([newest])


SPLIT = 'x;=1+1; -2;"@a\t＋b\n-c;d-e'
"""What is no formula, until a spreadsheet divides it."""


def test_people_are_compared_sorted_and_exported_without_formulas(site: Site) -> None:
    [person] = FOUND["people"]
    others: list[dict[str, Any]] = [
        person | {"id": f"p-{number}", "name": name, "headline": headline, "matched_cards": []}
        for number, name, headline in [
            (2, "Zoya Khan", "=1+1"),
            (3, 'Bina "B" Das', "Tester,\nlead"),
            (4, "Ada Ek", SPLIT),
        ]
    ]
    searches = Searches(FOUND | {"people": [person, *others]})
    page = asked(site.open(ASKED, before=searches))
    rows = list(csv.reader(io.StringIO(taken(page, "CSV"))))
    assert [row[1] for row in rows] == ["name", "Asha Rao", "Zoya Khan", 'Bina "B" Das', "Ada Ek"]
    assert [row[2] for row in rows[2:]] == ["'=1+1", "Tester,\nlead", "x;'=1+1;' -2;'\"@a\t'＋b\n'-c;d-e"]
    assert json.loads(taken(page, "JSON"))[1]["headline"] == "=1+1"
    assert taken(page, "Markdown").splitlines()[2].startswith("| p-1 | Asha Rao |")
    page.get_by_label("Sort").select_option("name")
    expect(page.locator(".result-open")).to_have_text(["Ada Ek", "Asha Rao", 'Bina "B" Das', "Zoya Khan"])
    page.get_by_label("Compare Zoya Khan").check()
    page.get_by_label("Compare Asha Rao").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    table = page.get_by_role("dialog", name="Side by side").get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["Zoya Khan", "Asha Rao"])
    page.reload()
    expect(table.get_by_role("row", name=re.compile("^Headline"))).to_contain_text("Backend engineer in payments")
    assert len(searches.bodies) == 1


def test_an_exported_answer_has_its_sources(site: Site) -> None:
    page = site.open(f"search?q={QUESTION}")
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    text = taken(page, "Markdown")
    assert text.startswith(f"# {QUESTION}\n")
    assert re.search(r"\n## Sources\n\n1\. ", text)
    rows = list(csv.DictReader(io.StringIO(taken(page, "CSV"))))
    sources = json.loads(taken(page, "JSON"))["sources"]
    addresses = [row["url"] for row in rows]
    assert addresses == [source["url"] for source in sources]
    assert addresses == re.findall(r"^\d+\. .* <(\S+)>$", text, re.MULTILINE)
    for row in (rows[0], rows[-1]):
        opened = site.open(row["url"].removeprefix(f"{site.url}/"))
        expect(opened.get_by_role("dialog", name=row["title"])).to_be_visible()


def test_a_result_is_kept_on_the_board_and_counted_anew(site: Site, page_database: str) -> None:
    page = site.open("search?q=How+many+motions+were+defeated+in+2025%3F")
    page.get_by_role("button", name="Keep on the board").click()
    expect(page.get_by_role("button", name="On the board")).to_be_visible()
    page.get_by_role("button", name="Saved items").click()
    result = page.locator(".board-result")
    expect(result.locator(".board-number")).to_have_text("9")
    with psycopg.connect(page_database) as connection:
        defeated = connection.execute(
            "select id, result from motions where outcome = 'Defeated' and date between '2025-01-01' and '2025-12-31' limit 1"
        ).fetchone()
        assert defeated
        connection.execute("update motions set result = 'Withdrawn' where id = %s", defeated[:1])
    try:
        result.get_by_role("button", name="Refresh").click()
        expect(result.locator(".board-number")).to_have_text("8")
    finally:
        with psycopg.connect(page_database) as connection:
            connection.execute("update motions set result = %s where id = %s", defeated[::-1])
    result.get_by_text("Show the SQL").click()
    expect(result.locator("pre")).to_contain_text("select")
    item = page.get_by_role("listitem").filter(has=result)
    item.get_by_role("button", name="Delete").click()
    with page.expect_response(lambda response: response.request.method == "DELETE") as deletion:
        item.get_by_role("button", name="for good").click()
    assert deletion.value.status == 204
    expect(result).to_have_count(0)
