"""What people ask of the tables of a tool house that only `quarry map` has looked at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.collections import tool_house
from tests.collections.test_asked_of_a_draft import assert_told, drafted


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str) -> Iterator[str]:
    with drafted(server_url, migrated_template, "tool_house", tool_house.SCHEMA) as url:
        yield url


async def test_names_written_short_amounts_in_cents_and_what_is_due_are_read(url: str) -> None:
    await assert_told(url, "tool_house", tool_house.NUMBERS, tool_house.NO_NUMBER)
