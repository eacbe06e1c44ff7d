"""The vector of a query: from a small cache, from the embedding model, or plainly not at all."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence

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

        Raises ModelUnavailable when the model fails or is not the one that filled the database, EmptyEmbedding when it finds
        nothing in the query.
        """
        vectors = await self.embed_all([query])
        return None if vectors is None else vectors[0]

    async def embed_all(self, queries: Sequence[str]) -> list[list[float]] | None:
        """The vectors of several queries, in order, from one call of the model; else as `embed`."""
        await self._check_model()
        if not self._holds_vectors:
            return None
        unknown = [query for query in dict.fromkeys(queries) if query not in self._cache]
        fresh = dict(zip(unknown, await self.model.embed(unknown), strict=True)) if unknown else {}
        vectors = [fresh[query] if query in fresh else self._cache[query] for query in queries]
        for query, vector in zip(queries, vectors, strict=True):
            self._cache[query] = vector
            self._cache.move_to_end(query)
        while len(self._cache) > CACHED_QUERIES_MAX:
            self._cache.popitem(last=False)
        return vectors

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
