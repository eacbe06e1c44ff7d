"""Companies made up for tests of the SQL: a few of a test's own, or three thousand about fifty topics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.sql import SQL, Identifier

from tests.vectors import DIMENSIONS, direction, vector_literal

Connection = psycopg.Connection[Any]

COMPANIES = 3000
TOPICS = 50
STATUSES_IN_TURN = ("startup",) * 7 + ("acquired", "public", "closed")
"""The status of each tenth company."""


def add_company(connection: Connection, id: str, *, degrees: Sequence[float] = (), **columns: Any) -> None:
    """A company with these columns, and a vector for each of `degrees`."""
    row = {"id": id, "company_name": f"Name of {id}"} | columns
    connection.execute(
        SQL("insert into companies ({}) values ({})").format(
            SQL(", ").join(map(Identifier, row)), SQL(", ").join(SQL("%s") for _ in row)
        ),
        list(row.values()),
    )
    for window, angle in enumerate(degrees):
        connection.execute(
            "insert into company_embeddings values (%s, 'searchable_profile', %s, %s)",
            [id, window, vector_literal(direction(angle))],
        )


def seed(connection: Connection) -> None:
    """Fill the tables with the seeded companies: every third has two windows, the second about another topic."""
    connection.execute("drop index company_embeddings_searchable_profile_hnsw")
    with connection.cursor() as cursor:
        with cursor.copy(
            "copy companies (id, company_name, status, tagline, description, differentiator, niches, sectors) from stdin"
        ) as copy:
            for number in range(COMPANIES):
                copy.write_row(seeded_row(number))
        with cursor.copy("copy company_embeddings from stdin") as copy:
            for number, window, vector in seeded_windows():
                copy.write_row((seeded_id(number), "searchable_profile", window, vector_literal(vector.tolist())))
    connection.execute(
        "create index company_embeddings_searchable_profile_hnsw on company_embeddings"
        " using hnsw (embedding halfvec_cosine_ops) where embedding_type = 'searchable_profile'"
    )
    connection.execute("vacuum analyze companies, company_embeddings")
    connection.execute("select count_lexemes('companies')")


def seeded_id(number: int) -> str:
    return f"c{number:04}"


def seeded_status(number: int) -> str:
    return STATUSES_IN_TURN[number % len(STATUSES_IN_TURN)]


def seeded_row(number: int) -> tuple[object, ...]:
    topic = number % TOPICS
    return (
        seeded_id(number),
        f"Firm{number} of word{number % 97}",
        seeded_status(number),
        f"makes topic{topic} better",
        f"builds tool{number} for topic{topic} in market{number % 7} with part{number % 53} and word{number % 97}",
        f"unlike word{number % 31} it is part{number % 89} of market{number % 11}",
        [f"niche{number % 37}", f"topic{topic} for part{number % 13}"],
        [f"sector{number % 15}"],
    )


@cache
def seeded_windows() -> list[tuple[int, int, NDArray[np.float64]]]:
    """Number of the company, number of the window, unit vector."""
    random = np.random.default_rng(11)
    centres = random.normal(size=(TOPICS, DIMENSIONS)) + 0.85 * random.normal(size=DIMENSIONS)
    places = [(number, 0, number % TOPICS) for number in range(COMPANIES)]
    places += [(number, 1, (number * 7) % TOPICS) for number in range(0, COMPANIES, 3)]
    vectors = centres[[topic for _, _, topic in places]] + random.normal(size=(len(places), DIMENSIONS))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return [(number, window, vector) for (number, window, _), vector in zip(places, unit, strict=True)]


def seeded_vector(number: int) -> str:
    """A query near the topic of this company, as pgvector reads it."""
    random = np.random.default_rng(number)
    vector = seeded_windows()[number][2] + 0.02 * random.normal(size=DIMENSIONS)
    return vector_literal(vector.tolist())
