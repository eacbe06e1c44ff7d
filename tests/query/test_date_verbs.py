"""A participle before a date speaks of that date; what a row is now is said by a value."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.date_verbs import events_of, happened_otherwise
from quarry.spans.mention import DateRange, Known, KnownValue, Mention
from tests.query.tables import SERVED, Filled, asked
from tests.query.test_questions import in_words

YEAR = "2023-01-01..2023-12-31"


def table(name: str, noun: str, statuses: Sequence[str], dates: Sequence[str], date: str | None) -> Filled:
    """A table whose rows have a status, somebody and dates; the first `date` dates them."""
    facets = [
        Facet("status", "value", "status", "status", "statuses"),
        Facet("agent", "name", "agent", "agent", "agents", leads=("by",)),
        *(
            Facet(each, "date", each, each.replace("_", " "), f"{each.replace('_', ' ')}s", events=events_of(each))
            for each in dates
        ),
    ]
    filled = Filled(
        SearchTable(name, (noun,), tuple(facets), date=date), {"status": statuses, "agent": ("Ada Palmer",)}
    )
    SERVED[name] = filled
    return filled


TICKETS = table("tickets", "ticket", ("open", "closed", "pending"), ("opened_at", "closed_at"), "opened_at")
REPAIRS = table("repairs", "repair", ("open", "resolved"), ("opened_at", "closed_at"), "opened_at")
DESK = table("desk_tickets", "ticket", ("open", "closed", "pending"), ("opened_at",), "opened_at")
CASES = table("cases", "case", ("open", "closed"), ("day",), "day")
ORDERS = table(
    "orders", "order", ("paid", "shipped", "cancelled"), ("order_date", "shipped_date", "paid_on"), "order_date"
)
LOANS = table("loans", "loan", ("returned", "overdue"), ("borrowed_on", "due_date", "return_date"), "borrowed_on")
PARCELS = table("parcels", "parcel", ("delivered", "lost"), ("created_at", "delivery_date"), "created_at")


@pytest.mark.parametrize(
    ("filled", "text", "clauses"),
    [
        (TICKETS, "How many tickets were opened in 2023?", [f"opened_at: {YEAR}"]),
        (TICKETS, "tickets opened in 2023", [f"opened_at: {YEAR}"]),
        (TICKETS, "tickets closed in 2023", [f"closed_at: {YEAR}"]),
        (TICKETS, "How many tickets did Ada Palmer close in 2023?", ["agent: Ada Palmer", f"closed_at: {YEAR}"]),
        (TICKETS, "How many tickets did Ada Palmer open in 2023?", ["agent: Ada Palmer", f"opened_at: {YEAR}"]),
        (TICKETS, "How many tickets did Ada Palmer open?", ["agent: Ada Palmer", "opened_at: "]),
        (TICKETS, "which agent closed most tickets in 2023", [f"closed_at: {YEAR}"]),
        (TICKETS, "tickets closed by Ada Palmer in 2023", ["agent: Ada Palmer", f"closed_at: {YEAR}"]),
        (TICKETS, "tickets created before 2023", ["opened_at: ..2022-12-31"]),
        (TICKETS, "How many tickets are open?", ["status: open"]),
        (TICKETS, "open tickets", ["status: open"]),
        (TICKETS, "tickets that are closed", ["status: closed"]),
        (TICKETS, "which are closed", ["status: closed"]),
        (TICKETS, "how many closed tickets from 2023", ["status: closed", f"opened_at: {YEAR}"]),
        (TICKETS, "open tickets from 2023", ["status: open", f"opened_at: {YEAR}"]),
        (REPAIRS, "repairs resolved in 2023", ["status: resolved", f"closed_at: {YEAR}"]),
        (REPAIRS, "resolved repairs from 2023", ["status: resolved", f"opened_at: {YEAR}"]),
        (REPAIRS, "repairs completed in 2023", [f"closed_at: {YEAR}"]),
        (DESK, "tickets opened in 2023", [f"opened_at: {YEAR}"]),
        (DESK, "how many tickets created in 2023", [f"opened_at: {YEAR}"]),
        (DESK, "open tickets from 2023", ["status: open", f"opened_at: {YEAR}"]),
        (CASES, "cases opened in 2023", [f"day: {YEAR}"]),
        (CASES, "cases closed in 2023", ["status: closed", f"day: {YEAR}"]),
        (CASES, "how many cases are open in 2023", ["status: open", f"day: {YEAR}"]),
        (ORDERS, "orders paid before 2023", ["paid_on: ..2022-12-31"]),
        (ORDERS, "orders paid in 2023", [f"paid_on: {YEAR}"]),
        (ORDERS, "orders not paid in 2023", [f"paid_on: not {YEAR}"]),
        (ORDERS, "orders shipped in 2023", [f"shipped_date: {YEAR}"]),
        (ORDERS, "orders cancelled in 2023", ["status: cancelled", f"order_date: {YEAR}"]),
        (ORDERS, "how many orders in 2023", [f"order_date: {YEAR}"]),
        (ORDERS, "how many orders are shipped", ["status: shipped"]),
        (LOANS, "loans returned in 2023", [f"return_date: {YEAR}"]),
        (LOANS, "how many loans are overdue", ["status: overdue"]),
        (LOANS, "how many loans were returned", ["status: returned"]),
        (PARCELS, "parcels delivered in 2023", [f"delivery_date: {YEAR}"]),
        (PARCELS, "parcels lost", ["status: lost"]),
    ],
)  # fmt: skip
def test_the_date_or_the_value_is_meant(filled: Filled, text: str, clauses: list[str]) -> None:
    said = in_words(asked(text, filled))
    assert (said["clauses"], said["unanswerable"]) == (sorted(clauses), [])


@pytest.mark.parametrize(
    ("filled", "text"),
    [
        (DESK, "How many tickets were closed in 2023?"),
        (DESK, "which agent closed most tickets in 2023"),
        (PARCELS, "parcels lost in 2023"),
        (DESK, "how many tickets did Ada Palmer close in 2023"),
    ],
)
def test_what_happened_on_no_date_that_there_is_cannot_be_told(filled: Filled, text: str) -> None:
    assert in_words(asked(text, filled))["unanswerable"]


def test_that_something_happened_at_all_is_a_condition() -> None:
    deliveries = table("deliveries", "delivery", ("late",), ("ordered_on", "shipped_on"), "ordered_on")
    shipped = in_words(asked("how many deliveries were shipped", deliveries))
    assert shipped["clauses"] == ["shipped_on: "]
    assert in_words(asked("how many deliveries were not shipped", deliveries))["clauses"] == ["shipped_on: not "]


def test_the_words_of_a_name_say_what_happened() -> None:
    assert events_of("closed_at") == ("closed",)
    assert events_of("due date", "due_date") == ("due",)
    assert events_of("created_on", "date", "day") == ("created",)


@pytest.mark.parametrize(("is_latent", "is_otherwise"), [(False, True), (True, False)])
def test_a_word_that_is_hardly_a_value_dates_nothing(is_latent: bool, is_otherwise: bool) -> None:
    text = "did Ada polish in May"
    mentions = [
        Mention(Known((KnownValue("tool", "polishing wheel", 3),)), 8, 14, is_latent=is_latent),
        Mention(DateRange(None, None), 15, 21),
    ]
    assert happened_otherwise(text, mentions, 1, ("opened",)) == is_otherwise
