"""The vector of a query, from a small cache or from the embedding model."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Sequence

from quarry.models.circuit_breaker import CircuitBreaker
from quarry.models.interface import EmbeddingModel
from quarry.platform.errors import ModelError, ModelTimedOut, ModelUnavailable
from quarry.platform.telemetry import Attributes, span
from quarry.postgres.embed import mismatch, recorded_model
from quarry.postgres.pool import Database
from quarry.runs.run_log import Run

CACHED_QUERIES_MAX = 1024
MODEL_CHECK_SECONDS = 60.0


class QueryEmbedder:
    """Embeds queries for one database, whose vectors must come from the same model.

    `breaker` is for a remote model, which is not called while it keeps failing, nor awaited when time is up. A local model needs
    neither: it always finishes, and its result is cached. Traces name the `provider`.
    """

    def __init__(
        self, model: EmbeddingModel, database: Database, breaker: CircuitBreaker | None = None, provider: str = "local"
    ) -> None:
        self.model = model
        self._database = database
        self._breaker = breaker
        self._provider = provider
        # by the schema too: whether another tenant asked the same cannot be told from the time
        self._cache: OrderedDict[tuple[str, str], list[float]] = OrderedDict()
        self._checked_at = float("-inf")
        self._holds_vectors = False

    def on(self, database: Database) -> QueryEmbedder:
        """The same model for another database. Their caches share one limit, and no vectors."""
        embedder = QueryEmbedder(self.model, database, self._breaker, self._provider)
        embedder._cache = self._cache
        return embedder

    async def embed(self, query: str, *, seconds: float = math.inf) -> list[float] | None:
        """The vector of `query`; None if the database has no vectors to compare it with.

        Raises ModelUnavailable when the model fails, takes more than `seconds`, or is not the one that filled the database,
        EmptyEmbedding when it finds nothing in the query.
        """
        vectors = await self.embed_all([query], seconds=seconds)
        return None if vectors is None else vectors[0]

    async def embed_for(self, run: Run, query: str) -> list[float] | None:
        """The vector of a run's query; None also where the model fails, which degrades the run."""
        with run.step("query_embedding") as record:
            try:
                return await self.embed(query, seconds=run.budget.seconds_left)
            except ModelError as error:
                run.degrade("query_embedding", record, error)
                return None

    async def embed_all(self, queries: Sequence[str], *, seconds: float = math.inf) -> list[list[float]] | None:
        """The vectors of several queries, in order, from one call of the model; else as `embed`."""
        await self._check_model()
        if not self._holds_vectors:
            return None
        cached, schema = self._cache, self._database.schema
        unknown = [query for query in dict.fromkeys(queries) if (schema, query) not in cached]
        fresh = dict(zip(unknown, await self._ask(unknown, seconds), strict=True)) if unknown else {}
        vectors = [fresh[query] if query in fresh else cached[schema, query] for query in queries]
        for query, vector in zip(queries, vectors, strict=True):
            cached[schema, query] = vector
            cached.move_to_end((schema, query))
        while len(self._cache) > CACHED_QUERIES_MAX:
            self._cache.popitem(last=False)
        return vectors

    async def _ask(self, texts: Sequence[str], seconds: float) -> list[list[float]]:
        attributes: Attributes = {
            "gen_ai.operation.name": "embeddings",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": self.model.name,
            "gen_ai.embeddings.dimension.count": self.model.dimensions,
        }
        with span(f"embeddings {self.model.name}", attributes, kind="client"):
            return await self._embedded(texts, seconds)

    async def _embedded(self, texts: Sequence[str], seconds: float) -> list[list[float]]:
        if self._breaker is None:
            return await self.model.embed(texts)
        with self._breaker.attempt():
            try:
                async with asyncio.timeout(None if seconds == math.inf else seconds):
                    return await self.model.embed(texts)
            except TimeoutError as error:
                raise ModelTimedOut("The embedding model took too long to answer.") from error

    async def _check_model(self) -> None:
        if time.monotonic() - self._checked_at < MODEL_CHECK_SECONDS:
            return
        recorded = await recorded_model(self._database)
        if problem := mismatch(recorded, self.model):
            raise ModelUnavailable(problem)
        # an empty database may be filled at any moment, so only a recorded model is remembered
        self._holds_vectors = recorded is not None
        if self._holds_vectors:
            self._checked_at = time.monotonic()
