"""What is answered without a model: exact numbers in the words of the query, themes by meaning, and what is not in the data.

Which ways of asking are understood is measured by the pairs (`tests/pairs/sample-campaigns.jsonl`).
"""

from __future__ import annotations

import datetime
from typing import Any

import psycopg
from starlette.testclient import TestClient

from quarry.campaigns.conditions import NAME
from quarry.campaigns.results import NOTHING, CampaignSet, Search
from quarry.campaigns.wording import Said, answer
from quarry.query.algebra import Query
from tests.campaigns.chatting import chat
from tests.conftest import client_of, create_database

Row = dict[str, Any]
TODAY = datetime.date(2026, 10, 15)


def follow(client: TestClient, *questions: str) -> Row:
    """The answer to the last question of a chat."""
    history: list[Row] = []
    found: Row = {}
    for question in questions:
        found = chat(client, question, history=history)
        history += [{"role": "user", "content": question}, {"role": "assistant", "content": found["response"]}]
    return found


def test_a_number_is_given_with_its_query_and_the_words_that_say_its_conditions(client: TestClient) -> None:
    found = chat(client, "How many email campaigns are there?")
    assert found["response"] == "28 campaigns (channel: Email)."
    assert found["aggregation"]["sentence"] == found["response"]
    assert found["aggregation"]["query"]["where"] == [{"field": "channel", "value": "Email"}]
    [evidence] = found["constraints"]["evidence"]
    assert (evidence["field"], evidence["value"], evidence["start"], evidence["end"]) == ("channel", "Email", 9, 14)
    assert (found["detectedFilters"], found["constraints"]["theme"]) == ({"channel": ["Email"]}, "")


def test_values_that_tie_are_all_named(client: TestClient) -> None:
    email = {"any_of": [{"field": "channel", "values": ["Email"]}]}
    found = chat(client, "Which company has the most campaigns?", constraints={"conditions": [email]})
    assert {"- Lumen Bank (2)", "- Orla Mobile (2)"} <= {*found["response"].splitlines()}
    assert "Calder Mutual" not in found["response"]


def test_where_nothing_fits_each_condition_is_told_with_what_it_costs(client: TestClient) -> None:
    radio = {"any_of": [{"field": "channel", "values": ["Radio"]}]}
    volta = {"any_of": [{"field": "company", "values": ["Volta Motors"]}]}
    found = chat(client, "How many campaigns?", constraints={"conditions": [radio, volta]})
    assert (found["total"], found["campaigns"]) == (0, [])
    assert "- without “on Radio”: 5 campaigns" in found["response"]
    assert "- without “by Volta Motors”: 5 campaigns" in found["response"]


def test_what_no_field_holds_gets_no_number_without_saying_so(client: TestClient) -> None:
    said = chat(client, "Which ad got the most views on YouTube?")["response"]
    assert said.startswith("This is not in the data as such.")


def test_a_theme_is_found_among_what_meets_the_conditions(client: TestClient) -> None:
    mail = {"any_of": [{"field": "channel", "values": ["Direct Mail"]}]}
    found = chat(client, "Show me campaigns", constraints={"conditions": [mail], "theme": "airport lounges"})
    assert found["constraints"]["theme"] == "airport lounges"
    assert {each["channel"] for each in found["campaigns"]} == {"Direct Mail"}
    assert "query" not in found["aggregation"]


def test_what_is_only_near_in_meaning_is_not_called_about_the_theme(client: TestClient) -> None:
    found = chat(client, "Show me campaigns", constraints={"theme": "pooches"})
    assert found["total"] == len(found["campaigns"]) > 0
    assert found["response"].startswith("No copy says “pooches”. What comes nearest in meaning:")


def test_a_follow_up_keeps_what_it_does_not_change(client: TestClient) -> None:
    found = follow(client, "How many playful campaigns are there?", "only those on TV")
    assert found["detectedFilters"] == {"sentiment": ["Playful"], "channel": ["TV"]}
    about = follow(client, "campaigns about electric cars", "only TV")
    assert about["constraints"]["theme"] == "electric cars"


def test_counts_are_not_cut_where_lists_are(server_url: str, sample_template: str) -> None:
    url = create_database(server_url, "campaigns_many", template=sample_template)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "insert into campaigns (id, company, channel, campaign_text, capture_date)"
            " select 'many-' || n, 'Firm ' || n, 'Kiosk', 'x', '2026-02-01' from generate_series(1, 300) n"
        )
    with client_of(url) as client:
        found = chat(client, "How many kiosk campaigns are there?")
        assert (found["total"], len(found["campaigns"])) == (300, 200)
        assert found["response"].startswith("300 campaigns")


def test_doubt_and_what_is_unknown_are_said_first() -> None:
    query = Query(source=NAME)
    refused = Said(
        Query.model_validate({"source": NAME, "group": ["channel"]}), Search("x", (), NOTHING), True, ["views"]
    )
    assert answer(refused, TODAY).startswith(
        "This is not in the data: “views”. What it holds of a campaign is company, brand,"
    )
    found = CampaignSet(3, ())
    doubted = Said(query, Search("x", (), found), unread=["ran"], is_doubted=True)
    assert answer(doubted, TODAY).startswith("This may not answer the question: “ran” was not read.\n\n3 campaigns")
    denied = Said(query, Search("x", (), found, words="Nike"), unread=["Nike"], vetoes=["Nike"])
    assert answer(denied, TODAY).startswith("This is not in the data as a value: “Nike”. By the words of the copy:")
    near = Said(query, Search("x", (), found, theme="cats"), is_refused=True)
    assert answer(near, TODAY).startswith("This is not in the data as such. What comes nearest:")
