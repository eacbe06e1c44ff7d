"""The quality of a ranked list according to a judgement: the usual measures of retrieval, from 0 (worst) to 1 (best).

`ranked` are keys, best first; `relevant` has the grade (1 to 3) of every relevant key. And the role of chance in a mean over
queries: the same numbers in any order give the same figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

DEPTH = 10
"""How far most people read a list."""

DEEP = 100
"""How far a reader goes who wants everything, or a model that reranks."""

FIRST = 5
"""How many results are visible without scrolling."""


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Normalised discounted cumulative gain at DEPTH, gain 2^grade − 1 (Järvelin and Kekäläinen 2002; Burges et al. 2005).

    If nothing is relevant: 1 if nothing was found, else 0.
    """
    if not relevant:
        return _rightly_empty(ranked)
    ideal = _discounted(sorted(relevant.values(), reverse=True)[:DEPTH])
    return _discounted([relevant.get(key, 0) for key in _distinct(ranked)[:DEPTH]]) / ideal


def recall(ranked: Sequence[str], relevant: Mapping[str, int], depth: int = DEPTH) -> float:
    """The share of the relevant keys among the first `depth`; as `ndcg` if nothing is relevant.

    The maximum is below 1 if more than `depth` are relevant.
    """
    if not relevant:
        return _rightly_empty(ranked)
    return len(relevant.keys() & {*_distinct(ranked)[:depth]}) / len(relevant)


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, int]) -> float:
    """1 / the rank of the first relevant key, 0 if none is among the first DEPTH; as `ndcg` if nothing is relevant."""
    if not relevant:
        return _rightly_empty(ranked)
    first = _distinct(ranked)[:DEPTH]
    return next((1 / place for place, key in enumerate(first, start=1) if key in relevant), 0.0)


def success(ranked: Sequence[str], relevant: Mapping[str, int]) -> float:
    """1 if a relevant key is among the FIRST, else 0; as `ndcg` if nothing is relevant."""
    if not relevant:
        return _rightly_empty(ranked)
    return float(not relevant.keys().isdisjoint(_distinct(ranked)[:FIRST]))


def precision(ranked: Sequence[str], relevant: Mapping[str, int], depth: int) -> float:
    """The share of relevant keys among the first `depth`, relative to the possible number; as `ndcg` if nothing is relevant."""
    if not relevant:
        return _rightly_empty(ranked)
    return len(relevant.keys() & {*_distinct(ranked)[:depth]}) / min(depth, len(relevant))


def mentioned(answer: str, facts: Sequence[str]) -> float:
    """The share of the facts that an answer mentions, ignoring markup."""
    text = _plain(answer)
    return sum(_plain(fact) in text for fact in facts) / len(facts) if facts else 1.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of `values` that at least `share` (0 to 1) of them do not exceed (nearest rank)."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _rightly_empty(ranked: Sequence[str]) -> float:
    return 0.0 if ranked else 1.0


def _distinct(ranked: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranked))


def _discounted(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))


def _plain(text: str) -> str:
    return text.replace("\\", "").replace("*", "").replace("-", "–").lower()


CONFIDENCE = 0.95
RESAMPLES = 2_000
SIGN_CHANGES = 10_000
EXACT_PAIRS_MAX = 13
"""Up to this many differing pairs, every change of signs is tried."""

_SEED = 1979
_CHUNK = 500
"""Draws at a time, so that memory grows only with the number of queries."""


def bootstrap_interval(counts: Sequence[float], of: Sequence[float] | None = None) -> tuple[float, float]:
    """The 95 % interval of Σ counts / Σ of (1 each by default), by percentiles over queries drawn with replacement.

    The share itself is always inside. Raises ValueError for empty input.
    """
    pairs = np.array([counts, [1.0] * len(counts) if of is None else of], dtype=float)
    pairs = pairs[:, np.lexsort(pairs)]
    if not pairs.size or pairs[1].sum() <= 0:
        raise ValueError("there is nothing to draw from")
    share = float(pairs[0].sum() / pairs[1].sum())
    random = np.random.default_rng(_SEED)
    resamples = np.concatenate(
        [
            pairs[:, random.integers(pairs.shape[1], size=(size, pairs.shape[1]))].sum(axis=2)
            for size in _chunks(RESAMPLES)
        ],
        axis=1,
    )
    resamples = resamples[:, resamples[1] > 0]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resamples[0] / resamples[1], [tail, 1 - tail])
    return min(float(low), share), max(float(high), share)


def randomisation_p(differences: Sequence[float]) -> float:
    """How likely a mean difference at least as far from 0 is if which of each pair came first were chance: the paired
    randomisation test, two-sided.

    Exact up to EXACT_PAIRS_MAX pairs that differ; beyond, of SIGN_CHANGES random changes, what was observed counted among them.
    """
    values = np.array(differences, dtype=float)
    sizes = np.sort(np.abs(values[values != 0]))
    if not sizes.size:
        return 1.0
    # the order of summation changes the last digits
    reached = abs(values.sum()) - 1e-9 * sizes.sum()
    if sizes.size <= EXACT_PAIRS_MAX:
        changes = (np.arange(2**sizes.size)[:, None] >> np.arange(sizes.size)) & 1
        return float(np.mean(_sums(changes, sizes) >= reached))
    random = np.random.default_rng(_SEED)
    as_far = sum(
        int(np.count_nonzero(_sums(random.integers(2, size=(size, sizes.size)), sizes) >= reached))
        for size in _chunks(SIGN_CHANGES)
    )
    return (1 + as_far) / (1 + SIGN_CHANGES)


def _sums(changes: NDArray[np.int64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.abs((2 * changes - 1) @ sizes)


def _chunks(total: int) -> Iterator[int]:
    for begin in range(0, total, _CHUNK):
        yield min(_CHUNK, total - begin)
