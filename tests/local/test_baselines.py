"""The baselines are what they say: BM25 by its formula, cosine by the nearest vector, over the texts of the rows."""

from __future__ import annotations

import json

import numpy as np

from quarry.local.sample import sample_directory
from quarry.services.services import Services
from tools.baselines import BM25, K1, B, Cosine, read_rows


def test_bm25_by_hand() -> None:
    documents = {"a": "Rye rye bread", "b": "rye", "c": "plum"}
    mean_length = 5 / 3

    def weight(count: int, length: int) -> float:
        return count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean_length))

    assert BM25(documents).rank("the RYE", 10) == (["a", "b"] if weight(2, 3) > weight(1, 1) else ["b", "a"])
    assert BM25(documents).rank("plum", 10) == ["c"]
    assert BM25(documents).rank("rye plum", 1) == ["c"]
    assert BM25(documents).rank("oats", 10) == []


def test_a_key_is_as_near_as_its_nearest_vector() -> None:
    vectors = np.array([[0, 1, 0], [1, 0, 0], [0.6, 0.8, 0]], dtype=np.float32)
    cosine = Cosine(["a", "a", "b"], vectors)
    assert cosine.rank([1, 0, 0], 5) == ["a", "b"]
    assert cosine.rank([0.6, 0.8, 0], 1) == ["b"]
    assert Cosine([], np.empty((0, 3), dtype=np.float32)).rank([1, 0, 0], 5) == []


async def test_vectors_are_those_of_the_database_and_a_card_s_are_its_person_s(sample_services: Services) -> None:
    files = {table: sample_directory() / "people" / f"{table}.jsonl" for table in ("people", "experience_cards")}
    rows = read_rows(files)
    card = next(row for row in rows if row.table == "experience_cards" and row.key != row.id)
    found = await sample_services.database.row(
        "select embedding::text as vector from experience_card_embeddings where record_id = %s", [card.id]
    )
    assert found is not None
    cosine = await Cosine.of(rows, sample_services.database)
    assert cosine.rank(json.loads(found["vector"]), 1) == [card.key]
