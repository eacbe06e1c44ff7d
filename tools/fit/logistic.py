"""A logistic regression with L2, by Newton's method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

PASSES = 25


def logistic_regression(
    rows: Sequence[Mapping[str, float]],
    right: Sequence[bool],
    names: Sequence[str],
    *,
    shrinking: float,
    counts: Sequence[float] | None = None,
) -> dict[str, float]:
    """The weight of each feature in the log odds that a row is `right`. The feature "always" is not shrunk. `counts` says how
    often each row counts; once by default.
    """
    x = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    y = np.array(right, dtype=float)
    often = np.ones(len(rows)) if counts is None else np.array(counts)
    shrunk = np.array([shrinking * (name != "always") + 1e-6 for name in names])
    found = np.zeros(len(names))
    for _ in range(PASSES):
        likely = 1 / (1 + np.exp(-x @ found))
        slope = x.T @ (often * (likely - y)) + shrunk * found
        curve = (x * (often * likely * (1 - likely))[:, None]).T @ x + np.diag(shrunk)
        found -= np.linalg.solve(curve, slope)
    return dict(zip(names, found.tolist(), strict=True))
