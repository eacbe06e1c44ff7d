"""Judged queries: what a good search finds for them, and the measures by which a search is compared with that."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class JudgedQuery:
    """A query, the grade (1 to 3) of each record that deserves one, and facts that a right answer mentions."""

    id: str
    kind: str
    query: str
    relevant: Mapping[str, int]
    answer_mentions: Sequence[str]


def read_judged(path: Path) -> list[JudgedQuery]:
    """The judged queries of a JSON Lines file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        JudgedQuery(row["id"], row["kind"], row["query"], row["relevant"], tuple(row["answer_mentions"]))
        for row in rows
    ]


def ndcg(found: Sequence[str], relevant: Mapping[str, int], depth: int = 10) -> float:
    """Normalised discounted cumulative gain at `depth`, gain 2^grade − 1 (Järvelin and Kekäläinen 2002; Burges et al. 2005)."""
    ideal = _discounted(sorted(relevant.values(), reverse=True)[:depth])
    return _discounted([relevant.get(key, 0) for key in found[:depth]]) / ideal if ideal else 0.0


def mentioned(answer: str, facts: Sequence[str]) -> float:
    """The share of the facts that an answer mentions, whatever its markup."""
    text = _plain(answer)
    return sum(_plain(fact) in text for fact in facts) / len(facts) if facts else 1.0


def _discounted(gains: Sequence[int]) -> float:
    return sum((2.0**gain - 1) / math.log2(place + 2) for place, gain in enumerate(gains))


def _plain(text: str) -> str:
    return text.replace("\\", "").replace("*", "").replace("-", "–").lower()
