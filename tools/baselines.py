"""What plain retrieval makes of the same rows: BM25 over their words, and the cosine of the local embedding model.

Both know nothing of fields, filters or conversations: a row is its texts, a query its words, those of the questions before it
included.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quarry.core.model.interface import EmbeddingModel
from quarry.records.contract import RECORD_TYPES

K1, B = 0.9, 0.4
BATCH_TEXTS = 64

Documents = Mapping[str, str]
"""Texts by the key that a judgement names them by."""

_WORD = re.compile(r"\w+")
_NO_TEXT = re.compile(r"id|.*_(?:id|url|date|at)|date|url|embedding_type|is_current")
# the short list of Lucene's English analyzer
_STOP_WORDS = frozenset(
    """a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
    will with""".split()
)


def read_documents(files: Mapping[str, Path]) -> dict[str, str]:
    """The texts of a set's rows, given the file of each table; a person is one with all cards. Raises OSError."""
    if "people" in files:
        return _people(files)
    documents: dict[str, str] = {}
    for table, path in files.items():
        record_type = table.removesuffix("s")
        if table == "companies":
            documents |= {row["id"]: row_text(row) for row in _rows(path)}
        elif record_type in RECORD_TYPES:
            documents |= {f"{record_type}:{row['id']}": row_text(row) for row in _rows(path)}
    return documents


def row_text(row: Mapping[str, Any]) -> str:
    """All that a row says in words; ids, addresses and dates are none."""
    values = (value for name, value in row.items() if not _NO_TEXT.fullmatch(name))
    parts = (", ".join(map(str, value)) if isinstance(value, list) else value for value in values)
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def _people(files: Mapping[str, Path]) -> dict[str, str]:
    texts = {row["id"]: [row_text(row)] for row in _rows(files["people"])}
    person_of: dict[str, str] = {}
    for table, owner in (("experience_cards", "person_id"), ("experience_card_children", "card_id")):
        for row in _rows(files[table]) if table in files else ():
            person = person_of[row["id"]] = person_of.get(row[owner], row[owner])
            texts[person].append(row_text(row))
    return {person: "\n".join(parts) for person, parts in texts.items()}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


class BM25:
    """Ranks documents by BM25 (Robertson and others; k1 0.9, b 0.4), over words in lower case without stop words."""

    def __init__(self, documents: Documents) -> None:
        self._postings: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._lengths: dict[str, int] = {}
        for key, text in documents.items():
            words = _tokens(text)
            self._lengths[key] = len(words)
            for word, count in Counter(words).items():
                self._postings[word].append((key, count))
        self._mean_length = sum(self._lengths.values()) / max(1, len(self._lengths))

    def rank(self, query: str, depth: int) -> list[str]:
        """The keys of the best documents that hold a word of the query, best first."""
        scores: dict[str, float] = defaultdict(float)
        for word in dict.fromkeys(_tokens(query)):
            postings = self._postings.get(word, ())
            idf = math.log(1 + (len(self._lengths) - len(postings) + 0.5) / (len(postings) + 0.5))
            for key, count in postings:
                length = 1 - B + B * self._lengths[key] / self._mean_length
                scores[key] += idf * count * (K1 + 1) / (count + K1 * length)
        return heapq.nsmallest(depth, scores, key=lambda key: (-scores[key], key))


class Cosine:
    """Ranks documents by the cosine of their nearest window to the query."""

    def __init__(self, model: EmbeddingModel, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self._model = model
        self._keys = keys
        self._vectors = vectors

    @classmethod
    async def of(
        cls,
        documents: Documents,
        model: EmbeddingModel,
        cache: Path,
        on_text: Callable[[int], None] = lambda texts: None,
    ) -> Cosine:
        """Embed the documents, or read their vectors from the folder `cache`, where they are kept by what they were made of."""
        windows = [(key, window) for key, text in documents.items() for window in model.windows(text)]
        digest = hashlib.sha256(json.dumps([model.name, windows]).encode()).hexdigest()[:16]
        path = cache / f"vectors-{digest}.npy"
        if not path.exists():
            vectors: list[list[float]] = []
            for start in range(0, len(windows), BATCH_TEXTS):
                batch = [window for _, window in windows[start : start + BATCH_TEXTS]]
                vectors += await model.embed(batch)
                on_text(len(batch))
            np.save(path, np.array(vectors, dtype=np.float16))
        return cls(model, [key for key, _ in windows], np.load(path).astype(np.float32))

    async def rank(self, query: str, depth: int) -> list[str]:
        """The keys of the nearest documents, best first."""
        [vector] = await self._model.embed([query])
        cosines = self._vectors @ np.array(vector, dtype=np.float32)
        best = (self._keys[place] for place in np.argsort(-cosines, kind="stable"))
        ranked: dict[str, None] = {}
        for key in best:
            ranked[key] = None
            if len(ranked) == depth:
                break
        return list(ranked)


def _tokens(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _STOP_WORDS]
