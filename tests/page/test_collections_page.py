"""The page over a collection: its own types, filters and records."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.collections.test_search import desk  # noqa: F401 -- a fixture
from tests.page.conftest import Site
from tests.running import running_server


@pytest.fixture(scope="module")
def address(desk: str) -> Iterator[str]:  # noqa: F811
    with running_server(desk, RATE_LIMIT_PER_MINUTE="0") as address:
        yield address


@pytest.fixture
def tickets(browser: Browser, address: str) -> Iterator[Site]:
    site = Site(browser, address)
    yield site
    site.close()
    assert site.complaints == []


def test_rows_of_a_table_are_found_filtered_and_read_whole(tickets: Site) -> None:
    page = tickets.open("search?q=parcel+depot&tab=results")
    expect(page.locator(".result").first).to_be_visible()
    expect(page.get_by_role("group", name="Types of record")).to_contain_text("Tickets")
    expect(page.locator(".card-meta").first).to_contain_text("Tickets")
    tickets.picture(page, "collection")
    page.locator(".result-open").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("The courier left the parcel")
    tickets.picture(page, "collection-row")


def test_an_address_may_name_a_type_of_ones_own(tickets: Site) -> None:
    page = tickets.open("search?q=printer+toner&type=tickets&tab=results")
    expect(page.locator(".result").first).to_contain_text("The printer smokes")
    expect(page.get_by_role("button", name="Tickets")).to_have_attribute("aria-pressed", "true")
