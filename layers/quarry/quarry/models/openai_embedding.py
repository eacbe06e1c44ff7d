"""Embeddings from OpenAI, or from any server that speaks its Embeddings."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from quarry.models.answers import Wire
from quarry.models.openai_connection import Connection, translated
from quarry.models.served_embedding import unit_vector, windows_of
from quarry.platform.errors import ModelUnavailable
from quarry.platform.secrets import Secret

# OpenAI takes 2,048 texts and 300,000 tokens a request. Characters of dense scripts can be a token each.
BATCH_TEXTS = 256
BATCH_CHARACTERS = 200_000
RESPONSE_BYTES_MAX = 64_000_000
"""Twice what 256 vectors of 4,000 numbers are as JSON."""


class OpenAIEmbedding:
    """An EmbeddingModel. Each request, its retries included, takes at most `timeout_seconds`.

    Raises ConfigurationError when the key or the base URL cannot be used, or there is neither of them.
    """

    def __init__(
        self,
        *,
        api_key: str | Secret | None,
        base_url: str | None,
        model: str,
        dimensions: int,
        max_retries: int,
        timeout_seconds: float,
    ) -> None:
        self._connection = Connection(api_key, base_url, max_retries, timeout_seconds, max_bytes=RESPONSE_BYTES_MAX)
        self.name = model
        self.dimensions = dimensions
        self._timeout_seconds = timeout_seconds

    def windows(self, text: str) -> list[str]:
        """`text` whole if it has at most 2,000 words, else windows of 2,000 words that start every 1,800.

        Text that is dense in tokens, such as tables or Chinese, gets smaller windows with the same share of overlap.
        """
        return windows_of(text)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector for each text, in order."""
        return [vector for batch in _batches(texts) for vector in await self._embed_batch(batch)]

    async def close(self) -> None:
        await self._connection.close()

    async def _embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        client = await self._connection.open()
        with translated():
            async with asyncio.timeout(self._timeout_seconds):
                response = await client.embeddings.with_raw_response.create(
                    model=self.name,
                    # OpenAI refuses empty inputs
                    input=[text if text.strip() else " " for text in texts],
                    dimensions=self.dimensions,
                    encoding_format="float",
                )
            embeddings = sorted(_Embeddings.model_validate_json(response.content).data, key=lambda each: each.index)
        if [each.index for each in embeddings] != list(range(len(texts))):
            raise ModelUnavailable("The embedding model's server did not send one vector for each text.")
        return [unit_vector(each.embedding, self.dimensions) for each in embeddings]


class _Embedding(Wire):
    index: int
    embedding: list[float]


class _Embeddings(Wire):
    data: list[_Embedding]


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """`texts` in order, as many together as one request takes; a text that is too long for any goes alone."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch
