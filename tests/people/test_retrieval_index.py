"""Retrieval of people where there are many: by index or compared all, what is found is the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from quarry.people.filters import CardFilters
from quarry.people.ranking import PersonEvidence
from quarry.people.retrieval import OVERFETCH_CARDS, find_candidates, find_excluded
from quarry.postgres.pool import Database
from tests.bulk import copy_rows, copy_vectors, indexes_built_afterwards
from tests.conftest import clone_database
from tests.people.cards import Connection
from tests.plans import Reads, reads
from tests.vectors import DIMENSIONS, vector_literal

CARDS = 3600
CARDS_PER_PERSON = 3
TOPICS = 60
FAR_CARDS = 1600
"""Enough for the index to be walked, and behind more others than it is walked past."""

NO_FILTERS = CardFilters()
AT_ONE_COMPANY = CardFilters(companies=("company 3",))
FAR_FROM_ALL = CardFilters(seniority_levels=("senior",))
NOT_THERE = CardFilters(excluded_companies=("company 3",))

Vectors = NDArray[np.float64]


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str) -> Iterator[str]:
    """A database with 1,200 people of three cards each, about 60 topics; every card has a child about the same."""
    with clone_database(server_url, migrated_template) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            _seed(connection)
        yield url


@pytest.fixture(scope="module")
def connection(url: str) -> Iterator[Connection]:
    """Comparing all is cheapest among so few rows; an index that serves is taken all the same."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("set enable_seqscan = off")
        yield connection


def _seed(connection: Connection) -> None:
    rows: dict[str, Sequence[Sequence[Any]]] = {
        "people (id)": [[person_of(number)] for number in range(0, CARDS, CARDS_PER_PERSON)],
        "experience_cards (id, person_id, title, intent_primary, company_name, seniority_level, summary)": [
            (f"c{n}", person_of(n), f"Card {n}", "work", company_of(n), seniority_of(n), f"About topic{n % TOPICS}")
            for n in range(CARDS)
        ],
        "experience_card_children (id, card_id, child_type, title)": [
            (f"k{n}", f"c{n}", "project", f"Child {n}") for n in range(CARDS)
        ],
    }
    with indexes_built_afterwards(connection, "experience_card_embeddings", "experience_card_child_embeddings"):
        for target, lines in rows.items():
            copy_rows(connection, target, lines)
        for table, kind, of_all in zip(("experience_card", "experience_card_child"), "ck", vectors(), strict=True):
            copy_vectors(
                connection, f"{table}_embeddings", [f"{kind}{n}" for n in range(CARDS)], of_all.astype(np.float32)
            )
    for table in ("experience_cards", "experience_card_children"):
        connection.execute(f"update {table} set embedded_hash = content_hash".encode())
    connection.execute("vacuum analyze")


def person_of(card: int) -> str:
    return f"p{card // CARDS_PER_PERSON:04}"


def company_of(card: int) -> str:
    return f"Company {card % 7}"


def seniority_of(card: int) -> str:
    return "senior" if card >= CARDS - FAR_CARDS else "entry"


@cache
def vectors() -> tuple[Vectors, Vectors]:
    """Unit vectors of the cards and of their children. Those of the senior cards point the other way."""
    random = np.random.default_rng(3)
    centres = random.normal(size=(TOPICS, DIMENSIONS))
    near = centres[np.arange(CARDS) % TOPICS]
    near[:, 0] = np.where(np.arange(CARDS) >= CARDS - FAR_CARDS, -30.0, 30.0)
    noisy = [near + random.normal(size=near.shape) for _ in range(2)]
    cards, children = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in noisy)
    return cards, children


def nearest(query: Vectors, fits: Sequence[int], count: int) -> list[str]:
    """The people of the nearest cards that fit, and of the nearest children, by comparing all."""
    found: set[str] = set()
    for each in vectors():
        order = sorted(fits, key=lambda card: -float(each[card] @ query))
        found |= set(list(dict.fromkeys(person_of(card) for card in order))[:count])
    return sorted(found)


async def find(url: str, query: Vectors, filters: CardFilters) -> dict[str, PersonEvidence]:
    database = Database(url, pool_size=1, timeout_seconds=30)
    people = await find_candidates(
        database,
        filters=filters,
        excluded=await find_excluded(database, filters),
        query_text="",
        vector=query.tolist(),
        tier=0,
    )
    await database.close()
    return {person.person_id: person for person in people}


@pytest.mark.parametrize(
    ("filters", "fits"),
    [
        (NO_FILTERS, range(CARDS)),
        (AT_ONE_COMPANY, range(3, CARDS, 7)),
        (FAR_FROM_ALL, range(CARDS - FAR_CARDS, CARDS)),
        (
            NOT_THERE,
            [n for n in range(CARDS) if not any(c % 7 == 3 for c in range(n - n % 3, n - n % 3 + CARDS_PER_PERSON))],
        ),
    ],
    ids=["no filter", "one company", "far from all", "not there"],
)
async def test_the_nearest_people_are_found(url: str, filters: CardFilters, fits: Sequence[int]) -> None:
    query = vectors()[0][17]
    found = await find(url, query, filters)
    wanted = nearest(query, fits, OVERFETCH_CARDS // 2)
    assert len(set(wanted) & set(found)) >= 0.98 * len(wanted)
    assert {int(hit.card_id[1:]) for person in found.values() for hit in person.hits} <= set(fits)
    card_vectors, child_vectors = vectors()
    for person in found.values():
        for hit in person.hits:
            card = int(hit.card_id[1:])
            distance = 1 - float((child_vectors if hit.child_id else card_vectors)[card] @ query)
            assert hit.similarity == pytest.approx(1 / (1 + distance), abs=2e-3)


def reads_of(connection: Connection, **filters: Any) -> Reads:
    """How the tables of cards are read to find people."""
    return reads(
        connection,
        "experience_card",
        """select * from find_people(%(v)s, 'about topic3', '{}', jsonb_populate_record(null::card_filters, %(f)s),
             jsonb_populate_record(null::card_filters, %(f)s), '{}', null, false, null, 50, 5)""",
        {"v": vector_literal(vectors()[0][17].tolist()), "f": Jsonb(filters)},
    )


HNSW = {"experience_card_embeddings_hnsw", "experience_card_child_embeddings_hnsw"}


def test_the_vectors_indexes_serve_unless_few_fit_who_are_taken_by_key(connection: Connection) -> None:
    every, few, far = (
        reads_of(connection, **filters)
        for filters in ({}, {"companies": ["company 3"]}, {"seniority_levels": ["senior"]})
    )
    assert every.indexes >= HNSW
    assert "experience_cards_company" in few.indexes
    assert not few.indexes & HNSW
    assert not every.whole | few.whole
    # where all that fits is far the index is tried and given up
    assert far.indexes & HNSW
    assert "experience_card_embeddings_pkey" in far.indexes


def test_an_index_serves_what_leaves_few(connection: Connection) -> None:
    served = {"teams": "team", "sub_domains": "sub_domain", "places": "places"}
    assert all(
        f"experience_cards_{index}" in reads_of(connection, **{field: ["x"]}).indexes for field, index in served.items()
    )
