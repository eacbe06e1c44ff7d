"""Embeddings from Amazon Bedrock: Titan Text Embeddings V2, and Cohere's Embed 3 and 4."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from quarry.models.answers import Wire
from quarry.models.bedrock_connection import Connection, translated
from quarry.models.served_embedding import WINDOW_BYTES, unit_vector, windows_of
from quarry.platform.errors import ConfigurationError, ModelUnavailable

COHERE_TEXTS = 96
"""Texts of one request; Titan takes one."""
COHERE_3_CHARACTERS = 2_048
"""Of one text. Titan and Embed 4 take more than a window has."""
TEXT_CHARACTERS_MAX = 50_000
REQUESTS_MAX = 8
"""Of one call, at the same time."""


class BedrockEmbedding:
    """An EmbeddingModel. Each request, its retries included, takes at most `timeout_seconds`.

    Raises ConfigurationError for a model whose requests are not known here.
    """

    def __init__(
        self,
        *,
        region: str | None,
        url: str | None,
        model: str,
        dimensions: int,
        max_retries: int,
        timeout_seconds: float,
    ) -> None:
        self._is_titan = "titan-embed-text-v2" in model
        if not self._is_titan and "cohere.embed-" not in model:
            raise ConfigurationError("BEDROCK_EMBEDDING_MODEL is neither Titan Text Embeddings V2 nor Cohere's Embed.")
        self._is_cohere_4 = "cohere.embed-v4" in model
        self._connection = Connection(region, url, max_retries, timeout_seconds)
        self.name = model
        self.dimensions = dimensions
        self._timeout_seconds = timeout_seconds

    def windows(self, text: str) -> list[str]:
        """`text` whole if the model reads it at once, else windows that share a tenth of their words with the next."""
        return windows_of(text, WINDOW_BYTES if self._is_titan or self._is_cohere_4 else COHERE_3_CHARACTERS)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector for each text, in order."""
        # neither model takes a text without a character
        given = [text[:TEXT_CHARACTERS_MAX] if text.strip() else "." for text in texts]
        size = 1 if self._is_titan else COHERE_TEXTS
        waiting = asyncio.Semaphore(REQUESTS_MAX)

        async def embed_batch(batch: list[str]) -> list[list[float]]:
            async with waiting:
                return await self._embed_batch(batch)

        batches = [given[first : first + size] for first in range(0, len(given), size)]
        done = [asyncio.ensure_future(embed_batch(batch)) for batch in batches]
        try:
            return [vector for vectors in await asyncio.gather(*done) for vector in vectors]
        finally:
            for each in done:
                each.cancel()

    async def close(self) -> None:
        await self._connection.close()

    async def _embed_batch(self, texts: list[str]) -> list[list[float]]:
        client, body = await self._connection.open(), json.dumps(self._body(texts)).encode()
        with translated():
            async with asyncio.timeout(self._timeout_seconds):
                content = await self._connection.in_thread(
                    lambda: client.invoke_model(modelId=self.name, body=body)["body"].read()
                )
            answer = _Answer.model_validate_json(content)
        vectors = answer.vectors
        if len(vectors) != len(texts):
            raise ModelUnavailable("The embedding model's server did not send one vector for each text.")
        return [unit_vector(vector, self.dimensions) for vector in vectors]

    def _body(self, texts: list[str]) -> dict[str, Any]:
        if self._is_titan:
            return {"inputText": texts[0], "dimensions": self.dimensions, "normalize": True}
        # one kind for rows and queries: who embeds does not say which it is, and of one kind they can be compared
        common = {"input_type": "search_document", "embedding_types": ["float"]}
        if self._is_cohere_4:
            return common | {"texts": texts, "output_dimension": self.dimensions, "truncate": "RIGHT"}
        return common | {"texts": [text[:COHERE_3_CHARACTERS] for text in texts], "truncate": "END"}


Vectors = list[list[float]]


class _ByType(Wire):
    float: Vectors


class _Answer(Wire):
    """Titan's answer has one vector, Cohere's those of all texts."""

    embedding: list[float] | None = None
    embeddings: _ByType | None = None

    @property
    def vectors(self) -> list[list[float]]:
        if self.embedding is not None:
            return [self.embedding]
        return self.embeddings.float if self.embeddings else []
