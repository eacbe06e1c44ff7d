"""How likely the first candidate is right, from databases that no weight was fitted to, and from when on it is given."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quarry.reader.features import chance_of
from quarry.reader.learned import NEVER, Calibration, Thresholds
from tools.fit.training import Judged

PRECISION = 0.92
"""The share of answers without doubt that are right, on the databases that chances are calibrated on."""
DOUBTED = 0.3
"""An answer that is less likely right is not given."""
LEAST = 0.7
"""No answer that is less likely right is without doubt."""
SEEN_MIN = 12
"""Of a kind of answer that was seen less often, none is without doubt."""
SEEN_OFTEN_MIN = 40
"""A kind that was seen so often has a threshold of its own."""
SURE_MIN = 6
"""So many answers are above a threshold at least."""
FOLDS = 5
"""Databases are rated by what was learned of those in the other folds."""
Chance = tuple[float, bool]
"""How likely a reading is right, and whether it is."""
PASSES = 400
STEP = 0.3
SHRINKING = 0.005


@dataclass(frozen=True)
class Seen:
    """A reading of a database that no weight was fitted to: the kind of answer, what is known, and whether it is right.

    `question` and `language` are of the pair; `right` are flags of all candidates.
    """

    kind: str
    known: Mapping[str, float]
    is_right: bool
    database: str = ""
    question: str = ""
    language: str = ""
    right: Sequence[bool] = ()


Rated = Sequence[tuple[Seen, float]]
"""Readings, each with how likely it is right."""


def seen_of(judged: Judged) -> Seen:
    """What a judged pair shows."""
    kind = judged.best.kind if judged.best else ""
    pair, right = judged.pair, tuple(judged.right)
    return Seen(kind, judged.ranked.known, judged.is_first_right, pair.database, pair.kind, pair.language, right)


def calibration_of(seen: Sequence[Seen]) -> Calibration:
    """How likely readings are right, and from when on they are given."""
    read = [each for each in seen if each.known]
    return Calibration(coefficients_of(read), thresholds_of(rated_by_others(read)))


def rated_by_others(seen: Sequence[Seen]) -> Rated:
    """Each reading with its chance by coefficients that its own database had no part in, as it will be for a new one."""
    folds: list[list[Seen]] = [[] for _ in range(FOLDS)]
    for place, database in enumerate(dict.fromkeys(each.database for each in seen)):
        folds[place % FOLDS] += [each for each in seen if each.database == database]
    rated: list[tuple[Seen, float]] = []
    for fold in folds:
        coefficients = coefficients_of([each for other in folds if other is not fold for each in other])
        rated += [(each, chance_of(coefficients, each.known)) for each in fold]
    return rated


def coefficients_of(seen: Sequence[Seen]) -> dict[str, float]:
    """A logistic regression of being right, by gradient steps over all readings."""
    found: dict[str, float] = defaultdict(float)
    squares: dict[str, float] = defaultdict(lambda: 1e-6)
    for _ in range(PASSES):
        changes: dict[str, float] = defaultdict(float)
        for each in seen:
            missed = each.is_right - chance_of(found, each.known)
            for name, value in each.known.items():
                changes[name] += missed * value / len(seen)
        for name, change in changes.items():
            change -= SHRINKING * found[name] * (name != "always")
            squares[name] += change * change
            found[name] += STEP * change / math.sqrt(squares[name])
    return dict(found)


def thresholds_of(rated: Rated) -> dict[str, Thresholds]:
    """The thresholds by the kind of answer: its own where it was seen often, else that of all, where that holds for it too."""
    by_kind: dict[str, list[Chance]] = defaultdict(list)
    for each, chance in rated:
        by_kind[each.kind].append((chance, each.is_right))
    common = _confident([chance for of_kind in by_kind.values() for chance in of_kind])
    return {kind: Thresholds(_of_kind(chances, common), DOUBTED) for kind, chances in sorted(by_kind.items())}


def _of_kind(rated: list[Chance], common: float) -> float:
    if len(rated) < SEEN_MIN:
        return NEVER
    above = [is_right for chance, is_right in rated if chance >= common]
    holds = not above or sum(above) / len(above) >= PRECISION
    own = _confident(rated) if len(rated) >= SEEN_OFTEN_MIN else NEVER
    return min(own, common if holds else NEVER)


def _confident(rated: list[Chance]) -> float:
    """The lowest chance above which so many readings are right as must be."""
    threshold, right = NEVER, 0
    for place, (chance, is_right) in enumerate(sorted(rated, reverse=True), 1):
        right += is_right
        if place >= SURE_MIN and right / place >= PRECISION and chance >= LEAST:
            threshold = chance
    return threshold
