"""Generated rows for measurements: text with a natural word distribution, and vectors that cluster by topic.

The vocabulary is Zipf-distributed. Each row belongs to one of many topics, takes a third of its words from its topic and the
rest from everywhere, and has a vector near its topic's centre. Queries are drawn the same way, in six styles. Everything is
determined by the seed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.bulk import Connection, copy_rows, copy_vectors, indexes_built_afterwards

VOCABULARY = 20_000
TOPICS = 400
SUPER_TOPICS = 24
TOPIC_WORDS = 40
WORDS_PER_ROW = 60
DIMENSIONS = 384
ROWS_AT_ONCE = 100_000
"""How many vectors to draw at once, in double precision."""

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

    STYLES: Mapping[str, str] = {
        "keyword": "{own[0]}",
        "two keywords": "{own[0]} {own[1]}",
        "question": "why was the {own[0]} {own[1]} {common[0]} about {own[2]}?",
        "common word": "{common[0]}",
        "two common words": "{common[0]} {common[1]}",
        "long question": "what did they say about {own[0]} {own[1]} and the {common[0]} {common[1]}"
        " when {own[2]} {own[3]} {own[4]} {own[5]} came up",
    }
    """The kinds of query, by name: how each is made of words of its topic and of common words."""
    OWN_WORDS, COMMON_WORDS = 6, 3
    QUERY_SPREAD = 0.8

    def __init__(self, seed: int = 7) -> None:
        self._random = np.random.default_rng(seed)
        self._words = np.array(_invented_words(VOCABULARY, self._random))
        weights = 1.0 / np.arange(1, VOCABULARY + 1) ** 1.05
        self._cumulative = np.cumsum(weights / weights.sum())
        # a topic's words come from the middle of the distribution: neither common nor rare
        self._topic_words = self._random.integers(150, 8000, size=(TOPICS, TOPIC_WORDS))
        supers = self._random.normal(size=(SUPER_TOPICS, DIMENSIONS))
        self._centres = supers[self._random.integers(0, SUPER_TOPICS, TOPICS)] + 0.9 * self._random.normal(
            size=(TOPICS, DIMENSIONS)
        )

    def known_words(self, count: int) -> list[str]:
        """Words of the rows, most frequent first."""
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
        for style in self.STYLES:
            topics = self._random.integers(0, TOPICS, per_style)
            vectors = self._vectors(topics, spread=self.QUERY_SPREAD)
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
        own = self._random.choice(self._topic_words[topic], self.OWN_WORDS, replace=False)
        common = self._random.integers(5, 60, self.COMMON_WORDS)
        return self.STYLES[style].format(own=self._words[own], common=self._words[common])


def load_rows(
    connection: Connection,
    table: str,
    columns: str,
    rows: Iterable[Sequence[Any]],
    ids: Sequence[str],
    vectors: NDArray[np.float32],
    vector_table: str,
    embedding_type: str | None = None,
) -> None:
    """Replaces the rows of `table` with these, adds a vector for each to `vector_table`, and analyses both."""
    connection.execute(f"truncate {table}, {vector_table} cascade".encode())
    with indexes_built_afterwards(connection, table, vector_table):
        copy_rows(connection, f"{table} ({columns})", rows)
        copy_vectors(connection, vector_table, ids, vectors, embedding_type)
    connection.execute("select count_lexemes(%s)", [table])


def load_motions(connection: Connection, corpus: Corpus, count: int) -> None:
    """Replaces the motions with `count` generated rows and their vectors."""
    texts, vectors = corpus.rows(corpus.topics(count))
    ids = [f"motion-{number:07}" for number in range(count)]
    dates = (f"{2015 + number % 11}-{1 + number % 12:02}-15" for number in range(count))
    rows = zip(ids, texts, dates, strict=True)
    load_rows(connection, "motions", "id, text_content, date", rows, ids, vectors, "motion_embeddings")


def _invented_words(count: int, random: np.random.Generator) -> list[str]:
    words: dict[str, None] = {}
    while len(words) < count:
        syllables = int(random.integers(2, 5))
        words[
            "".join(random.choice(list(_CONSONANTS)) + random.choice(list(_VOWELS)) for _ in range(syllables))
            + random.choice(list("nrtk"))
        ] = None
    return list(words)
