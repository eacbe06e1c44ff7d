"""A word that may state a condition and was not read takes the certainty away, and is named."""

from __future__ import annotations

import json
from collections.abc import Iterator

import psycopg
import pytest
from starlette.testclient import TestClient

from quarry.collections.apply import read_collections
from quarry.collections.catalog_reading import relations_of_schema
from quarry.collections.upkeep import take_renamed
from quarry.postgres.pool import Database
from quarry_map.drafting import draft
from tests.collections.support import owner
from tests.collections.test_search import fill
from tests.conftest import client_of, clone_database
from tests.records.asking import ask, of_type

TABLES = """
create schema garage;
create type garage.state as enum ('new', 'agreed', 'lost');
create table garage.customers (id int primary key, name text not null, region text, joined_on date, active char(1));
create table garage.offers (id int primary key, title text not null, state garage.state, amount numeric(10, 2));
create table garage.calls (id int primary key, subject text not null, notes text, customer_id int references garage.customers,
    started_at timestamptz not null, minutes int);
create table garage.repairs (id int primary key, label text not null, customer_id int references garage.customers,
    status text, total numeric(10, 2), begun_on date, deleted_at timestamptz);
create table garage.payments (id int primary key, repair_id int references garage.repairs, amount numeric(8, 2), paid_on date);
create table garage.tyres (id int primary key, label text not null, city text, price numeric(8, 2));
create table garage.readings (id int primary key, sensor text not null, taken_on date not null, bar numeric(5, 2));
create table garage.dogs (id int primary key, name text not null, born date, weight numeric(5, 2));
create table garage.staff (id int primary key, name text not null, hired_on date, hourly_wage numeric(6, 2));
create table garage.parcels (id int primary key, label text not null, depot text, votes int);
insert into garage.parcels select g, 'Parcel ' || g, case g % 5 when 0 then 'York' when 1 then 'Hull' end, g % 17
    from generate_series(1, 51) g;
insert into garage.dogs select g, 'Dog ' || g, date '2016-01-01' + g * 90, 20 + g from generate_series(1, 20) g;
insert into garage.staff select g, 'Hand ' || g, date '2018-06-01' + g * 40, 15 + g from generate_series(1, 25) g;
insert into garage.customers select g,
    (array['Ada', 'Bo', 'Cai', 'Dee'])[1 + g % 4] || ' ' || (array['Moss', 'Reed', 'Vale'])[1 + g % 3],
    (array['Wales', 'Kent'])[1 + g % 2], date '2012-01-01' + g * 50, case when g % 3 = 0 then 'N' else 'Y' end
    from generate_series(1, 24) g;
insert into garage.offers select g, 'Offer ' || g, (enum_range(null::garage.state))[1 + g % 3], g * 10
    from generate_series(1, 30) g;
insert into garage.calls select g, 'About the ' || (array['brakes', 'lights', 'horn'])[1 + g % 3] || ' ' || g,
    'The caller asked about the ' || (array['brakes', 'lights', 'horn'])[1 + g % 3], 1 + g % 24,
    timestamptz '2026-02-01' + g * interval '7 hours', 3 + g % 9 from generate_series(1, 40) g;
insert into garage.repairs select g, 'Repair ' || g, 1 + g % 20, (array['open', 'done', 'cancelled'])[1 + g % 3], 40 + g,
    date '2025-06-01' + g * 5, case when g % 10 = 0 then timestamptz '2026-01-01' end from generate_series(1, 60) g;
insert into garage.payments select g, 1 + g % 25, 20 + g % 5, date '2025-07-01' + g * 3 from generate_series(1, 40) g;
insert into garage.tyres select g, 'Tyre ' || g, (array['York', 'Hull'])[1 + g % 2], 50 + g % 4 from generate_series(1, 30) g;
insert into garage.readings select g, 'gauge ' || g % 3, date '2025-12-20' + g, 2 + g * 0.1 from generate_series(0, 39) g;
"""
RENAMED = "alter type garage.state rename value 'agreed' to 'signed'"

DOUBTED = {
    "How many offers are rejected?": "rejected",
    "How many offers are running?": "running",
    "How many pending offers are there?": "pending",
    "How many calls were answered?": "answered",
    "How many calls were missed?": "missed",
    "How many repairs were postponed?": "postponed",
    "How many repairs were deleted?": "deleted",
    "How many customers left in 2014?": "left",
    "How many customers renewed in 2014?": "renewed",
    "How many tyres are mounted?": "mounted",
    "What is the total price of tyres in 2026?": "2026",
    "What is the average price of winter tyres?": "winter",
    "What is the average weight of dogs in 2017?": "2017",
    "What is the average weight of dogs in 2024?": "2024",
    "What was the average hourly wage in 2019?": "2019",
    "What was the average hourly wage of staff in 2019?": "2019",
    "How many staff were there in March 2019?": "March 2019",
    "What is the longest parcel?": "longest",
    "Show me the shortest parcel": "shortest",
}
SURE = {
    "How many offers are lost?": 10,
    "How many calls are there altogether?": 40,
    "How many customers joined in 2014?": 7,
    "How many repairs are open?": 18,
    "How many customers are from Kent?": 12,
    "How many customers are active?": 16,
    "What is the average bar of readings in 2026?": "4.55",
    "What is the total price of tyres?": "1,545",
    "How many calls were there in February 2026?": 40,
    "How many staff were hired in 2019?": 9,
    "How many dogs were born in 2017?": 4,
}


@pytest.fixture(scope="module")
def garage(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with clone_database(server_url, migrated_template) as url:
        owner(url, TABLES, "analyze")
        with psycopg.connect(url) as connection:
            made = draft("garage", relations_of_schema(connection, "garage"))
        fill(url, made.text, tmp_path_factory.mktemp("garage"))
        owner(url, RENAMED)
        yield url


@pytest.fixture(scope="module")
def client(garage: str) -> Iterator[TestClient]:
    with client_of(garage) as client:
        yield client


def answered(client: TestClient, question: str) -> tuple[str, str]:
    """The level of an answer, "none" of passages, and its text."""
    events = ask(client, question)
    level = next((each["level"] for each in of_type(events, "confidence")), "none")
    return level, "".join(each["chunk"] for each in of_type(events, "final_answer_chunk"))


@pytest.mark.parametrize(("question", "word"), DOUBTED.items())
def test_an_unread_word_that_may_state_a_condition_is_named_and_the_answer_is_not_sure(
    client: TestClient, question: str, word: str
) -> None:
    level, text = answered(client, question)
    assert level in ("low", "none")
    assert word in text or (level == "none" and text.startswith("No record"))  # that claims nothing


@pytest.mark.parametrize(("question", "number"), SURE.items())
def test_what_was_read_whole_stays_sure(client: TestClient, question: str, number: int | str) -> None:
    level, text = answered(client, question)
    assert level == "high"
    assert str(number) in text


@pytest.mark.parametrize(
    "question",
    [
        "How many customers from Kent have a cancelled repair?",  # repairs would be counted
        "How many repairs have more than one payment?",  # no total above 1
    ],
)
def test_what_is_counted_surely_is_what_is_asked_for(client: TestClient, question: str) -> None:
    events = ask(client, question)
    counted = [each["query"]["source"] for each in of_type(events, "aggregation")]
    sure = any(each["level"] == "high" for each in of_type(events, "confidence"))
    assert not sure or counted == [question.split()[2]]
    assert "total: more than 1" not in json.dumps(events)
    assert all("total" not in json.dumps(each["query"].get("where", [])) for each in of_type(events, "aggregation"))


def test_rows_without_a_value_do_not_have_the_most(client: TestClient) -> None:
    level, text = answered(client, "Which depot has the most parcels?")
    assert (level, "Hull (11)" in text, "without depot: 30" in text, "none" in text) == ("medium", True, True, False), (
        text
    )
    _, text = answered(client, "How many parcels are there per depot?")
    assert "none (30)" in text


async def test_a_renamed_value_is_known_by_its_new_name(garage: str, client: TestClient) -> None:
    database = Database(garage, pool_size=1, timeout_seconds=60)
    collections = (await read_collections(database)).values()
    assert await take_renamed(database, collections) == ["offers"]
    assert await take_renamed(database, collections) == []
    await database.close()
    level, text = answered(client, "How many offers are signed?")
    assert (level, "10 offers" in text) == ("high", True), text
