"""Embeddings from OpenAI, or from any server that speaks its Embeddings."""

from __future__ import annotations

import asyncio
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from quarry.core.errors import EmptyEmbedding, ModelUnavailable
from quarry.core.model.openai_connection import Connection, Wire, translated
from quarry.core.secrets import Secret

# OpenAI takes 2,048 texts and 300,000 tokens a request. Characters of dense scripts can be a token each.
BATCH_TEXTS = 256
BATCH_CHARACTERS = 200_000
RESPONSE_BYTES_MAX = 64_000_000
"""Twice what 256 vectors of 4,000 numbers are as JSON."""

# OpenAI's embedding models read 8,191 tokens. 2,000 English words are some 3,000 tokens, but 13,000 bytes of figures,
# Korean or Chinese can be 8,000.
WINDOW_WORDS = 2_000
WINDOW_STRIDE = 0.9
WINDOW_BYTES = 13_000
WORD_CHARACTERS = 200

_WORD = re.compile(rf"\S{{1,{WORD_CHARACTERS}}}")


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
        self._model = model
        self._dimensions = dimensions
        self._timeout_seconds = timeout_seconds

    @property
    def name(self) -> str:
        return self._model

    @property
    def dimensions(self) -> int:
        return self._dimensions

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
                    model=self._model,
                    # OpenAI refuses empty inputs
                    input=[text if text.strip() else " " for text in texts],
                    dimensions=self._dimensions,
                    encoding_format="float",
                )
            embeddings = sorted(_Embeddings.model_validate_json(response.content).data, key=lambda each: each.index)
        if [each.index for each in embeddings] != list(range(len(texts))):
            raise ModelUnavailable("The embedding model's server did not send one vector for each text.")
        return [unit_vector(each.embedding, self._dimensions) for each in embeddings]


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


def unit_vector(vector: list[float], dimensions: int) -> list[float]:
    """A vector that a server sent, scaled to length 1. Raises EmptyEmbedding, and ModelUnavailable where it is of no use."""
    if not vector:
        raise EmptyEmbedding
    if len(vector) != dimensions:
        raise ModelUnavailable(
            f"The embedding model's server ignored dimensions={dimensions}: its vectors have {len(vector)}. "
            f"Set EMBEDDING_DIMENSIONS={len(vector)}, or choose a model that can shorten its vectors."
        )
    length = math.hypot(*vector)
    if not 0 < length < math.inf:
        raise ModelUnavailable("The embedding model's server sent a vector that has no direction.")
    return [component / length for component in vector]


def windows_of(text: str, max_bytes: int = WINDOW_BYTES) -> list[str]:
    """`text` whole if a model reads it at once, else windows that share a tenth of their words with the next."""
    words = list(_WORD.finditer(text))
    sizes = accumulate((len(word.group().encode(errors="replace")) + 1 for word in words), initial=0)
    spans = _window_spans(list(sizes), max_bytes)
    if len(spans) == 1:
        return [text]
    return [text[words[first].start() : words[last - 1].end()] for first, last in spans]


def _window_spans(sizes: Sequence[int], max_bytes: int) -> list[tuple[int, int]]:
    """The windows over a text's words, as [first, last) word numbers. `sizes[n]` is the bytes of the first n words."""
    spans: list[tuple[int, int]] = []
    first = 0
    while not spans or spans[-1][1] < len(sizes) - 1:
        last = min(first + WINDOW_WORDS, bisect_right(sizes, sizes[first] + max_bytes) - 1)
        spans.append((first, last))
        first += max(1, int((last - first) * WINDOW_STRIDE))
    return spans
