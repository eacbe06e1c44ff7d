"""Remote embeddings: from OpenAI or any server with its Embeddings API, and from Amazon Bedrock, which has Titan Text Embeddings
V2 and Cohere's Embed 3 and 4. They share how texts are split and how vectors are checked.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic

from quarry.models.answers import C, Wire
from quarry.models.connections import BedrockConnection, OpenAIConnection, bedrock_errors, openai_errors
from quarry.platform.errors import ConfigurationError, EmptyEmbedding, ModelUnavailable

# OpenAI's embedding models read 8,191 tokens. 2,000 English words are some 3,000 tokens, but 13,000 bytes of figures,
# Korean or Chinese can be 8,000.
WINDOW_WORDS = 2_000
WINDOW_STRIDE = 0.9
WINDOW_BYTES = 13_000
WORD_CHARACTERS = 200

_WORD = re.compile(rf"\S{{1,{WORD_CHARACTERS}}}")

# OpenAI takes 2,048 texts and 300,000 tokens a request. Characters of dense scripts can be a token each.
BATCH_TEXTS = 256
BATCH_CHARACTERS = 200_000
VECTORS_BYTES_MAX = 64_000_000
"""Twice the size of 256 vectors of 4,000 numbers as JSON."""

COHERE_TEXTS = 96
"""Texts in one request; Titan takes one."""
COHERE_3_CHARACTERS = 2_048
"""Characters of one text. Titan and Embed 4 take more than a window has."""
TEXT_CHARACTERS_MAX = 50_000
REQUESTS_MAX = 8
"""Concurrent requests of one call."""

Vectors = list[list[float]]


class ServedEmbedding(ABC, Generic[C]):
    """A remote EmbeddingModel. No request exceeds the time limit of the `connection`, which closes with the model."""

    window_bytes = WINDOW_BYTES
    """The most bytes that the model reads at once."""

    def __init__(self, connection: C, model: str, dimensions: int) -> None:
        self.name = model
        self.dimensions = dimensions
        self._connection = connection
        self._timeout_seconds = connection.timeout_seconds

    def windows(self, text: str) -> list[str]:
        """`text` whole if the model reads it at once, else windows that share a tenth of their words with the next."""
        return windows_of(text, self.window_bytes)

    async def close(self) -> None:
        await self._connection.close()

    async def _embed_batch(self, texts: Sequence[str]) -> Vectors:
        """One unit vector for each text of a request, in order."""
        vectors = await self._vectors(texts)
        if len(vectors) != len(texts):
            raise ModelUnavailable("The embedding model's server did not send one vector for each text.")
        return [unit_vector(vector, self.dimensions) for vector in vectors]

    @abstractmethod
    async def _vectors(self, texts: Sequence[str]) -> Vectors:
        """The vectors of one request, unchecked."""


class OpenAIEmbedding(ServedEmbedding[OpenAIConnection]):
    """From OpenAI."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector for each text, in order."""
        return [vector for batch in _batches(texts) for vector in await self._embed_batch(batch)]

    async def _vectors(self, texts: Sequence[str]) -> Vectors:
        client = await self._connection.open()
        with openai_errors():
            async with asyncio.timeout(self._timeout_seconds):
                response = await client.embeddings.with_raw_response.create(
                    model=self.name,
                    # OpenAI refuses empty inputs
                    input=[text if text.strip() else " " for text in texts],
                    dimensions=self.dimensions,
                    encoding_format="float",
                )
            by_index = {each.index: each.embedding for each in _Embeddings.model_validate_json(response.content).data}
        return [by_index[place] for place in range(len(texts))] if {*by_index} == {*range(len(texts))} else []


class BedrockEmbedding(ServedEmbedding[BedrockConnection]):
    """From Bedrock. Raises ConfigurationError for a model whose requests are not known here."""

    def __init__(self, connection: BedrockConnection, model: str, dimensions: int) -> None:
        super().__init__(connection, model, dimensions)
        self._is_titan = "titan-embed-text-v2" in model
        if not self._is_titan and "cohere.embed-" not in model:
            raise ConfigurationError("BEDROCK_EMBEDDING_MODEL is neither Titan Text Embeddings V2 nor Cohere's Embed.")
        self._is_cohere_4 = "cohere.embed-v4" in model
        if not self._is_titan and not self._is_cohere_4:
            self.window_bytes = COHERE_3_CHARACTERS

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector for each text, in order."""
        # neither model accepts an empty text
        inputs = [text[:TEXT_CHARACTERS_MAX] if text.strip() else "." for text in texts]
        size = 1 if self._is_titan else COHERE_TEXTS
        waiting = asyncio.Semaphore(REQUESTS_MAX)

        async def embed_batch(batch: list[str]) -> Vectors:
            async with waiting:
                return await self._embed_batch(batch)

        batches = [inputs[first : first + size] for first in range(0, len(inputs), size)]
        done = [asyncio.ensure_future(embed_batch(batch)) for batch in batches]
        try:
            return [vector for vectors in await asyncio.gather(*done) for vector in vectors]
        finally:
            for each in done:
                each.cancel()

    async def _vectors(self, texts: Sequence[str]) -> Vectors:
        client, body = await self._connection.open(), json.dumps(self._body(texts)).encode()
        with bedrock_errors():
            async with asyncio.timeout(self._timeout_seconds):
                content = await self._connection.in_thread(
                    lambda: client.invoke_model(modelId=self.name, body=body)["body"].read()
                )
            return _Answer.model_validate_json(content).vectors

    def _body(self, texts: Sequence[str]) -> dict[str, Any]:
        if self._is_titan:
            return {"inputText": texts[0], "dimensions": self.dimensions, "normalize": True}
        # one kind for rows and queries, so that they can be compared: the caller does not say which it embeds
        common = {"input_type": "search_document", "embedding_types": ["float"]}
        if self._is_cohere_4:
            return common | {"texts": texts, "output_dimension": self.dimensions, "truncate": "RIGHT"}
        return common | {"texts": [text[:COHERE_3_CHARACTERS] for text in texts], "truncate": "END"}


class _Embedding(Wire):
    index: int
    embedding: list[float]


class _Embeddings(Wire):
    data: list[_Embedding]


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


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """`texts` in order, in batches for one request; a text that is too long for a batch goes alone."""
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
    """A server's vector, scaled to length 1. Raises EmptyEmbedding, and ModelUnavailable if it is unusable."""
    if not vector:
        raise EmptyEmbedding
    if len(vector) != dimensions:
        raise ModelUnavailable(
            f"The embedding model's server ignored dimensions={dimensions}: its vectors have {len(vector)}. "
            f"Set EMBEDDING_DIMENSIONS={len(vector)}, or choose a model that can shorten its vectors."
        )
    length = math.hypot(*vector)
    if not 0 < length < math.inf:
        raise ModelUnavailable("The embedding model's server sent a vector without a direction.")
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
