"""What columns are taken for, by their names, types and statistics."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.collections.guessing import date_purpose, is_category, is_place, is_prose, is_scope, language_of, words
from quarry.collections.guessing_numbers import is_amount, is_number, is_year
from tests.collections.made import column, table


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("order_date", ["order", "date"]),
        ("orderDate", ["order", "date"]),
        ("APIKey", ["api", "key"]),
        ("Größe", ["grosse"]),
        ("題名", ["題名"]),
        ("__", []),
    ],
)
def test_a_name_is_read_by_its_words(name: str, said: list[str]) -> None:
    assert [*words(name)] == said


@given(st.text())
def test_any_name_has_words_in_lower_case_without_signs(name: str) -> None:
    assert all(word and word == word.casefold() and "_" not in word for word in words(name))


def test_sentences_are_known_by_their_length_or_their_name() -> None:
    assert is_prose(column("x", width=200))
    assert is_prose(column("job_description"))
    assert not is_prose(column("code", width=8))


def test_a_category_has_few_values_many_times() -> None:
    assert is_category(column("x", distinct=5), 1000)
    assert is_category(column("x", distinct=-0.01), 1000)
    assert not is_category(column("x", distinct=-1), 30)
    assert not is_category(column("x", distinct=500), 1000)
    assert not is_category(column("x", distinct=1), 1000)
    assert not is_category(column("phone2", distinct=5), 1000)
    assert is_category(column("anything", "mood"), None)


def test_before_analyze_a_category_is_known_by_its_name() -> None:
    assert is_category(column("ticket_status"), None)
    assert not is_category(column("remark"), None)


def test_a_state_is_a_place_only_beside_a_city() -> None:
    state = column("state")
    assert is_place(state, table("shops", [("city", "text"), state]))
    assert not is_place(state, table("jobs", [("queue", "text"), state]))
    assert is_place(column("ShipCountry"), table("orders", []))


def test_numbers_that_name_something_are_not_counted_with() -> None:
    names = ("pages", "unit_price", "zip_code", "author_id", "position", "phone")
    assert [name for name in names if is_number(column(name, "integer"))] == ["pages", "unit_price"]
    assert is_amount(column("unit_price", "numeric(10,2)"))
    assert is_amount(column("x", "money"))
    assert is_amount(column("day_rate", "integer"))
    assert not is_amount(column("heart_rate", "integer"))
    assert is_year(column("print_year", "integer"))


@pytest.mark.parametrize(
    ("name", "type", "is_money"),
    [
        ("total", "integer", True),
        ("total_amount", "integer", True),
        ("order_total", "integer", True),
        ("total_fees", "integer", True),
        ("total_due", "bigint", True),
        ("total_usd", "integer", True),
        ("total_cents", "bigint", True),
        ("total_orders", "numeric(10,2)", True),
        ("total_orders", "integer", False),
        ("total_replies", "integer", False),
        ("totalReplies", "bigint", False),
        ("votes_total", "integer", False),
        ("total_attendance", "integer", False),
        ("discount_uses", "integer", False),
        ("total_weight", "numeric(10,2)", False),
        ("total_hours", "numeric(10,2)", False),
    ],
)
def test_a_total_is_money_unless_it_counts_or_measures_something_else(name: str, type: str, is_money: bool) -> None:
    assert is_amount(column(name, type)) is is_money


@pytest.mark.parametrize(
    ("name", "purpose"),
    [
        ("sent_at", "happened"),
        ("scheduled_for", "happened"),
        ("created_at", "created"),
        ("last_update", "bookkeeping"),
        ("birth_date", "later"),
        ("at", "other"),
    ],
)
def test_dates_are_told_apart(name: str, purpose: str) -> None:
    assert date_purpose(column(name, "date")) == purpose


def test_whose_a_row_is() -> None:
    names = ("tenant_id", "account_id", "organisationId", "owner", "account_name")
    assert [name for name in names if is_scope(column(name))] == ["tenant_id", "account_id", "organisationId", "owner"]


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("year", None, None),
        ("year_built", 1880, 2024),
        ("baujahr", None, None),
        ("año", None, None),
        ("born", 1834, 1991),
        ("founded", 1902, 2020),
        ("completed", 1850, 2021),
    ],
)
def test_a_whole_number_is_a_year_by_its_name_or_by_what_it_holds(
    name: str, least: float | None, most: float | None
) -> None:
    assert is_year(column(name, "integer", least=least, most=most))


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("born", None, None),
        ("born", 0, 14),
        ("built", 12, 4800),
        ("attended", 1200, 1900),
        ("year", 1, 6),
        ("year_total", None, None),
        ("halbjahr", 1, 2),
        ("customers_affected", 1200, 1900),
    ],
)
def test_a_whole_number_that_may_count_is_no_year(name: str, least: float | None, most: float | None) -> None:
    assert not is_year(column(name, "integer", least=least, most=most))


@pytest.mark.parametrize(
    ("names", "language"),
    [
        (["id", "bezeichnung", "hersteller", "baujahr", "preis"], "german"),
        (["id", "título", "descripción", "precio", "stock"], "spanish"),
        (["id", "intitulé", "année", "prix"], "french"),
        (["id", "title", "author", "price"], None),
        (["id", "name", "art", "status", "farbe", "owner", "size"], None),
    ],
)
def test_a_language_is_guessed_where_columns_are_plainly_called_in_it(names: list[str], language: str | None) -> None:
    assert language_of(names) == language
