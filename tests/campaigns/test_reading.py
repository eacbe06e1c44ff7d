"""How a question about campaigns is read, in the light of the sample campaigns."""

from __future__ import annotations

import datetime

import pytest

from quarry.campaigns.contract import ChatRequest, FinalAnswerEvent
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.filters import filters_of
from quarry.campaigns.reading import CampaignQuestion, constraints_of, question_of, with_constraints, with_days
from quarry.campaigns.search import chat_about_campaigns
from quarry.retrieval.reading import read_question
from quarry.services.services import Caller, Services
from quarry.spans.question import Ask

LATEST = datetime.date(2026, 10, 15)
RECENT = "recent"


async def read(services: Services, text: str, *earlier: str) -> CampaignQuestion:
    reading = await read_question(services.database, CAMPAIGNS, text, today=LATEST, earlier=earlier)
    return question_of(reading, LATEST)


def filters(asked: CampaignQuestion) -> dict[str, object]:
    return filters_of(asked.clauses, LATEST).given()


@pytest.mark.parametrize(
    ("question", "ask", "expected"),
    [
        ("How many email campaigns are there?", Ask("count"), {"channel": ["Email"]}),
        ("what offers does lumen bank make", Ask("groups", "offer"), {"company": ["Lumen Bank"]}),
        ("number of mailers with cash back", Ask("count"), {"channel": ["Direct Mail"], "value_prop": ["Cash Back / Rewards"]}),
        ("What tone do TV commercials take?", Ask("groups", "sentiment"), {"channel": ["TV"]}),
        ("campaigns with no annual fee as a selling point", Ask(), {"value_prop": ["No Annual Fee"]}),
        ("which companies advertise with no annual fee?", Ask("groups", "company"), {"value_prop": ["No Annual Fee"]}),
        ("playful illustrations", Ask(), {"sentiment": ["Playful"], "visual_style": ["Illustration"]}),
        ("the Voyage Card campaigns", Ask(), {"brand": ["Voyage Card"]}),
        ("spots for voyage card", Ask(), {"brand": ["Voyage Card"]}),
        ("billboards from Tern & Co", Ask(), {"channel": ["Out of Home"], "company": ["Tern & Co"]}),
        ("campaigns without an offer", Ask(), {"has_offer": False}),
        ("email campaigns that make an offer", Ask(), {"channel": ["Email"], "has_offer": True}),
        ("only email campaigns with an offer", Ask(), {"channel": ["Email"], "has_offer": True}),
        ("recent urgent texts by SMS", Ask(), {"sentiment": ["Urgent"], "channel": ["SMS"], "date_range": RECENT}),
        ("the latest campaigns by Kinoteka", Ask(), {"company": ["Kinoteka"], "date_range": RECENT}),
        ("the latest campaign by Kinoteka", Ask("extreme", "capture_date", limit=1), {"company": ["Kinoteka"]}),
        ("How many did the maison run?", Ask("count"), {"company": ["Maison Ardent"]}),
        ("the latest motors ad", Ask("extreme", "capture_date", limit=1), {"company": ["Volta Motors"]}),
        ("how many campains promise no annual fee?", Ask("count"), {"value_prop": ["No Annual Fee"]}),
        ("How many promise no annual fee?", Ask("count"), {"value_prop": ["No Annual Fee"]}),
        ("Who advertises most on radio?", Ask("groups", "company", limit=1), {"channel": ["Radio"]}),
        ("Where does Orla Mobile advertise?", Ask("groups", "channel"), {"company": ["Orla Mobile"]}),
        ("what does Kinoteka promise", Ask("groups", "value_prop"), {"company": ["Kinoteka"]}),
        ("What value propositions does Volta Motors push?", Ask("groups", "value_prop"), {"company": ["Volta Motors"]}),
        ("sentiment breakdown for display", Ask("groups", "sentiment"), {"channel": ["Display"]}),
        ("offers in Kinoteka's campaigns", Ask("groups", "offer"), {"company": ["Kinoteka"]}),
        ("how many campaigns per quarter", Ask("groups", "capture_date", "quarter"), {}),
    ],
)  # fmt: skip
async def test_a_question_is_read(
    sample_services: Services, question: str, ask: Ask, expected: dict[str, object]
) -> None:
    asked = await read(sample_services, question)
    assert (asked.ask, filters(asked), asked.says) == (ask, expected, "")


@pytest.mark.parametrize(
    ("question", "says", "theme"),
    [
        ("Who mentions lounge access?", "lounge access", ""),
        ("ads that say “sleep on it”", '"sleep on it"', ""),
        ('campaigns with the words "window seat"', '"window seat"', ""),
        ("How many campaigns mention coffee?", "coffee", ""),
        ("How many campaigns offer the first month free?", '"first month free"', ""),
        ("campaigns for young families", "", "young families"),
        ("push notifications with a seasonal sale", "", ""),
        ("3 playful emails", "", ""),
    ],
)
async def test_words_that_are_left_are_said_by_the_copy_or_what_it_is_about(
    sample_services: Services, question: str, says: str, theme: str
) -> None:
    asked = await read(sample_services, question)
    assert (asked.says, asked.theme) == (says, theme)


async def test_what_is_ruled_out_is_no_filter_and_no_theme(sample_services: Services) -> None:
    asked = await read(sample_services, "playful ads not by email and without coffee")
    assert filters(asked) == {"sentiment": ["Playful"]}
    assert [asked.theme, asked.says] == ["", ""]
    labels = [clause.label for clause in constraints_of(asked).conditions]
    assert labels == ["with the sentiment Playful", "not on Email", "not saying “coffee”"]


async def test_a_follow_up_of_a_follow_up_keeps_both(sample_services: Services) -> None:
    asked = await read(sample_services, "only the playful ones", "How many Orla Mobile campaigns?", "and by email?")
    assert filters(asked) == {"company": ["Orla Mobile"], "channel": ["Email"], "sentiment": ["Playful"]}
    assert asked.ask == Ask("count")


async def test_a_new_question_drops_what_was_asked_before(sample_services: Services) -> None:
    assert filters(await read(sample_services, "How many TV campaigns?", "Show me email")) == {"channel": ["TV"]}


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("in march 2026", "2026-03-01", "2026-03-31"),
        ("since may 2026", "2026-05-01", None),
        ("before 2026", None, "2025-12-31"),
        ("prior to 2026", None, "2025-12-31"),
        ("2026 or later", "2026-01-01", None),
        ("after june 2026", "2026-07-01", None),
        ("in 2025", "2025-01-01", "2025-12-31"),
        ("from 2024 to 2025", "2024-01-01", "2025-12-31"),
        ("on 12 Sept 2025", "2025-09-12", "2025-09-12"),
        ("between march 2025 and june 2026", "2025-03-01", "2026-06-30"),
        ("q2 2026", "2026-04-01", "2026-06-30"),
        ("in the third quarter of 2025", "2025-07-01", "2025-09-30"),
        ("last quarter", "2026-07-01", "2026-09-30"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("in the last 30 days", "2026-09-15", "2026-10-15"),
    ],
)
async def test_a_period_counts_from_the_latest_capture(
    sample_services: Services, text: str, start: str | None, end: str | None
) -> None:
    asked = await read(sample_services, f"emails {text} please")
    days = {name: day for name, day in (("from", start), ("to", end)) if day}
    assert filters(asked) == {"channel": ["Email"], "date_range": days}
    assert asked.theme == ""


@pytest.mark.parametrize("text", ["may we see the emails", "the march of progress", "second thoughts"])
async def test_what_is_no_period_is_not_read_as_one(sample_services: Services, text: str) -> None:
    assert "date_range" not in filters(await read(sample_services, text))


async def test_evidence_says_where_each_condition_stands(sample_services: Services) -> None:
    text = "How many playful ads were not on TV in 2026?"
    evidence = constraints_of(await read(sample_services, text)).evidence
    said = {(each.field, text[each.start : each.end], each.assertion) for each in evidence}
    assert said == {
        ("sentiment", "playful", "affirmed"),
        ("channel", "TV", "negated"),
        ("capture_date", "in 2026", "affirmed"),
    }


async def test_constraints_go_there_and_back(sample_services: Services) -> None:
    read_as = await read(sample_services, "playful or urgent ads with an offer, not on TV, in June 2026 about summer")
    asked = with_days(read_as, datetime.date(2025, 8, 1), LATEST)
    again = with_constraints(asked, constraints_of(asked))
    assert constraints_of(again).model_dump(exclude={"evidence"}) == constraints_of(asked).model_dump(
        exclude={"evidence"}
    )


async def test_constraints_of_the_request_replace_the_reading(sample_services: Services) -> None:
    request = ChatRequest.model_validate(
        {
            "message": "How many playful ads on TV?",
            "constraints": {
                "conditions": [{"any_of": [{"field": "sentiment", "values": ["Playful"], "negated": True}]}]
            },
        }
    )
    events = chat_about_campaigns(request, Caller("reading"), sample_services)
    [answer] = [event.data async for event in events if isinstance(event, FinalAnswerEvent)]
    everything = await sample_services.database.row(
        "select count(*) as n from campaigns where imagery_sentiment is distinct from 'Playful'"
    )
    assert everything is not None
    assert answer.total == everything["n"]
    assert f"**{everything['n']}**" in answer.response
