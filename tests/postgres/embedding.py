"""What the tests of embedding share: a table, a model, and rows for both."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from quarry import catalog
from quarry.platform.errors import ModelUnavailable
from quarry.postgres.embed import HARMLESS_TEXT
from quarry.postgres.pool import Database
from tests.fakes.openai_server import embedding

MATTERS = catalog.EMBEDDED["matters"]
WINDOW_WORDS = 5


class Model:
    """An embedding model that reads five words at once, notes what it embeds and does not take the word "poison"."""

    name = "five-words"

    def __init__(self, dimensions: int = 384) -> None:
        self.dimensions = dimensions
        self.embedded: Counter[str] = Counter()
        self.calls = 0
        self.down = False

    def windows(self, text: str) -> list[str]:
        words = text.split()
        return [" ".join(words[start : start + WINDOW_WORDS]) for start in range(0, len(words), WINDOW_WORDS)]

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        await asyncio.sleep(0.001)
        self.calls += 1
        if self.down or any("poison" in text for text in texts):
            raise ModelUnavailable("The model does not take this.")
        self.embedded.update(text for text in texts if text != HARMLESS_TEXT)
        return [embedding(text, self.dimensions) for text in texts]

    async def close(self) -> None:
        pass


async def add_matters(database: Database, *titles: str) -> None:
    """Matters with the ids m00, m01 …"""
    ids = [f"m{number:02}" for number in range(len(titles))]
    await database.execute(
        "insert into matters (id, title) select * from unnest(%s::text[], %s::text[])", [ids, list(titles)]
    )


async def stored(database: Database) -> dict[str, int]:
    """How many vectors each matter has."""
    rows = await database.rows("select record_id, count(*) as vectors from matter_embeddings group by record_id")
    return {row["record_id"]: row["vectors"] for row in rows}
