"""Generated campaigns for measurements: copy of the other benchmarks' vocabulary, and properties drawn from skewed distributions.
Everything follows from the seed. They have no vectors: what a query's text costs does not depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tests.benchmarks.generated import Corpus
from tests.benchmarks.measuring import Connection
from tests.bulk import copy_rows, indexes_built_afterwards

CHANNELS = ("Email", "Direct mail", "Social", "TV", "Radio", "Web", "Print")
SENTIMENTS = ("Joyful", "Calm", "Proud", "Bold")
STYLES = ("Photograph", "Illustration", "Typographic")
VALUE_PROPS = 30
COMPANIES = 200
ROWS_AT_ONCE = 5000


def load_campaigns(connection: Connection, corpus: Corpus, count: int) -> None:
    """Fill the emptied table `campaigns` with `count` generated rows and analyse it."""
    connection.execute("truncate campaigns cascade")
    with indexes_built_afterwards(connection, "campaigns"):
        copy_rows(
            connection,
            "campaigns (id, company, brand, channel, offer, key_value_props, imagery_sentiment, imagery_visual_style,"
            " capture_date, campaign_text)",
            _campaigns(np.random.default_rng(31), corpus, count),
        )
    connection.execute("select count_lexemes('campaigns')")


def _campaigns(random: np.random.Generator, corpus: Corpus, count: int) -> Iterator[Sequence[Any]]:
    for start in range(0, count, ROWS_AT_ONCE):
        texts, _ = corpus.rows(corpus.topics(min(ROWS_AT_ONCE, count - start)))
        for number, text in enumerate(texts, start):
            company, *props = (int(place) for place in random.zipf(1.6, 3))
            words = text.split()
            yield (
                f"campaign-{number:07}", f"Company {company % COMPANIES}", f"Brand {company % (2 * COMPANIES)}",
                CHANNELS[number * number % len(CHANNELS)], " ".join(words[:4]) if number % 3 else None,
                sorted({f"Promise {prop % VALUE_PROPS}" for prop in props}), SENTIMENTS[number % len(SENTIMENTS)],
                STYLES[number % len(STYLES)], f"{2020 + number % 5}-{1 + number % 12:02}-{1 + number % 28:02}", text,
            )  # fmt: skip
