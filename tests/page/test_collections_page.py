"""Collections in the page: questions made from the declaration, filters by facets, and the whole row."""

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


def test_filters_are_made_from_the_declaration(trades_site: Site) -> None:
    page = trades_site.open("search?q=ring&tab=results&type=orders", width=320)
    expect(page.locator(".result").first).to_be_visible()
    page.locator("details.facets > summary").click()
    country = page.get_by_label("Country")
    expect(country.get_by_role("option", name="Spain (24)")).to_be_attached()
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


def test_questions_to_try_are_made_from_the_declaration(trades_site: Site) -> None:
    page = trades_site.open()
    page.get_by_role("button", name="How many orders are there?").click()
    expect(page.locator(".prose")).to_contain_text("70 orders")
    expect(page.locator(".prose")).to_contain_text("Read as: orders, counted.")
