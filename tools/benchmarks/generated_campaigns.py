"""Generated campaigns for measurements: copy from the other benchmarks' vocabulary, with a vector of its profile, and
properties drawn from skewed distributions. Everything is determined by the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.bulk import Connection
from tools.benchmarks.generated import Corpus, load_rows

CHANNELS = ("Email", "Direct mail", "Social", "TV", "Radio", "Web", "Print")
SENTIMENTS = ("Joyful", "Calm", "Proud", "Bold")
STYLES = ("Photograph", "Illustration", "Typographic")
VALUE_PROPS = 30
COMPANIES = 200


COLUMNS = (
    "id, company, brand, channel, offer, key_value_props, imagery_sentiment, imagery_visual_style, capture_date,"
    " campaign_text"
)


def load_campaigns(connection: Connection, corpus: Corpus, count: int) -> None:
    """Replaces the campaigns with `count` generated rows and their vectors."""
    texts, vectors = corpus.rows(corpus.topics(count))
    ids = [f"campaign-{number:07}" for number in range(count)]
    rows = _campaigns(np.random.default_rng(31), ids, texts)
    load_rows(connection, "campaigns", COLUMNS, rows, ids, vectors, "campaign_embeddings", "profile")


def _campaigns(random: np.random.Generator, ids: Sequence[str], texts: Sequence[str]) -> Iterator[Sequence[Any]]:
    for number, (id, text) in enumerate(zip(ids, texts, strict=True)):
        company, *props = (int(place) for place in random.zipf(1.6, 3))
        yield (
            id, f"Company {company % COMPANIES}", f"Brand {company % (2 * COMPANIES)}",
            CHANNELS[number * number % len(CHANNELS)], " ".join(text.split()[:4]) if number % 3 else None,
            sorted({f"Promise {prop % VALUE_PROPS}" for prop in props}), SENTIMENTS[number % len(SENTIMENTS)],
            STYLES[number % len(STYLES)], f"{2020 + number % 5}-{1 + number % 12:02}-{1 + number % 28:02}", text,
        )  # fmt: skip
