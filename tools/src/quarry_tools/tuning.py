"""Cross-validation of weights on judged queries. Pure: takes the score of each query's list under each option, and chooses.

Weights chosen on some queries are judged on others: each query is held out once, and ranked with the weights that did best on
the queries of the other folds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from quarry.platform.errors import QuarryError

Weights = Mapping[str, float]
"""By the names of their settings."""

FOLDS = 5


@dataclass(frozen=True)
class Scored:
    """The scores (0 to 1) of one query's list under each option, in the order of the options."""

    id: str
    kind: str
    by_option: Sequence[float]


@dataclass(frozen=True)
class Fold:
    """The queries held out together: the option that did best on all others, and its score on these.

    `present` is the score of the current weights on these.
    """

    queries: int
    option: int
    held_out: float
    present: float


@dataclass(frozen=True)
class CrossValidated:
    """`option` did best on all queries. `pairs` has the score of each query with the current weights, and held out."""

    option: int
    folds: Sequence[Fold]
    pairs: Sequence[tuple[float, float]]

    @property
    def present(self) -> float:
        return fmean(before for before, _ in self.pairs)

    @property
    def held_out(self) -> float:
        return fmean(now for _, now in self.pairs)


def cross_validate(queries: Sequence[Scored], *, present: int, folds: int = FOLDS) -> CrossValidated:
    """Chooses an option for each fold by the others, and one for all. On a tie, the current option, `present`, is chosen.

    The same queries in any order give the same folds, each with about the same number of every kind. Raises QuarryError if
    there are fewer queries than folds.
    """
    if not 2 <= folds <= len(queries):
        raise QuarryError(
            f"{folds} folds take 2 and at least as many judged queries with relevant results: {len(queries)}"
        )
    in_order = sorted(queries, key=lambda query: (query.kind, _shuffled(query.id)))
    parts = [in_order[number::folds] for number in range(folds)]
    chosen: list[Fold] = []
    pairs: list[tuple[float, float]] = []
    for number, held_out in enumerate(parts):
        option = best_option([query for other in parts if other is not parts[number] for query in other], present)
        own = [(query.by_option[present], query.by_option[option]) for query in held_out]
        chosen.append(Fold(len(own), option, fmean(now for _, now in own), fmean(before for before, _ in own)))
        pairs += own
    return CrossValidated(best_option(queries, present), chosen, pairs)


def best_option(queries: Sequence[Scored], present: int) -> int:
    """The option with the best mean; on a tie the current one, or else the first."""
    means = [fmean(values) for values in zip(*(query.by_option for query in sorted(queries, key=_id)), strict=True)]
    best = max(means)
    return present if means[present] == best else means.index(best)


def _id(query: Scored) -> str:
    return query.id


def _shuffled(id: str) -> str:
    """A sort key for an id that is unrelated to its position in a file."""
    return hashlib.sha256(id.encode()).hexdigest()
