"""The probability that the first candidate is right, from databases not used for fitting, and the thresholds for giving it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quarry.reader.features import chance_of
from quarry.reader.learned import NEVER, Calibration, Thresholds
from tools.fit.training import Judged

PRECISION = 0.92
"""The share of confident answers that must be right, on the databases for calibration."""
DOUBTED = 0.3
"""Less likely answers are not given."""
LEAST = 0.7
"""Less likely answers are never confident."""
SEEN_MIN = 12
"""Kinds of answer with fewer readings are never confident."""
SEEN_OFTEN_MIN = 40
"""Kinds with at least this many readings have their own threshold."""
SURE_MIN = 6
"""The fewest answers that must be above a threshold."""
FOLDS = 5
"""Databases are rated by what was learned from the other folds."""
Chance = tuple[float, bool]
"""The probability that a reading is right, and whether it is."""
PASSES = 400
STEP = 0.3
SHRINKING = 0.005


@dataclass(frozen=True)
class Seen:
    """A reading on a database not used for fitting: the kind of answer, the known properties, and whether it is right.

    `question` and `language` are those of the pair; `right` are flags of all candidates.
    """

    kind: str
    known: Mapping[str, float]
    is_right: bool
    database: str = ""
    question: str = ""
    language: str = ""
    right: Sequence[bool] = ()


Rated = Sequence[tuple[Seen, float]]
"""Readings with their probabilities of being right."""


def seen_of(judged: Judged) -> Seen:
    """The reading of a judged pair."""
    kind = judged.best.kind if judged.best else ""
    pair, right = judged.pair, tuple(judged.right)
    return Seen(kind, judged.ranked.properties, judged.is_first_right, pair.database, pair.kind, pair.language, right)


def calibration_of(seen: Sequence[Seen]) -> Calibration:
    """The probabilities that readings are right, and the thresholds for giving them."""
    read = [each for each in seen if each.known]
    return Calibration(coefficients_of(read), thresholds_of(rated_by_others(read)))


def rated_by_others(seen: Sequence[Seen]) -> Rated:
    """Each reading with its probability by coefficients fitted without its own database, as for a new database."""
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
    """The thresholds by kind of answer: its own if it was seen often, otherwise the common one, if that holds for it too."""
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
    """The lowest probability above which the required share of readings is right."""
    threshold, right = NEVER, 0
    for place, (chance, is_right) in enumerate(sorted(rated, reverse=True), 1):
        right += is_right
        if place >= SURE_MIN and right / place >= PRECISION and chance >= LEAST:
            threshold = chance
    return threshold
