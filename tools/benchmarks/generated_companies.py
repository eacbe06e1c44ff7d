"""Generated companies for measurements, in the proportions of the sample data.

Lengths of texts, numbers of tags and niches, shares of statuses, and the distribution of cosine similarities between a query
and the companies (most about 0.1, one in ten above 0.25, those of the query's own topic about 0.5) are those of the sample data
with the local embedding model; the vocabulary is Zipf-distributed. Everything is determined by the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quarry.companies.tables import STATUSES
from quarry.models.local_embedding import LocalEmbedding
from quarry.platform.text import words
from tests.bulk import Connection
from tools.benchmarks.generated import DIMENSIONS, TOPICS, Corpus, load_rows

WORDS = {
    "tagline": 6,
    "description": 37,
    "product_description": 25,
    "target_customer": 10,
    "problem_solved": 16,
    "differentiator": 15,
}
"""Words of each text, on average."""

SECTORS = tuple(f"Sector {number}" for number in range(15))
CATEGORIES = {sector: tuple(f"{sector} Category {number}" for number in range(12)) for sector in SECTORS}
BUSINESS_MODELS = tuple(f"Model {number}" for number in range(18))

STATUS_SHARES = (0.70, 0.12, 0.08, 0.10)
NAME_ENDINGS = ("", "", "", "", " Labs", " Health", ".ai", " Robotics", " Systems", "-Line")
CHUNK = 20_000

# Shares of a vector's energy that are common to all, its sector and its topic; the rest is its own.
_COMMON, _SECTOR, _TOPIC = 0.10, 0.12, 0.28
# Vectors of real texts vary in far fewer directions than they have dimensions.
_DIRECTIONS = 80


@dataclass(frozen=True)
class GeneratedCompany:
    """A company's columns, in the order of `COLUMNS`, and its vector."""

    row: tuple[object, ...]
    vector: NDArray[np.float32]


def company_id(number: int) -> str:
    return f"company-{number:07}"


COLUMNS = ("id", "company_name", *WORDS, "niches", "sectors", "categories", "business_models", "status", "website_url")


class CompanyCorpus(Corpus):
    """A reproducible source of companies and queries."""

    STYLES = {
        **{style: text for style, text in Corpus.STYLES.items() if style != "long question"},
        "question": "which companies are building {own[0]} {own[1]} {common[0]} for {own[2]} teams?",
        "six words": "{own[0]} {own[1]} {own[2]} {own[3]} {common[0]} {common[1]}",
    }
    OWN_WORDS, COMMON_WORDS = 4, 2
    # a query is closer to its topic than a company is
    QUERY_SPREAD = 0.7

    def __init__(self, seed: int = 7) -> None:
        super().__init__(seed)
        normal = self._random.normal
        self._axes = np.linalg.qr(normal(size=(DIMENSIONS, _DIRECTIONS)))[0].T
        self._word_places = {str(word): place for place, word in enumerate(self._words)}
        self._sector_of = self._random.integers(0, len(SECTORS), TOPICS)
        self._centres = (
            np.sqrt(_COMMON) * normal(size=_DIRECTIONS)
            + np.sqrt(_SECTOR) * normal(size=(len(SECTORS), _DIRECTIONS))[self._sector_of]
            + np.sqrt(_TOPIC) * normal(size=(TOPICS, _DIRECTIONS))
        )

    def companies(self, count: int) -> Iterator[GeneratedCompany]:
        for start in range(0, count, CHUNK):
            topics = self._random.integers(0, TOPICS, min(CHUNK, count - start))
            vectors = self._vectors(topics, spread=1.0)
            for number, (topic, vector) in enumerate(zip(topics, vectors, strict=True), start):
                yield GeneratedCompany(self._row(number, int(topic)), vector)

    def name_queries(self, companies: Sequence[tuple[str, str]], per_style: int) -> list[tuple[str, str]]:
        """`per_style` names of each style of asking for one of `companies` (name, website)."""
        styles: dict[str, Callable[[str, str], str]] = {
            "name": lambda name, _: name,
            "lower case": lambda name, _: name.lower(),
            "misspelt": lambda name, _: name[:2] + name[3:],
            "nobody's": lambda name, _: name[::-1],
            "address": lambda _, url: url.removeprefix("https://").partition(".")[0],
        }
        places = self._random.integers(0, len(companies), (len(styles), per_style))
        return [
            (style, spelt(*companies[int(place)]))
            for (style, spelt), row in zip(styles.items(), places, strict=True)
            for place in row
        ]

    def filters(self, per_style: int) -> list[tuple[str, tuple[list[str], list[str], list[str]]]]:
        """`per_style` filters of each kind in a plan: sectors, categories and business models."""
        found: list[tuple[str, tuple[list[str], list[str], list[str]]]] = []
        for style in ("sector", "category", "sector, category", "sector, model", "sector, category, model"):
            for _ in range(per_style):
                sector = SECTORS[int(self._random.integers(0, len(SECTORS)))]
                category = CATEGORIES[sector][int(self._random.integers(0, 12))]
                model = BUSINESS_MODELS[int(self._random.integers(0, len(BUSINESS_MODELS)))]
                found.append(
                    (
                        style,
                        (
                            [sector] if "sector" in style else [],
                            [category] if "category" in style else [],
                            [model] if "model" in style else [],
                        ),
                    )
                )
        return found

    def vector_of(self, text: str) -> list[float]:
        """A query vector near the topic that most of the words of `text` belong to."""
        places = [self._word_places[word] for word in words(text) if word in self._word_places]
        shared = np.isin(self._topic_words, places).sum(axis=1)
        vector = self._vectors(np.array([int(shared.argmax())]), spread=self.QUERY_SPREAD)[0]
        return [float(value) for value in vector]

    def _row(self, number: int, topic: int) -> tuple[object, ...]:
        own = self._words[self._topic_words[topic]]
        random = self._random
        name = f"{own[int(random.integers(0, 40))]}{self._words[int(random.integers(0, 20_000))][:4]}".capitalize()
        sector = int(self._sector_of[topic])
        sectors = [SECTORS[sector], *([SECTORS[int(random.integers(0, 15))]] if random.random() < 0.43 else [])]
        categories = [CATEGORIES[SECTORS[sector]][topic % 12]]
        if random.random() < 0.7:
            categories.append(CATEGORIES[sectors[-1]][int(random.integers(0, 12))])
        return (
            company_id(number),
            name + NAME_ENDINGS[int(random.integers(0, len(NAME_ENDINGS)))],
            *(self._words_of(topic, length) for length in WORDS.values()),
            [
                " ".join(own[random.integers(0, 40, int(random.integers(1, 4)))])
                for _ in range(int(random.integers(2, 7)))
            ],
            sorted(set(sectors)),
            sorted(set(categories)),
            sorted({BUSINESS_MODELS[int(place)] for place in random.integers(0, 18, int(random.integers(1, 4)))}),
            str(random.choice(STATUSES, p=STATUS_SHARES)),
            f"https://{name.lower()}.example",
        )

    def _words_of(self, topic: int, length: int) -> str:
        return " ".join(self._text(topic).split()[: max(2, round(length * self._random.uniform(0.6, 1.4)))])

    def _vectors(self, topics: NDArray[np.int64], spread: float) -> NDArray[np.float32]:
        own = np.sqrt(1 - _COMMON - _SECTOR - _TOPIC) * spread
        vectors = (self._centres[topics] + own * self._random.normal(size=(len(topics), _DIRECTIONS))) @ self._axes
        unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return unit


class GeneratedEmbedding(LocalEmbedding):
    """Takes as long as the local model, but returns the vector of the generated topic that a text's words belong to."""

    def __init__(self, corpus: CompanyCorpus) -> None:
        super().__init__()
        self._corpus = corpus

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        await super().embed(texts)
        return [self._corpus.vector_of(text) for text in texts]


def load_companies(connection: Connection, corpus: CompanyCorpus, count: int) -> None:
    """Replaces the companies with `count` generated rows and their vectors."""
    vectors = np.empty((count, DIMENSIONS), np.float32)

    def rows() -> Iterator[Sequence[object]]:
        for number, company in enumerate(corpus.companies(count)):
            vectors[number] = company.vector
            yield company.row

    ids = [company_id(number) for number in range(count)]
    columns = ", ".join(COLUMNS)
    load_rows(connection, "companies", columns, rows(), ids, vectors, "company_embeddings", "searchable_profile")
