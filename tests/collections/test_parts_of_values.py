"""A word that is part of a value of one collection's rows is a word like any other in what is asked of another's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.collections.test_search import served
from tests.conftest import clone_database
from tests.records.asking import ask, of_type, the

UNREAD = pytest.mark.xfail(reason="the learned reader does not read this yet")
TABLES = """
create table guides (id int primary key, heading text not null, topic text not null);
insert into guides values (1, 'Cleaning the drum', 'Toner care'), (2, 'Which paper fits', 'Paper and trays');
create table calls (id int primary key, subject text not null, topic text, state text not null);
insert into calls values (1, 'The toner leaks', 'Leaks', 'open'), (2, 'No toner left', 'Supplies', 'open'),
  (3, 'Out of toner again', 'Supplies', 'closed'), (4, 'The lid is broken', 'Damage', 'open');
create table visits (id int primary key, note text not null, state text not null);
insert into visits values (1, 'Filled up the toner', 'open'), (2, 'Changed the lid', 'closed');
"""
DECLARED = """
[collections.guides]
source = "guides"
title = "heading"
text = ["heading"]
facets.topic = "value"
[collections.calls]
source = "calls"
title = "subject"
text = ["subject"]
facets.topic = "value"
facets.state = "value"
[collections.visits]
source = "visits"
title = "note"
text = ["note"]
facets.state = "value"
"""


@pytest.fixture(scope="module")
def client(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("parts")
    with clone_database(server_url, migrated_template) as url, served(url, TABLES, DECLARED, folder) as client:
        yield client


@pytest.mark.parametrize(
    ("question", "total"),
    [
        pytest.param("How many calls mention toner?", 3, marks=UNREAD),
        pytest.param("How many toner calls are there?", 3, marks=UNREAD),
        pytest.param("How many open calls about toner?", 2, marks=UNREAD),
        ("How many visits mention toner?", 1),
        ("How many guides are on the topic toner?", 1),
        pytest.param("How many calls have the topic Toner care?", 0, marks=UNREAD),
    ],
)
def test_it_is_counted_where_it_is_said(client: TestClient, question: str, total: int) -> None:
    assert the(ask(client, question), "aggregation")["total"] == total


def test_no_number_is_told_where_it_is_said_to_be_a_value(client: TestClient) -> None:
    events = ask(client, "How many calls have the topic toner?")
    assert not of_type(events, "aggregation")


@pytest.mark.parametrize("question", ["calls with topic toner", "open calls with topic toner"])
def test_it_is_looked_for_as_a_word(client: TestClient, question: str) -> None:
    found = client.get("/records/search", params={"q": question}).json()["results"]
    assert found
    assert "toner" in found[0]["title"]
    assert {each["type"] for each in found[:1]} == {"calls"}
