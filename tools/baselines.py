"""Baselines on the same rows: BM25 over their words, and the cosine of the vectors in the database.

Neither knows fields, filters or conversations: a row is its texts, and a query its words, including the previous questions. All
vectors are compared, without an index. Rows without vectors, such as segments of a transcript, cannot be found by meaning.
"""

from __future__ import annotations

import heapq
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.sql import SQL, Identifier

from quarry import catalog
from quarry.postgres.pool import Database
from quarry.records.sources import BUILT_IN

K1, B = 0.9, 0.4

Documents = Mapping[str, str]
"""Texts by the key that judgements use."""

_WORD = re.compile(r"\w+")
_OWNER_FIELDS = {"experience_cards": "person_id", "experience_card_children": "card_id"}
_NO_TEXT = re.compile(r"id|.*_(?:id|url|date|at)|date|url|embedding_type|is_current")
# the short list of Lucene's English analyzer
_STOP_WORDS = frozenset(
    """a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
    will with""".split()
)


@dataclass(frozen=True)
class Row:
    """A row of a set: what it is part of, by the key that a judgement uses, and its texts."""

    table: str
    id: str
    key: str
    text: str


def read_rows(files: Mapping[str, Path]) -> list[Row]:
    """Reads the searchable rows of a set, given the file of each table. A card is found as its person. Raises OSError."""
    rows: list[Row] = []
    owners: dict[str, str] = {}
    for table, path in files.items():
        for row in _lines(path):
            key = _key(table, row, owners)
            if key:
                rows.append(Row(table, row["id"], key, row_text(row)))
    return rows


def documents_of(rows: Iterable[Row]) -> dict[str, str]:
    """The texts by key."""
    texts: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        texts[row.key].append(row.text)
    return {key: "\n".join(parts) for key, parts in texts.items()}


def _key(table: str, row: Mapping[str, Any], owners: dict[str, str]) -> str | None:
    """The key of a row in judgements; `owners` maps each card so far to its person. None if it cannot be found on its own."""
    if table in ("companies", "people"):
        return str(row["id"])
    if table in _OWNER_FIELDS:
        owner = row[_OWNER_FIELDS[table]]
        return owners.setdefault(row["id"], owners.get(owner, owner))
    record_type = table.removesuffix("s")
    return f"{record_type}:{row['id']}" if record_type in BUILT_IN else None


def row_text(row: Mapping[str, Any]) -> str:
    """All words of a row, without ids, addresses and dates."""
    values = (value for name, value in row.items() if not _NO_TEXT.fullmatch(name))
    parts = (", ".join(map(str, value)) if isinstance(value, list) else value for value in values)
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
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
        """The keys of the best documents that contain a word of the query, best first."""
        scores: dict[str, float] = defaultdict(float)
        for word in dict.fromkeys(_tokens(query)):
            postings = self._postings.get(word, ())
            idf = math.log(1 + (len(self._lengths) - len(postings) + 0.5) / (len(postings) + 0.5))
            for key, count in postings:
                length = 1 - B + B * self._lengths[key] / self._mean_length
                scores[key] += idf * count * (K1 + 1) / (count + K1 * length)
        return heapq.nsmallest(depth, scores, key=lambda key: (-scores[key], key))


class Cosine:
    """Ranks keys by the cosine between the query and their nearest vector."""

    def __init__(self, keys: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self._keys = keys
        self._vectors = vectors

    @classmethod
    async def of(cls, rows: Iterable[Row], database: Database) -> Cosine:
        """Read the vectors of the rows from the database that they were loaded into."""
        keys_of = {(row.table, row.id): row.key for row in rows}
        keys: list[str] = []
        vectors: list[list[float]] = []
        for table in catalog.EMBEDDED.values():
            if not any(name == table.name for name, _ in keys_of):
                continue
            statement = SQL("select record_id, embedding::text as vector from {}").format(Identifier(table.embeddings))
            for row in await database.rows(statement):
                keys.append(keys_of[table.name, row["record_id"]])
                vectors.append(json.loads(row["vector"]))
        return cls(keys, np.array(vectors, dtype=np.float32))

    def rank(self, vector: Sequence[float], depth: int) -> list[str]:
        """The keys of the nearest vectors, best first."""
        if not self._keys:
            return []
        # unit vectors except for rounding
        cosines = self._vectors @ np.array(vector, dtype=np.float32)
        ranked: dict[str, None] = {}
        for place in np.argsort(-cosines, kind="stable"):
            ranked[self._keys[place]] = None
            if len(ranked) == depth:
                break
        return list(ranked)


def _tokens(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _STOP_WORDS]
