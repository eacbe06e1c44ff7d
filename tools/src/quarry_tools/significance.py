"""The role of chance in a mean over judged queries. Pure: the same numbers in any order give the same figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

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
    drawn = np.concatenate(
        [
            pairs[:, random.integers(pairs.shape[1], size=(size, pairs.shape[1]))].sum(axis=2)
            for size in _chunks(RESAMPLES)
        ],
        axis=1,
    )
    drawn = drawn[:, drawn[1] > 0]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn[0] / drawn[1], [tail, 1 - tail])
    return min(float(low), share), max(float(high), share)


def randomisation_p(differences: Sequence[float]) -> float:
    """How likely a mean difference at least as far from 0 is if which of each pair came first were chance: the paired
    randomisation test, two-sided.

    Exact up to EXACT_PAIRS_MAX pairs that differ; beyond, of SIGN_CHANGES random changes, what was observed counted among them.
    """
    given = np.array(differences, dtype=float)
    sizes = np.sort(np.abs(given[given != 0]))
    if not sizes.size:
        return 1.0
    # the order of summation changes the last digits
    reached = abs(given.sum()) - 1e-9 * sizes.sum()
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
