"""Rows in other languages than English are found, counted and shown by the words of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from tests.collections.test_search import filled
from tests.conftest import client_of
from tests.records.asking import ask, of_type

ROWS = """
create schema shop;
create table shop.meldungen (
  id int primary key, betreff text not null, inhalt text, stand text not null, kosten numeric, am date
);
insert into shop.meldungen values
  (1, 'Die Heizung bleibt kalt', 'Seit dem Umbau sind alle Häuser am Hafen ohne Wärme.', 'offen', 1250.5, '2024-03-03'),
  (2, 'Wasser im Keller', 'Der Ablauf ist verstopft, die Kellertreppe steht unter Wasser.', 'erledigt', 80, '2024-03-12'),
  (3, 'Schlüssel verloren', 'Frau Müller braucht einen neuen Schlüssel für die Haustür.', 'offen', 45, '2024-05-20'),
  (4, 'Aufzug steht', 'Der Aufzug hält zwischen zwei Stockwerken.', 'offen', 3000, '2023-11-02'),
  (6, 'Garten am Hof', 'Der Garten ist verwildert.', 'erledigt', 10, '2022-01-05'),
  (7, 'Zaun am Garten', 'Der Garten ist offen.', 'erledigt', 10, '2022-01-06'),
  (5, 'Wartung im Herbst', 'Heizung und Aufzug werden geprüft.', 'erledigt', 500, '2023-10-05');
create table shop.contrats (id int primary key, objet text not null, clause text, etat text not null, montant numeric, du date);
insert into shop.contrats values
  (1, 'Bail de l''entrepôt', 'Le bail est résilié par lettre recommandée.', 'résilié', 5400, '2024-03-03'),
  (2, 'Entretien des chaudières', 'Le prestataire vérifie les chaudières chaque été.', 'signé', 1200, '2024-04-01'),
  (3, 'Assurance des véhicules', 'Les véhicules de la société sont assurés.', 'signé', 950, '2023-12-15');
create table shop.notes (id int primary key, lang text, said text not null);
insert into shop.notes values
  (1, 'de', 'Die Häuser am Hafen werden gestrichen.'),
  (2, 'en-GB', 'The houses at the harbour are being painted.'),
  (3, 'french', 'Les maisons du port sont repeintes.'),
  (4, 'xx', 'Kaupungin talot maalataan.'),
  (5, null, 'Die the.');
create table shop.memos (id int primary key, said text not null);
insert into shop.memos values (1, 'The boiler of the café needs cleaning.'), (2, 'Painters are hired for the summer.'),
  (3, 'The garden was lent.');
"""
DECLARED = """
[collections.meldungen]
source = "shop.meldungen"
title = "betreff"
text = { betreff = "A", inhalt = "B" }
date = "am"
language = "german"
[collections.meldungen.facets]
stand = "value"
kosten = { kind = "money", currency = "EUR" }

[collections.contrats]
source = "shop.contrats"
title = "objet"
text = { objet = "A", clause = "B" }
date = "du"
language = "french"
[collections.contrats.facets]
etat = { kind = "value", label = "état" }
montant = { kind = "money", currency = "EUR" }

[collections.notes]
source = "shop.notes"
text = "said"
language = { column = "lang" }

[collections.memos]
source = "shop.memos"
text = "said"
"""


@pytest.fixture(scope="module")
def shop(server_url: str, migrated_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with filled(server_url, migrated_template, tmp_path_factory.mktemp("shop"), DECLARED, ROWS) as url:
        yield url


@pytest.fixture(scope="module")
def client(shop: str) -> Iterator[TestClient]:
    with client_of(shop) as client:
        yield client


def search(client: TestClient, q: str, **parameters: Any) -> dict[str, Any]:
    response = client.get("/records/search", params={"q": q, **parameters})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def by_words(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["type"], each["id"]) for each in found["results"] if each["matched"].get("text_rank")]


@pytest.mark.parametrize(
    ("type", "query", "id"),
    [
        ("meldungen", "neue Schlussel", "3"),
        ("meldungen", '"zwei Stockwerke"', "4"),
        ("contrats", "résiliation resilie", "1"),
    ],
)
def test_a_query_is_read_by_the_configuration_of_the_collection(
    client: TestClient, type: str, query: str, id: str
) -> None:
    assert by_words(search(client, query, type=type))[:1] == [(type, id)]


def test_marks_are_on_the_words_as_they_are_written(client: TestClient) -> None:
    assert "<mark>Häuser</mark>" in search(client, "haus", type="meldungen")["results"][0]["snippet"]
    assert "<mark>chaudières</mark>" in search(client, "chaudiere", type="contrats")["results"][0]["snippet"]
    assert "<mark>café</mark>" in search(client, "cafe", type="memos")["results"][0]["snippet"]


def test_each_row_is_read_in_the_language_that_its_column_names(client: TestClient, shop: str) -> None:
    with psycopg.connect(shop) as connection:
        stored = connection.execute("select languages from quarry.collections where name = 'notes'").fetchone()
    assert stored == (["english", "french", "german", "simple"],)
    for query, id in {"Haus": "1", "house": "2", "maison": "3", "talot": "4"}.items():
        found = search(client, query, type="notes")
        assert by_words(found) == [("notes", id)]
    # a word that is none in German and English, but one where nothing is known of the language
    assert by_words(search(client, "the", type="notes")) in ([("notes", "5")], [])


def test_words_carry_the_search_where_the_local_model_reads_no_word(client: TestClient) -> None:
    found = search(client, "Aufzug zwischen Stockwerken", type="meldungen")
    assert by_words(found)[0] == ("meldungen", "4")
    assert not any(each["matched"].get("semantic_rank") for each in found["results"])
    # English is compared by meaning as ever
    assert search(client, "decorators working in July", type="memos")["results"][0]["id"] == "2"
    assert any(each["matched"].get("semantic_rank") for each in search(client, "decorators", type="notes")["results"])


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("Wie viele Meldungen sind offen?", 3),
        ("Combien de contrats en 2023 ?", 1),
    ],
)
def test_a_number_is_asked_for_in_the_language_of_the_rows(client: TestClient, question: str, number: int) -> None:
    events = ask(client, question)
    [told] = of_type(events, "aggregation")
    assert told["total"] == number, told
