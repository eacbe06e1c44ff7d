"""The vector of a query: from a small cache, from the embedding model, or plainly not at all."""

from __future__ import annotations

import time
from collections import OrderedDict

from quarry.core.errors import ModelUnavailable
from quarry.core.model.interface import EmbeddingModel
from quarry.core.postgres.embed import mismatch, recorded_model
from quarry.core.postgres.pool import Database

CACHED_QUERIES_MAX = 1024
MODEL_CHECK_SECONDS = 60.0


class QueryEmbedder:
    """Embeds queries for one database, whose vectors must come from the same model."""

    def __init__(self, model: EmbeddingModel, database: Database) -> None:
        self.model = model
        self._database = database
        self._cache: OrderedDict[str, list[float]] = OrderedDict()
        self._checked_at = float("-inf")
        self._holds_vectors = False

    async def embed(self, query: str) -> list[float] | None:
        """The vector of `query`; None where the database holds no vectors to compare it with.

        Raises ModelUnavailable when the model fails or is not the one that filled the database.
        """
        await self._check_model()
        if not self._holds_vectors:
            return None
        if query in self._cache:
            self._cache.move_to_end(query)
            return self._cache[query]
        [vector] = await self.model.embed([query])
        self._cache[query] = vector
        if len(self._cache) > CACHED_QUERIES_MAX:
            self._cache.popitem(last=False)
        return vector

    async def _check_model(self) -> None:
        if time.monotonic() - self._checked_at < MODEL_CHECK_SECONDS:
            return
        recorded = await recorded_model(self._database)
        if problem := mismatch(recorded, self.model):
            raise ModelUnavailable(problem)
        # an empty database may be filled at any moment: only what was found is remembered
        self._holds_vectors = recorded is not None
        if self._holds_vectors:
            self._checked_at = time.monotonic()
