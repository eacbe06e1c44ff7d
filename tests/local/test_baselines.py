"""The baselines are what they say: BM25 by its formula, cosine by the nearest window, over the texts of the rows."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools.baselines import BM25, K1, B, Cosine, read_documents, row_text


class Letters:
    """An embedding model that knows three letters and reads three words at once."""

    name = "letters"
    dimensions = 3

    def __init__(self) -> None:
        self.embedded = 0

    def windows(self, text: str) -> list[str]:
        words = text.split()
        return [" ".join(words[start : start + 3]) for start in range(0, len(words), 3)] or [""]

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.embedded += len(texts)
        counts = [[float(text.count(letter)) for letter in "xyz"] for text in texts]
        return [[value / (math.hypot(*vector) or 1.0) for value in vector] for vector in counts]

    async def close(self) -> None:
        pass


def test_bm25_by_hand() -> None:
    documents = {"a": "Rye rye bread", "b": "rye", "c": "plum"}
    mean_length = 5 / 3

    def weight(count: int, length: int) -> float:
        return count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean_length))

    assert BM25(documents).rank("the RYE", 10) == (["a", "b"] if weight(2, 3) > weight(1, 1) else ["b", "a"])
    assert BM25(documents).rank("plum", 10) == ["c"]
    assert BM25(documents).rank("rye plum", 1) == ["c"]
    assert BM25(documents).rank("oats", 10) == []


async def test_a_document_is_as_near_as_its_nearest_window_and_embedded_once(tmp_path: Path) -> None:
    model = Letters()
    documents = {"a": "z z z x", "b": "x y", "c": "y"}
    cosine = await Cosine.of(documents, model, tmp_path)
    assert await cosine.rank("x", 2) == ["a", "b"]
    embedded = model.embedded
    again = await Cosine.of(documents, model, tmp_path)
    assert await again.rank("y", 3) == ["c", "b", "a"]
    assert model.embedded == embedded + 1


def test_a_row_is_its_words_without_ids_addresses_and_dates() -> None:
    row = {
        "id": "m-1", "meeting_id": "m", "title": "Elm", "tags": ["a", "b"], "date": "2020-01-01", "website_url": "x.test",
        "votes": 3, "summary": None,
    }  # fmt: skip
    assert row_text(row) == "Elm\na, b"


def test_a_person_is_one_with_all_cards_and_a_record_is_named_by_its_type(tmp_path: Path) -> None:
    files = {
        "people": [{"id": "p", "name": "Ada"}, {"id": "q", "name": "Bo"}],
        "experience_cards": [{"id": "c", "person_id": "p", "title": "Baker"}],
        "experience_card_children": [{"id": "d", "card_id": "c", "title": "Rye"}],
        "matters": [{"id": "m", "title": "Elm"}],
        "meetings": [{"id": "s", "title": "Council"}],
    }
    paths = {name: tmp_path / f"{name}.jsonl" for name in files}
    for name, rows in files.items():
        paths[name].write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_documents(paths) == {"p": "Ada\nBaker\nRye", "q": "Bo"}
    records = {name: path for name, path in paths.items() if name in ("matters", "meetings")}
    assert read_documents(records) == {"matter:m": "Elm"}


@pytest.mark.parametrize("depth", [1, 2])
def test_a_baseline_shows_no_more_than_it_may(depth: int) -> None:
    assert len(BM25({"a": "rye", "b": "rye", "c": "rye"}).rank("rye", depth)) == depth
