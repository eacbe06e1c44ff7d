"""How a question is read without a model."""

from __future__ import annotations

import datetime

import pytest

from quarry.campaigns.found import KnownValues
from quarry.campaigns.periods import find_period
from quarry.campaigns.router import route

KNOWN = KnownValues(
    {
        "channel": ("Email", "Direct Mail", "TV", "SMS", "Out of Home"),
        "company": ("Lumen Bank", "Tern & Co"),
        "brand": ("Voyage Card", "Premium Pass"),
        "value_prop": ("Cash Back / Rewards", "No Annual Fee", "Free Trial"),
        "sentiment": ("Premium", "Playful", "Urgent"),
        "visual_style": ("Illustration", "Film Still"),
    },
    datetime.date(2025, 1, 1),
    datetime.date(2026, 10, 15),
)


@pytest.mark.parametrize(
    ("question", "search", "asked", "filters"),
    [
        ("How many email campaigns are there?", "filter_campaigns", "count", {"channel": ["Email"]}),
        ("what offers does lumen bank make", "filter_campaigns", "offer", {"company": ["Lumen Bank"]}),
        ("number of mailers with cashback", "filter_campaigns", "count",
         {"channel": ["Direct Mail"], "value_prop": ["Cash Back / Rewards"]}),
        ("What tone do TV commercials take?", "filter_campaigns", "sentiment", {"channel": ["TV"]}),
        ("which companies advertise with no annual fee?", "filter_campaigns", "company", {"value_prop": ["No Annual Fee"]}),
        ("playful illustrations", "filter_campaigns", "campaigns", {"sentiment": ["Playful"], "visual_style": ["Illustration"]}),
        ("the Premium Pass campaigns", "filter_campaigns", "campaigns", {"brand": ["Premium Pass"]}),
        ("billboards from Tern & Co", "filter_campaigns", "campaigns", {"channel": ["Out of Home"], "company": ["Tern & Co"]}),
        ("campaigns without an offer", "filter_campaigns", "offer", {"has_offer": False}),
        ("recent urgent texts by SMS", "semantic_search", "campaigns",
         {"sentiment": ["Urgent"], "channel": ["SMS"], "date_range": "recent"}),
        ("campaigns for young families", "semantic_search", "campaigns", {}),
        ("Who mentions lounge access?", "full_text_search", "company", {}),
        ("email campaigns that say “sleep on it”", "full_text_search", "campaigns", {"channel": ["Email"]}),
    ],
)  # fmt: skip
def test_a_question_is_read(question: str, search: str, asked: str, filters: dict[str, object]) -> None:
    routed = route(question, [], KNOWN)
    assert (routed.route, routed.asked, routed.filters.given()) == (search, asked, filters)


def test_the_words_to_look_for_are_those_said() -> None:
    assert route("Who mentions lounge access?", [], KNOWN).query == "lounge access"
    assert route("ads that say “sleep on it”", [], KNOWN).query == '"sleep on it"'
    assert route("campaigns for young families", [], KNOWN).query == "young families"


def test_a_follow_up_of_a_follow_up_keeps_both() -> None:
    earlier = ["How many Lumen Bank campaigns?", "and by email?"]
    routed = route("only the playful ones", earlier, KNOWN)
    assert routed.filters.given() == {"company": ["Lumen Bank"], "channel": ["Email"], "sentiment": ["Playful"]}
    assert routed.asked == "count"


def test_a_new_question_drops_what_was_asked_before() -> None:
    assert route("How many TV campaigns?", ["Show me email"], KNOWN).filters.given() == {"channel": ["TV"]}


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("in march 2026", "2026-03-01", "2026-03-31"),
        ("in december", "2025-12-01", "2025-12-31"),
        ("since may 2026", "2026-05-01", None),
        ("before 2026", None, "2025-12-31"),
        ("after june 2026", "2026-07-01", None),
        ("in 2025", "2025-01-01", "2025-12-31"),
        ("between march 2025 and june 2026", "2025-03-01", "2026-06-30"),
        ("q2 2026", "2026-04-01", "2026-06-30"),
        ("in the third quarter of 2025", "2025-07-01", "2025-09-30"),
        ("last quarter", "2026-07-01", "2026-09-30"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("in the last 30 days", "2026-09-15", "2026-10-15"),
        ("over the past two months", "2026-08-16", "2026-10-15"),
    ],
)
def test_a_period_is_read(text: str, start: str | None, end: str | None) -> None:
    period, rest = find_period(f"emails {text} please", KNOWN.latest)
    assert period is not None
    assert period != "recent"
    assert (period.from_date, period.to_date) == tuple(
        datetime.date.fromisoformat(day) if day else None for day in (start, end)
    )
    assert rest.split() == ["emails", "please"]


@pytest.mark.parametrize(
    "text", ["may we see the emails", "a 2000 mile ride", "the march of progress", "second thoughts"]
)
def test_what_is_no_period_is_not_read_as_one(text: str) -> None:
    assert find_period(text, KNOWN.latest)[0] is None or "2000" in text
