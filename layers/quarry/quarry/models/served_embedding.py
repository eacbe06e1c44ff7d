"""What embedding models that are asked over the network have in common: how texts are cut, and what is made of vectors."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from quarry.platform.errors import EmptyEmbedding, ModelUnavailable

# OpenAI's embedding models read 8,191 tokens. 2,000 English words are some 3,000 tokens, but 13,000 bytes of figures,
# Korean or Chinese can be 8,000.
WINDOW_WORDS = 2_000
WINDOW_STRIDE = 0.9
WINDOW_BYTES = 13_000
WORD_CHARACTERS = 200

_WORD = re.compile(rf"\S{{1,{WORD_CHARACTERS}}}")


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
