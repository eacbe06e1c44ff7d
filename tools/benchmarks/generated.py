"""Generated rows for measurements: text with a natural word distribution, vectors that cluster by topic.

The vocabulary is Zipf-distributed; each row belongs to one of many topics, takes a third of its words from its topic and the
rest from everywhere, and has a vector near its topic's centre. Queries are drawn the same way, in six styles. Everything
follows from the seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import psycopg
from numpy.typing import NDArray

from tests.bulk import copy_rows, copy_vectors, indexes_built_afterwards

VOCABULARY = 20_000
TOPICS = 400
SUPER_TOPICS = 24
TOPIC_WORDS = 40
WORDS_PER_ROW = 60
DIMENSIONS = 384
ROWS_AT_ONCE = 100_000
"""Whose vectors are drawn together, in double precision."""

_CONSONANTS = "bcdfghjklmnprstvwz"
_VOWELS = "aeiou"


@dataclass(frozen=True)
class Query:
    """One generated query: its style, text and vector."""

    style: str
    text: str
    vector: NDArray[np.float32]


class Corpus:
    """A reproducible source of rows and queries."""

    def __init__(self, seed: int = 7) -> None:
        self._random = np.random.default_rng(seed)
        self._words = np.array(_invented_words(VOCABULARY, self._random))
        weights = 1.0 / np.arange(1, VOCABULARY + 1) ** 1.05
        self._cumulative = np.cumsum(weights / weights.sum())
        # a topic's words come from the middle of the distribution: neither everywhere nor nowhere
        self._topic_words = self._random.integers(150, 8000, size=(TOPICS, TOPIC_WORDS))
        supers = self._random.normal(size=(SUPER_TOPICS, DIMENSIONS))
        self._centres = supers[self._random.integers(0, SUPER_TOPICS, TOPICS)] + 0.9 * self._random.normal(
            size=(TOPICS, DIMENSIONS)
        )

    def known_words(self, count: int) -> list[str]:
        """Words of the rows, the most frequent first."""
        return [str(word) for word in self._words[:count]]

    def topics(self, count: int) -> NDArray[np.int64]:
        """The topics of `count` rows."""
        return self._random.integers(0, TOPICS, count)

    def rows(self, topics: NDArray[np.int64]) -> tuple[list[str], NDArray[np.float32]]:
        """Texts and unit vectors of rows of these topics."""
        texts: list[str] = []
        vectors = np.empty((len(topics), DIMENSIONS), np.float32)
        for start in range(0, len(topics), ROWS_AT_ONCE):
            part = topics[start : start + ROWS_AT_ONCE]
            texts += [self._text(topic) for topic in part]
            vectors[start : start + len(part)] = self._vectors(part, spread=1.0)
        return texts, vectors

    def queries(self, per_style: int) -> list[Query]:
        """`per_style` queries of each style."""
        found: list[Query] = []
        for style in ("keyword", "two keywords", "question", "common word", "two common words", "long question"):
            topics = self._random.integers(0, TOPICS, per_style)
            vectors = self._vectors(topics, spread=0.8)
            found += [
                Query(style, self._query_text(style, int(topic)), vector)
                for topic, vector in zip(topics, vectors, strict=True)
            ]
        return found

    def _text(self, topic: int) -> str:
        length = int(self._random.integers(WORDS_PER_ROW // 2, WORDS_PER_ROW * 3 // 2))
        everywhere = np.searchsorted(self._cumulative, self._random.random(length))
        of_topic = self._topic_words[topic][self._random.integers(0, TOPIC_WORDS, length)]
        chosen = np.where(self._random.random(length) < 1 / 3, of_topic, np.minimum(everywhere, VOCABULARY - 1))
        return " ".join(self._words[chosen])

    def _vectors(self, topics: NDArray[np.int64], spread: float) -> NDArray[np.float32]:
        vectors = self._centres[topics] + spread * self._random.normal(size=(len(topics), DIMENSIONS))
        unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def _query_text(self, style: str, topic: int) -> str:
        own = [str(word) for word in self._words[self._random.choice(self._topic_words[topic], 6, replace=False)]]
        common = [str(word) for word in self._words[self._random.integers(5, 60, 3)]]
        match style:
            case "keyword":
                return own[0]
            case "two keywords":
                return " ".join(own[:2])
            case "question":
                return f"why was the {own[0]} {own[1]} {common[0]} about {own[2]}?"
            case "common word":
                return common[0]
            case "two common words":
                return " ".join(common[:2])
            case _:
                return (
                    f"what did they say about {own[0]} {own[1]} and the {common[0]} {common[1]}"
                    f" when {own[2]} {own[3]} {own[4]} {own[5]} came up"
                )


def load_motions(connection: psycopg.Connection[tuple[object, ...]], corpus: Corpus, count: int) -> None:
    """Fill the emptied tables `motions` and `motion_embeddings` with `count` generated rows and analyse them."""
    connection.execute("truncate motions, motion_embeddings cascade")
    texts, vectors = corpus.rows(corpus.topics(count))
    ids = [f"motion-{number:07}" for number in range(count)]
    dates = (f"{2015 + number % 11}-{1 + number % 12:02}-15" for number in range(count))
    with indexes_built_afterwards(connection, "motions", "motion_embeddings"):
        copy_rows(connection, "motions (id, text_content, date)", zip(ids, texts, dates, strict=True))
        copy_vectors(connection, "motion_embeddings", ids, vectors)
    connection.execute("select count_lexemes('motions')")


def _invented_words(count: int, random: np.random.Generator) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < count:
        syllables = int(random.integers(2, 5))
        words[
            "".join(random.choice(list(_CONSONANTS)) + random.choice(list(_VOWELS)) for _ in range(syllables))
            + random.choice(list("nrtk"))
        ] = None
    return list(words)
