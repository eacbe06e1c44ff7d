"""A small world of people for tests that need to know everyone in it.

Twenty-four engineers, PERSON_IDS in the order of their names, all open to work; and with them four who are different: one open to
neither work nor contact, one without a name, one with a hidden card beside a visible one, one with nothing but a hidden card.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from quarry.models.local_embedding import LocalEmbedding
from quarry.people import tables
from quarry.postgres.embed import embed_pending, make_ready
from quarry.postgres.load import load_file
from quarry.postgres.pool import Database

Row = dict[str, Any]

ENGINEERS = 24
PERSON_IDS = [f"p{number:02}" for number in range(ENGINEERS)]
CLOSED, NAMELESS, HALF_HIDDEN, HIDDEN = "p-closed", "p-nameless", "p-half-hidden", "p-hidden"

COMPANIES = ("Kestrel Labs", "Harbour Foods", "Harbour Foods", "Lumen Grid")
CITIES = ("Pune", "Bengaluru", "Bengaluru")
WORK = ("payments in Python", "warehouse robots in C++", "a search engine in Rust", "billing in Java")

HIDDEN_WORDS = "submarine telescope"
"""What only hidden cards say."""


def people() -> list[Row]:
    engineers = [
        _person(id, f"Engineer {id[1:]}", open_to_work=True, work_preferred_salary_min=1_000_000 + 100_000 * number)
        for number, id in enumerate(PERSON_IDS)
    ]
    return [
        *engineers,
        _person(CLOSED, "Closed Person", open_to_work=False),
        _person(NAMELESS, None, open_to_work=False) | {"open_to_contact": True},
        _person(HALF_HIDDEN, "Half Hidden", open_to_work=True),
        _person(HIDDEN, "All Hidden", open_to_work=True),
    ]


def cards() -> list[Row]:
    engineers = [
        _card(
            id,
            company_name=COMPANIES[number % 4],
            city=CITIES[number % 3],
            summary=f"Builds {WORK[number % 4]}, with {number + 2} others.",
            start_date=f"{2012 + number % 10}-01-01",
        )
        for number, id in enumerate(PERSON_IDS)
    ]
    hidden: Row = {"visible": False, "title": f"{HIDDEN_WORDS} engineer", "summary": f"Built a {HIDDEN_WORDS}."}
    return [
        *engineers,
        _card(CLOSED, summary="Builds payments in Python, alone."),
        _card(NAMELESS, summary="Builds payments in Python for banks."),
        _card(HALF_HIDDEN, summary="Builds billing in Java for shops."),
        _card(HALF_HIDDEN, "c2", **hidden),
        _card(HIDDEN, **hidden),
    ]


def children() -> list[Row]:
    return [
        {
            "id": f"{card['id']}-k1",
            "card_id": card["id"],
            "child_type": "project",
            "title": f"{HIDDEN_WORDS} project" if card.get("visible") is False else "Load tests",
            "summary": f"Kept {card['summary'].lower()}",
            "tags": ["python"],
        }
        for card in cards()
    ]


def contact_of(person_id: str) -> Row:
    return {
        "email": f"{person_id}@example.com",
        "phone": "+91 99999 00001",
        "links": [f"https://example.com/{person_id}"],
    }


def fill(url: str) -> None:
    """Load and embed this world into the empty database at `url`."""
    load(url)
    asyncio.run(_embed(url))


def load(url: str) -> None:
    """Load this world into the empty database at `url`, without vectors."""
    with tempfile.TemporaryDirectory() as directory:
        for table, rows in zip(tables.LOADABLE, (people(), cards(), children()), strict=True):
            load_file(url, table, write_rows(Path(directory) / f"{table.name}.jsonl", rows))


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


async def _embed(url: str) -> None:
    database, model = Database(url, pool_size=1, timeout_seconds=60), LocalEmbedding()
    await make_ready(database, model)
    for table in tables.EMBEDDED:
        await embed_pending(database, model, table)
    await model.close()
    await database.close()


def _person(id: str, name: str | None, **fields: Any) -> Row:
    return (
        {"id": id, "name": name, "headline": "Builds things", "city": "Pune", "country": "India"}
        | contact_of(id)
        | fields
    )


def _card(person_id: str, number: str = "c1", **fields: Any) -> Row:
    return {
        "id": f"{person_id}-{number}",
        "person_id": person_id,
        "title": "Backend engineer",
        "company_name": "Lumen Grid",
        "intent_primary": "work",
        "domain": "software engineering",
        "employment_type": "full_time",
        "city": "Pune",
        "country": "India",
        "location": f"{fields.get('city', 'Pune')}, India",
        "start_date": "2015-01-01",
        "is_current": True,
        "skills": ["Python"],
    } | fields
