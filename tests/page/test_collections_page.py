"""Collections in the page: questions made from what is declared, numbers drawn, filters by facets, and the whole row."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import clone_database
from tests.page.conftest import Sessions, Site, site_of
from tests.records.trades import fill
from tests.running import running_server


@pytest.fixture(scope="module")
def trades_server(server_url: str, migrated_template: str) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        fill(url)
        with running_server(url, RATE_LIMIT_PER_MINUTE="0") as address:
            yield address


@pytest.fixture
def trades_site(trades_server: str, sessions: Sessions) -> Iterator[Site]:
    yield from site_of(sessions, trades_server)


def query_of(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.xfail(reason="the learned reader does not read this yet")
def test_a_number_is_drawn_and_leads_to_its_rows(trades_site: Site, width: int) -> None:
    page = trades_site.open("search?q=total+revenue+of+paid+orders+by+country&tab=answer", width=width)
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    expect(page.get_by_role("figure", name="Sum of total by country").locator("dt")).to_have_count(3)
    trades_site.picture(page, f"count-{width}")
    page.get_by_role("link", name="Show the records behind this").click()
    expect(page.locator(".result").first).to_be_visible()
    assert query_of(page)["type"] == ["orders"]
    assert query_of(page)["status"] == ["paid"]
    expect(page.get_by_role("group", name="Filters")).to_contain_text("status: paid")
    trades_site.picture(page, f"count-rows-{width}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [320, 1280])
def test_filters_are_made_from_the_declaration(trades_site: Site, width: int) -> None:
    page = trades_site.open("search?q=ring&tab=results&type=orders", width=width)
    expect(page.locator(".result").first).to_be_visible()
    page.locator("details.facets > summary").click()
    country = page.get_by_label("Country")
    expect(country.get_by_role("option", name="Spain (24)")).to_be_attached()
    trades_site.picture(page, f"filters-{width}")
    country.select_option("Spain")
    expect(page.get_by_role("group", name="Filters")).to_contain_text("country: Spain")
    assert query_of(page)["country"] == ["Spain"]
    expect(page.get_by_role("tab", name="Results")).to_contain_text("24")
    page.get_by_label("Total, least").fill("100")
    page.get_by_label("Total, least").press("Tab")
    expect(page.get_by_role("group", name="Filters")).to_contain_text("total: €100 to")
    page.get_by_role("button", name="Without this filter: Country").click()
    expect(page.get_by_role("group", name="Filters")).not_to_contain_text("Spain")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.xfail(reason="the learned reader does not read this yet")
def test_an_average_is_called_so_and_written_as_the_answer_writes_it(trades_site: Site) -> None:
    page = trades_site.open("search?q=average+total+of+orders+by+country&tab=answer")
    expect(page.locator(".answer-grid")).to_have_attribute("data-state", "done")
    chart = page.get_by_role("figure", name="Average total by country")
    expect(page.locator(".prose")).to_contain_text(chart.locator("dd").first.inner_text().lstrip("€"))


def test_questions_to_try_are_made_from_the_declaration(trades_site: Site) -> None:
    page = trades_site.open()
    page.get_by_role("button", name="How many orders are there?").click()
    expect(page.locator(".prose")).to_contain_text("70 orders")


def test_a_row_is_shown_whole_with_its_labels(trades_site: Site) -> None:
    page = trades_site.open("search?q=ring&tab=results&type=orders")
    page.locator(".result-open").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("Order date")
    expect(page.get_by_role("dialog")).to_contain_text("€")
