"""What people ask of the tables of a forge that only `quarry map` has looked at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.collections import forge
from tests.collections.test_asked_of_a_draft import assert_told, drafted
from tests.conftest import client_of
from tests.records.asking import answer_of, ask
from tests.records.test_reckoning import sentence_of


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str) -> Iterator[str]:
    with drafted(server_url, migrated_template, "forge", forge.SCHEMA) as url:
        yield url


async def test_what_is_not_there_has_not_happened_or_refers_to_a_row_is_counted(url: str) -> None:
    await assert_told(url, "forge", forge.NUMBERS, forge.NO_NUMBER)


async def test_the_oldest_of_people_is_who_was_born_first(url: str) -> None:
    sentence = await sentence_of(url, "Who is the oldest smith?")
    assert sentence == "The earliest of 5 smiths, by date of birth: Cleo Krug (17 January 1977)."


def test_rows_that_nobody_is_assigned_are_listed_and_nobody_is_no_word_that_they_lack(url: str) -> None:
    with client_of(url) as client:
        answer = answer_of(ask(client, "Which open commissions have nobody assigned?"))
    assert answer.count("– state: open [") == 6
    assert "No record names" not in answer


async def test_what_was_paid_is_the_sum_of_what_has_been(server_url: str, migrated_template: str) -> None:
    with drafted(server_url, migrated_template, "accounts", forge.BILLS) as url:
        await assert_told(url, "accounts", forge.PAID, ())


async def test_a_date_that_rows_have_beside_another_is_named_behind_its_days(url: str) -> None:
    sentence = await sentence_of(url, "How many smiths were born after 1977?")
    assert sentence == "The records hold 4 smiths since 1978 (date of birth)."
