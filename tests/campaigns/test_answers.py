"""What is answered without a model: exact numbers, names before numbers where they are asked for, and what is not there."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.campaigns.chatting import chat, ids
from tests.conftest import client_of, create_database

Row = dict[str, Any]


def follow(client: TestClient, *questions: str) -> Row:
    """The answer to the last question of a chat."""
    history: list[Row] = []
    answer: Row = {}
    for question in questions:
        answer = chat(client, question, history=history)
        history += [{"role": "user", "content": question}, {"role": "assistant", "content": answer["response"]}]
    return answer


def test_what_is_ruled_out_is_out_and_said(client: TestClient, rows: list[Row]) -> None:
    answer = chat(client, "Playful ads that are neither on TV nor by Orla Mobile")
    expected = {
        row["id"]
        for row in rows
        if row["imagery_sentiment"] == "Playful" and row["channel"] != "TV" and row["company"] != "Orla Mobile"
    }
    assert (ids(answer), answer["total"]) == (expected, len(expected))
    assert "not on TV not by Orla Mobile" in answer["response"]
    assert answer["detectedFilters"] == {"sentiment": ["Playful"]}


def test_different_values_are_counted(client: TestClient, rows: list[Row]) -> None:
    answer = chat(client, "How many different companies advertise on email?")
    companies = {row["company"] for row in rows if row["channel"] == "Email"}
    assert answer["response"].startswith(f"There are **{len(companies)}** different companies")


def test_the_most_common_value_is_named_first(client: TestClient, rows: list[Row]) -> None:
    answer = chat(client, "Which company has the most campaigns?")
    assert answer["response"].startswith("**Lumen Bank (10)**")
    assert answer["total"] == len(rows)


def test_values_that_tie_are_all_named(client: TestClient) -> None:
    answer = chat(client, "Which company has the most email campaigns?")
    assert answer["response"].startswith("**Lumen Bank (2)**, **Orla Mobile (2)**: the most common companies")


def test_periods_are_told_as_they_passed(client: TestClient) -> None:
    answer = chat(client, "How many campaigns were there per year?")
    assert answer["response"].startswith("**2** years of the 122 campaigns: 2025 (33), 2026 (89).")


def test_when_names_the_day(client: TestClient, rows: list[Row]) -> None:
    answer = chat(client, "When did the first Lumen Bank campaign run?")
    [first] = sorted((row for row in rows if row["company"] == "Lumen Bank"), key=lambda row: row["capture_date"])[:1]
    assert f"{first['capture_date']:%-d %B %Y}" in answer["response"].splitlines()[0]
    assert (ids(answer), answer["total"]) == ({first["id"]}, 1)


def test_whether_there_are_any(client: TestClient) -> None:
    assert chat(client, "Are there any radio ads by Harborline Credit Union?")["response"].startswith("Yes: 1 campaign")
    no = chat(client, "Are there any radio ads by Volta Motors?")
    assert no["response"].startswith("No campaign on Radio by Volta Motors was found.")


def test_where_nothing_fits_it_is_told_what_each_condition_costs(client: TestClient) -> None:
    answer = chat(client, "Radio ads by Volta Motors")
    assert (answer["total"], answer["campaigns"]) == (0, [])
    assert "- without “on Radio”: 5 campaigns" in answer["response"]
    assert "- without “by Volta Motors”: 5 campaigns" in answer["response"]


@pytest.mark.parametrize("question", ["How many campaigns has Zephyr Cola run?", "campaigns by Zephyr Cola"])
def test_a_name_that_is_not_here_is_said(client: TestClient, question: str) -> None:
    answer = chat(client, question)
    assert answer["total"] == 0
    assert "No campaign by “Zephyr Cola” is here" in answer["response"]


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("Which ad got the most views?", "“most views”"),
        ("How much did the Orla Mobile ads cost?", "“How much did the Orla Mobile ads cost”"),
        ("Which jingle is most common on radio?", "“jingle”"),
        ("What is the average number of ads per company?", "“What is the average”"),
    ],
)
def test_what_the_data_does_not_tell_is_said(client: TestClient, question: str, missing: str) -> None:
    answer = chat(client, question)
    assert answer["response"].startswith(f"This is not in the data: {missing}.")


def test_a_share_is_told_of_what_the_question_says(client: TestClient, rows: list[Row]) -> None:
    email = [row for row in rows if row["channel"] == "Email"]
    playful = sum(row["imagery_sentiment"] == "Playful" for row in email)
    offering = sum(bool(row["offer"]) for row in rows)
    answer = chat(client, "What percentage of the email campaigns are playful?")
    assert answer["response"] == (
        f"There are **{playful}** campaigns on Email with the sentiment Playful: "
        f"{100 * playful / len(email):.1f} % of the {len(email)} campaigns on Email."
    )
    answer = chat(client, "percentage of campaigns with an offer")
    said = f"**{offering}** campaigns with an offer: {100 * offering / len(rows):.1f} % of the {len(rows)} campaigns."
    assert said in answer["response"]
    answer = follow(client, "campaigns by Lumen Bank", "what share of them are on email?")
    assert ": 20 % of the 10 campaigns by Lumen Bank." in answer["response"]
    answer = follow(client, "the two latest campaigns", "what share of them are on email?")
    assert ": 50 % of the 2 campaigns." in answer["response"]


def test_values_that_lack_something_are_those_of_which_no_campaign_has_it(client: TestClient, rows: list[Row]) -> None:
    on_tv = {row["company"] for row in rows if row["channel"] == "TV"}
    number = len({row["company"] for row in rows} - on_tv)
    for question in ("Which companies don't advertise on TV?", "How many companies have no TV campaigns?"):
        said = chat(client, question)["response"]
        assert said.startswith(f"**{number}** companies without a campaign on TV, among the {len(rows)} campaigns: ")
        assert not [company for company in on_tv if company in said]
    either = {row["company"] for row in rows if row["channel"] in ("TV", "Radio")}
    said = chat(client, "Which companies are neither on TV nor on radio?")["response"]
    assert said.startswith(f"**{number - len(either - on_tv)}** companies without a campaign on TV or on Radio")
    said = chat(client, "Which companies ran campaigns that are not on TV?")["response"]
    assert said.startswith("**26** companies of the 115 campaigns not on TV")
    said = chat(client, "Which channels did Lumen Bank not use?")["response"]
    assert said.startswith("This is not in the data: “Which channels did Lumen Bank not use”.")


def test_a_question_for_what_no_field_holds_is_told_so_before_what_comes_near(client: TestClient) -> None:
    answer = chat(client, "Who directed the Volta Motors ads?")
    assert answer["response"].startswith("This is not in the data as such.")
    assert {each["company"] for each in answer["campaigns"]} == {"Volta Motors"}


def test_a_theme_is_not_counted_but_by_the_words_of_the_copy(client: TestClient) -> None:
    answer = chat(client, "How many campaigns are about pets?")
    assert answer["response"].startswith("It is not recorded which campaigns are about “pets”")
    assert answer["total"] == 1


def test_words_that_the_copy_says_are_counted(client: TestClient) -> None:
    answer = chat(client, "How many campaigns mention lounges?")
    assert answer["response"].startswith("There are **4** campaigns saying “lounges”.")
    assert answer["total"] == 4


def test_a_follow_up_keeps_what_it_does_not_change(client: TestClient) -> None:
    answer = follow(client, "How many playful campaigns are there?", "only those on TV", "and on radio?")
    assert answer["detectedFilters"] == {"sentiment": ["Playful"], "channel": ["Radio"]}
    assert answer["response"].startswith("There are **3** campaigns")


def test_a_follow_up_keeps_that_words_were_asked_for(client: TestClient) -> None:
    answer = follow(client, "Which campaigns mention lounges?", "only those by email")
    assert answer["response"].startswith("1 campaign")
    assert "saying “lounges”" in answer["response"]


def test_a_campaign_of_the_earlier_answer_is_taken_up_by_its_place(client: TestClient) -> None:
    first = chat(client, "Show me premium campaigns")
    second = follow(client, "Show me premium campaigns", "the second one")
    assert [each["id"] for each in second["campaigns"]] == [first["campaigns"][1]["id"]]
    both = follow(client, "Show me premium campaigns", "compare the first two")
    assert [each["id"] for each in both["campaigns"]] == [each["id"] for each in first["campaigns"][:2]]


def test_what_was_shown_is_asked_about_without_what_was_asked_of_it(client: TestClient) -> None:
    asked = ("Which channels do premium campaigns use?", "the first two")
    first = chat(client, "Show me premium campaigns")
    answer = follow(client, *asked)
    assert [each["id"] for each in answer["campaigns"]] == [each["id"] for each in first["campaigns"][:2]]
    assert answer["response"].startswith("2 campaigns")


def test_a_question_about_the_few_that_were_picked_is_of_these_alone(client: TestClient) -> None:
    picked = "the three latest campaigns by Lumen Bank"
    channels = [each["channel"] for each in chat(client, picked)["campaigns"]]
    assert len(set(channels)) == len(channels) == 3
    answer = follow(client, picked, "Which channels do they use?")
    assert (
        answer["response"]
        == f"**3** channels of the 3 campaigns: {', '.join(f'{each} (1)' for each in sorted(channels))}."
    )
    answer = follow(client, picked, f"How many of them are on {channels[1]}?")
    assert answer["response"] == f"There is **1** campaign on {channels[1]} among these."
    assert follow(client, picked, "the second one", "when was it captured?")["total"] == 1
    assert follow(client, picked, "which is the latest of them?")["total"] == 1
    assert follow(client, picked, "do they promise free delivery?")["total"] == 0


def test_the_others_are_those_that_an_answer_left_out(client: TestClient, rows: list[Row]) -> None:
    answer = follow(client, "Show me email campaigns", "only those by Lumen Bank", "and the others?")
    expected = {row["id"] for row in rows if row["channel"] == "Email" and row["company"] != "Lumen Bank"}
    assert answer["total"] == len(expected)
    assert ids(answer) <= expected


def test_as_many_are_shown_as_are_asked_for(client: TestClient, rows: list[Row]) -> None:
    answer = chat(client, "Show me 3 playful campaigns")
    assert len(answer["campaigns"]) == 3
    assert answer["total"] == sum(row["imagery_sentiment"] == "Playful" for row in rows)


def test_what_was_only_guessed_never_leaves_nothing(server_url: str, sample_template: str) -> None:
    url = create_database(server_url, "campaigns_guessed", template=sample_template)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "insert into campaigns (id, company, channel, campaign_text, capture_date)"
            " values ('g', 'Granite Harbor Books', 'Billposting', 'x', '2026-01-01')"
        )
    with client_of(url) as client:
        answer = chat(client, "How many Granit Harbor ads ran on email?")
    assert answer["total"] == 28
    assert "only guessed" in answer["response"]


def test_counts_are_not_cut_where_lists_are(server_url: str, sample_template: str) -> None:
    url = create_database(server_url, "campaigns_many", template=sample_template)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "insert into campaigns (id, company, channel, campaign_text, capture_date)"
            " select 'many-' || n, 'Firm ' || n, 'Kiosk', 'x', '2026-02-01' from generate_series(1, 300) n"
        )
    with client_of(url) as client:
        assert "**300**" in chat(client, "How many campaigns ran on kiosk?")["response"]
        different = chat(client, "How many different companies advertise on kiosk?")
        assert "**300** different companies" in different["response"]
        assert (different["total"], len(different["campaigns"])) == (300, 200)


@pytest.mark.parametrize("message", ["hi", "Hello there!", "thanks", "?"])
def test_who_asks_nothing_is_told_what_can_be_asked(client: TestClient, message: str) -> None:
    answer = chat(client, message)
    assert (answer["campaigns"], answer["total"]) == ([], 0)
    assert answer["response"].startswith("What would you like to know of the campaigns? What the data tells")


@pytest.mark.parametrize("question", ["ads about pooches", "is there an ad about pooches?"])
def test_what_is_only_near_in_meaning_is_not_called_about_the_theme(client: TestClient, question: str) -> None:
    answer = chat(client, question)
    assert answer["total"] == len(answer["campaigns"]) > 0
    said = "No copy says “pooches”. What comes nearest in meaning: "
    assert answer["response"].startswith(f"{said}{answer['total']} campaign")
