"""How likely the first candidate is right, from databases that no weight was fitted to, and from when on it is given."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quarry.reader.learned import NEVER, Thresholds
from quarry.reader.reading import known_of
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
Rated = tuple[float, bool]
"""How likely a reading is right, and whether it is."""
PASSES = 400
STEP = 0.3
SHRINKING = 0.002


@dataclass(frozen=True)
class Seen:
    """A reading of a database that weights were not fitted to: what is known about it, and whether it is right."""

    kind: str
    known: Mapping[str, float]
    is_right: bool


def seen_of(judged: Judged) -> Seen | None:
    """What a judged pair shows; None of one that has no candidates."""
    if judged.best is None:
        return None
    return Seen(judged.best.kind, known_of(judged.found, judged.probabilities), judged.is_first_right)


def coefficients_of(seen: Sequence[Seen]) -> dict[str, float]:
    """A logistic regression of being right, by gradient steps over all readings."""
    found: dict[str, float] = defaultdict(float)
    squares: dict[str, float] = defaultdict(lambda: 1e-6)
    for _ in range(PASSES):
        changes: dict[str, float] = defaultdict(float)
        for each in seen:
            missed = each.is_right - chance_of(found, each)
            for name, value in each.known.items():
                changes[name] += missed * value / len(seen)
        for name, change in changes.items():
            change -= SHRINKING * found[name] * (name != "always")
            squares[name] += change * change
            found[name] += STEP * change / math.sqrt(squares[name])
    return dict(found)


def chance_of(coefficients: Mapping[str, float], seen: Seen) -> float:
    """How likely a reading is right."""
    score = sum(coefficients.get(name, 0.0) * value for name, value in seen.known.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))


def thresholds_of(coefficients: Mapping[str, float], seen: Sequence[Seen]) -> dict[str, Thresholds]:
    """The thresholds by the kind of answer: its own where it was seen often, else that of all, where that holds for it too."""
    by_kind: dict[str, list[Rated]] = defaultdict(list)
    for each in seen:
        by_kind[each.kind].append((chance_of(coefficients, each), each.is_right))
    common = _confident([rated for of_kind in by_kind.values() for rated in of_kind])
    return {kind: Thresholds(_of_kind(rated, common), DOUBTED) for kind, rated in sorted(by_kind.items())}


def _of_kind(rated: list[Rated], common: float) -> float:
    if len(rated) < SEEN_MIN:
        return NEVER
    above = [is_right for chance, is_right in rated if chance >= common]
    holds = not above or sum(above) / len(above) >= PRECISION
    own = _confident(rated) if len(rated) >= SEEN_OFTEN_MIN else NEVER
    return min(own, common if holds else NEVER)


def _confident(rated: list[Rated]) -> float:
    """The lowest chance above which so many readings are right as must be."""
    threshold, right = NEVER, 0
    for place, (chance, is_right) in enumerate(sorted(rated, reverse=True), 1):
        right += is_right
        if place >= SURE_MIN and right / place >= PRECISION and chance >= LEAST:
            threshold = chance
    return threshold
