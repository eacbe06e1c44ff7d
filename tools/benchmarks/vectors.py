"""`make bench`: how long the vectors of an own table take to reach the search.

A table of prose holds a vector for each row. One figure is `apply` with `vectors` until nothing waits: words, copied vectors
and their index. The others are what you would do without Quarry: load the table, embed its texts, and index words and vectors.

The machine's noise is in every figure: read the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from quarry.models.local_embedding import LocalEmbedding
from tests.collections.support import apply_file, owner, work_off
from tests.vectors import vector_literal
from tools.benchmarks.generated import Corpus
from tools.benchmarks.measuring import migrated_server

TABLE = "create table papers (id int primary key, content text not null, embedding vector(384) not null)"
DECLARED = """
[collections.papers]
source = "papers"
text = ["content"]
vectors = "embedding"
"""
BY_HAND = (
    "set maintenance_work_mem = '512MB'",
    "alter table papers add column words tsvector generated always as (to_tsvector('english', content)) stored",
    "create index on papers using gin (words)",
    "create index on papers using hnsw ((embedding::halfvec(384)) halfvec_cosine_ops)",
)
EMBEDDED = 200
"""How many texts are embedded; the figure is that of all rows in proportion."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks vectors", description="Vectors of own tables.")
    parser.add_argument("--rows", type=int, default=100_000, help="rows of the table")
    rows: int = parser.parse_args(arguments).rows
    corpus = Corpus()
    texts, vectors = corpus.rows(corpus.topics(rows))
    with TemporaryDirectory() as folder, migrated_server() as url:
        file = Path(folder) / "rows"
        Path(folder).chmod(0o755)
        with file.open("w") as lines:
            lines.writelines(
                f"{i}\t{text}\t{vector_literal(vector)}\n"
                for i, (text, vector) in enumerate(zip(texts, vectors, strict=True))
            )
        file.chmod(0o644)

        def load() -> None:
            owner(url, "drop table if exists papers", TABLE)
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("copy papers from '" + str(file) + "'")

        copied = _seconds(load)
        by_hand = _seconds(lambda: owner(url, *BY_HAND))
        load()
        model = LocalEmbedding()
        asyncio.run(model.embed(texts[:1]))  # loads it
        embedded = _seconds(lambda: asyncio.run(model.embed(texts[:EMBEDDED]))) * rows / EMBEDDED

        def apply() -> None:
            apply_file(url, DECLARED)
            asyncio.run(work_off(url))

        applied = _seconds(apply)
    print(f"\nvectors of a table of {rows:,} rows, seconds")
    for name, seconds in {
        "COPY": copied,
        f"embedding, from {EMBEDDED:,} texts": embedded,
        "words and vectors indexed by hand": by_hand,
        "apply with `vectors`, until nothing waits": applied,
    }.items():
        print(f"{name:44}{seconds:9.1f}")
    print(f"{'apply / (COPY + embedding)':44}{applied / (copied + embedded):8.2f}x")
    print(f"{'apply / (COPY + indexes by hand)':44}{applied / (copied + by_hand):8.2f}x")


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
