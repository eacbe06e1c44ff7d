"""What is answered without a model: exact numbers in the words of the query, themes by meaning, and what is not in the data.

Which ways of asking are understood is measured by the pairs (`tests/pairs/sample-campaigns.jsonl`).
"""

from __future__ import annotations

from typing import Any

import psycopg
from starlette.testclient import TestClient

from tests.campaigns.chatting import chat
from tests.conftest import client_of, create_database

Row = dict[str, Any]


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
    sentence, read = found["response"].split("\n\n")
    assert (sentence, read) == ("28 campaigns (channel: Email).", "Read as: campaigns, on Email, counted.")
    assert found["aggregation"]["sentence"] == sentence
    assert found["confidence"]["level"] == "high"
    assert found["aggregation"]["query"]["where"] == [{"field": "channel", "value": "Email"}]
    [span] = found["understood"]["spans"]
    assert (span["pointer"], span["start"], span["end"]) == ("/where/0", 9, 14)
    assert (found["detectedFilters"], found["understood"]["about"]) == ({"channel": ["Email"]}, "")


def test_a_value_that_is_said_in_part_is_only_likely_meant(client: TestClient) -> None:
    found = chat(client, "How many campaigns promise travel?")
    assert found["detectedFilters"] == {"value_prop": ["Travel Benefits"]}
    assert found["confidence"]["level"] == "medium"


def test_where_nothing_fits_each_condition_is_told_with_what_it_costs(client: TestClient) -> None:
    where = [{"field": "channel", "value": "Radio"}, {"field": "company", "value": "Volta Motors"}]
    found = chat(client, "How many campaigns?", understood={"query": {"source": "campaigns", "where": where}})
    assert (found["total"], found["campaigns"]) == (0, [])
    assert "- without “on Radio”: 5 campaigns" in found["response"]
    assert "- without “by Volta Motors”: 5 campaigns" in found["response"]


def test_what_no_field_holds_gets_no_number_without_saying_so(client: TestClient) -> None:
    said = chat(client, "Which ad got the most views on YouTube?")["response"]
    assert said.startswith("This is not in the data as such.")


def test_a_follow_up_keeps_what_it_does_not_change(client: TestClient) -> None:
    found = follow(client, "How many playful campaigns are there?", "only those on TV")
    assert found["detectedFilters"] == {"sentiment": ["Playful"], "channel": ["TV"]}
    about = follow(client, "campaigns about electric cars", "only TV")
    assert about["understood"]["about"] == "electric cars"


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
