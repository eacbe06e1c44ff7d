"""The quality of a ranked list according to a judgement: the usual measures of retrieval, from 0 (worst) to 1 (best).

`found` are keys, best first; `relevant` has the grade (1 to 3) of every relevant key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

DEPTH = 10
"""How far most people read a list."""

DEEP = 100
"""How far a reader goes who wants everything, or a model that reranks."""

FIRST = 5
"""How many results are visible without scrolling."""


def ndcg(found: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Normalised discounted cumulative gain at DEPTH, gain 2^grade − 1 (Järvelin and Kekäläinen 2002; Burges et al. 2005).

    If nothing is relevant: 1 if nothing was found, else 0.
    """
    if not relevant:
        return _rightly_empty(found)
    ideal = _discounted(sorted(relevant.values(), reverse=True)[:DEPTH])
    return _discounted([relevant.get(key, 0) for key in _distinct(found)[:DEPTH]]) / ideal


def recall(found: Sequence[str], relevant: Mapping[str, int], depth: int = DEPTH) -> float:
    """The share of the relevant keys among the first `depth`; as `ndcg` if nothing is relevant.

    The maximum is below 1 if more than `depth` are relevant.
    """
    if not relevant:
        return _rightly_empty(found)
    return len(relevant.keys() & {*_distinct(found)[:depth]}) / len(relevant)


def reciprocal_rank(found: Sequence[str], relevant: Mapping[str, int]) -> float:
    """1 / the rank of the first relevant key, 0 if none is among the first DEPTH; as `ndcg` if nothing is relevant."""
    if not relevant:
        return _rightly_empty(found)
    first = _distinct(found)[:DEPTH]
    return next((1 / place for place, key in enumerate(first, start=1) if key in relevant), 0.0)


def success(found: Sequence[str], relevant: Mapping[str, int]) -> float:
    """1 if a relevant key is among the FIRST, else 0; as `ndcg` if nothing is relevant."""
    if not relevant:
        return _rightly_empty(found)
    return float(not relevant.keys().isdisjoint(_distinct(found)[:FIRST]))


def precision(found: Sequence[str], relevant: Mapping[str, int], depth: int) -> float:
    """The share of relevant keys among the first `depth`, relative to the possible number; as `ndcg` if nothing is relevant."""
    if not relevant:
        return _rightly_empty(found)
    return len(relevant.keys() & {*_distinct(found)[:depth]}) / min(depth, len(relevant))


def mentioned(answer: str, facts: Sequence[str]) -> float:
    """The share of the facts that an answer mentions, ignoring markup."""
    text = _plain(answer)
    return sum(_plain(fact) in text for fact in facts) / len(facts) if facts else 1.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of `values` that at least `share` (0 to 1) of them do not exceed (nearest rank)."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _rightly_empty(found: Sequence[str]) -> float:
    return 0.0 if found else 1.0


def _distinct(found: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(found))


def _discounted(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))


def _plain(text: str) -> str:
    return text.replace("\\", "").replace("*", "").replace("-", "–").lower()
