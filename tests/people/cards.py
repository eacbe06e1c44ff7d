"""People and cards put straight into a database, with vectors at angles that a test chooses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier, Placeholder

from quarry.people.filters import CardFilters, relaxed
from quarry.people.ranking import PersonEvidence
from quarry.people.retrieval import find_candidates, find_excluded
from quarry.postgres.pool import Database
from tests.vectors import direction, vector_literal

Connection = psycopg.Connection[Any]

NO_FILTERS = CardFilters()


def similarity_at(degrees: float) -> float:
    """The similarity of two vectors at this angle."""
    return 1 / (2 - math.cos(math.radians(degrees)))


async def find(
    database: Database, filters: CardFilters = NO_FILTERS, *, query: str = "", tier: int = 0, degrees: float | None = 0
) -> dict[str, PersonEvidence]:
    """What is found near a direction, or by words alone, by person."""
    people = await find_candidates(
        database,
        filters=relaxed(filters, tier),
        all_filters=filters,
        excluded=await find_excluded(database, filters),
        query_text=query,
        vector=None if degrees is None else direction(degrees),
        tier=tier,
    )
    return {person.person_id: person for person in people}


def add_person(connection: Connection, id: str, **fields: Any) -> None:
    _insert(connection, "people", {"id": id, "name": id.title()} | fields)


def add_card(
    connection: Connection, id: str, person: str | None = None, *, degrees: float | Sequence[float] = 0, **fields: Any
) -> None:
    """A card with a vector for each of `degrees`. Without a person: of one of its own, who has its name."""
    if person is None:
        add_person(connection, id)
    _insert(
        connection,
        "experience_cards",
        {"id": id, "person_id": person or id, "title": "Card", "intent_primary": "work"} | fields,
    )
    _embed(connection, "experience_card_embeddings", id, degrees)


def add_child(
    connection: Connection, id: str, card: str, *, degrees: float | Sequence[float] = 0, **fields: Any
) -> None:
    """A child of a card, with a vector for each of `degrees`."""
    row = {"id": id, "card_id": card, "child_type": "project", "title": "Child"} | fields
    _insert(connection, "experience_card_children", row)
    _embed(connection, "experience_card_child_embeddings", id, degrees)


def _insert(connection: Connection, table: str, row: Mapping[str, Any]) -> None:
    connection.execute(
        SQL("insert into {} ({}) values ({})").format(
            Identifier(table), SQL(", ").join(map(Identifier, row)), SQL(", ").join(map(Placeholder, row))
        ),
        row,
    )


def _embed(connection: Connection, table: str, id: str, degrees: float | Sequence[float]) -> None:
    for window, angle in enumerate(degrees if isinstance(degrees, Sequence) else [degrees]):
        connection.execute(
            SQL("insert into {} (record_id, window_number, embedding) values (%s, %s, %s)").format(Identifier(table)),
            [id, window, vector_literal(direction(angle))],
        )
