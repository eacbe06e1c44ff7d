"""Learns weights from answers, one question at a time: queries with the right results become likelier."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quarry.reader.candidates import Candidate, Candidates, candidates, text_of
from quarry.reader.features import DIMENSIONS, Bundle, index_of
from quarry.reader.reading import Ranked, Scored, by_both, by_linear
from tools.fit.pairs import Pair
from tools.fit.results import Denotation, Gold
from tools.fit.world import Database, World

STEP = 0.15
SHRINKING = 0.0005
LINE_MAX = 24
"""How many candidates of a question to save for the adapters."""
LINE_RIGHT_MAX = 3
"""How many additional right candidates to save."""
RUN_MAX = 60
"""How many of the best candidates to run."""
FIRST_WEIGHTS: Mapping[str, float] = {
    "covered": 3.0, "uncovered": -0.5, "hops": -0.5, "many": -0.3, "value:used": 1.5, "value=": 0.5, "base:named": 1.0,
    "base:unnamed": -0.5, "shown:named": 1.0, "shown:own": 0.5, "measured:named": 1.0, "number:named": 1.0, "by:named": 0.5,
    "order:named": 0.5, "blank:named": -0.5, "is_null": -2.0, "not_null": -2.0, "average": -1.5, "some": -1.0, "none": -1.0,
    "not": -1.0, "any": -0.5, "share": -1.0, "shown:2": -0.3, "shown:3": -0.6, "shown:4": -0.9,
}  # fmt: skip
"""Where fitting begins: what is named is likelier meant, and what is rare is not."""


@dataclass(frozen=True)
class Judged:
    """A pair with its ranked candidates, and which of them give the gold result."""

    pair: Pair
    ranked: Ranked
    right: Sequence[bool]
    wanted: Sequence[bool]
    """The right candidates that ask as the gold does: for distinct values or for rows, in its order or unordered."""
    is_known: bool
    """Whether there is a gold result."""

    @property
    def best(self) -> Candidate | None:
        return self.found.all[0] if self.found.all else None

    @property
    def found(self) -> Candidates:
        return self.ranked.candidates

    @property
    def probabilities(self) -> Sequence[float]:
        return self.ranked.probabilities

    @property
    def is_first_right(self) -> bool:
        return bool(self.right) and self.right[0]

    def by_both(self, read: Scored, linear_share: float) -> Judged:
        """The same pair, ranked by both stages."""
        ranked = by_both(self.found, read, linear_share)
        places = {id(each): place for place, each in enumerate(self.found.all)}
        order = [places[id(each)] for each in ranked.candidates.all]
        right, wanted = ([flags[place] for place in order] for flags in (self.right, self.wanted))
        return replace(self, ranked=ranked, right=right, wanted=wanted)


def first_weights() -> list[float]:
    """The weights before fitting."""
    weights = [0.0] * DIMENSIONS
    for name, value in FIRST_WEIGHTS.items():
        weights[index_of(name)] = value
    return weights


@dataclass(frozen=True)
class Lesson:
    """The changes to the weights that one pair suggests. `line` holds its candidates, for the adapters."""

    changes: Mapping[int, float]
    is_first_right: bool
    is_among: bool
    line: Mapping[str, Any] | None


class Learner:
    """Applies lessons to the weights (AdaGrad, Duchi et al. 2011), and shrinks them."""

    def __init__(self, weights: memoryview[float], *, is_new: bool) -> None:
        self.weights = weights
        self._squares = [1e-6 if is_new else 1.0] * DIMENSIONS

    def learn(self, lesson: Lesson) -> None:
        """Changes the weights."""
        weights, squares = self.weights, self._squares
        for place, change in lesson.changes.items():
            squares[place] += change * change
            weights[place] += STEP * change / math.sqrt(squares[place]) - SHRINKING * weights[place]


class Fit:
    """Reads pairs with weights that may change."""

    def __init__(self, world: World, weights: Sequence[float]) -> None:
        self.world = world
        self.weights = weights

    def judged(self, pair: Pair) -> Judged | None:
        """The candidates of a pair; None if its gold result cannot be compared."""
        database = self.world.database(pair.database)
        gold = database.gold(pair)
        if gold is None and (pair.sql or pair.query):
            return None
        before = self._found(database, pair, pair.previous).all[:1] if pair.previous else ()
        found = self._found(database, pair, pair.question, *before)
        right = _right(found.all, gold, lambda each: database.denotations(each.composed, pair.today))
        alike = [is_right and _asks_alike(each, pair) for each, is_right in zip(found.all, right, strict=True)]
        wanted = alike if any(alike) else right
        return Judged(pair, by_linear(found), right, wanted, gold is not None)

    def _found(self, database: Database, pair: Pair, text: str, before: Candidate | None = None) -> Candidates:
        return candidates(text, database.schema, database.values.meant(text), pair.today, self.weights, before)


def lesson_of(fit: Fit, pair: Pair) -> Lesson | None:
    """The changes that a pair suggests; None if its gold result cannot be compared."""
    judged = fit.judged(pair)
    if judged is None:
        return None
    line = line_of(judged) if judged.found.all else None
    is_among = any(judged.right)
    return Lesson(_changes(judged) if is_among else {}, judged.is_first_right, is_among, line)


def _changes(judged: Judged) -> dict[int, float]:
    """The gradient of the log probability of the wanted candidates."""
    good = [chance if wanted else 0.0 for chance, wanted in zip(judged.probabilities, judged.wanted, strict=True)]
    total = sum(good) or 1e-12
    by_bundle: dict[Bundle, float] = {}
    for each, chance, wanted in zip(judged.found.all, judged.probabilities, good, strict=True):
        change = wanted / total - chance
        if abs(change) > 1e-4:
            for bundle in each.bundles:
                by_bundle[bundle] = by_bundle.get(bundle, 0.0) + change
    changes: dict[int, float] = {}
    for bundle, change in by_bundle.items():
        if abs(change) > 1e-6:
            for place, value in bundle.features:
                changes[place] = changes.get(place, 0.0) + change * value
    return changes


def line_of(judged: Judged) -> dict[str, Any]:
    """A question with its first candidates, followed by right ones: each as text, with whether it is wanted."""
    texts: dict[str, bool] = {}
    for each, wanted in zip(judged.found.all, judged.wanted, strict=True):
        text = text_of(each.composed)
        texts[text] = texts.get(text, False) or wanted
    rows = [*texts.items()]
    kept = [*rows[:LINE_MAX], *[row for row in rows[LINE_MAX:] if row[1]][:LINE_RIGHT_MAX]]
    return {"question": judged.pair.question, "previous": judged.pair.previous or "", "candidates": kept}


def _right(
    found: Sequence[Candidate], gold: Gold | None, given: Callable[[Candidate], Sequence[tuple[int, Denotation]]]
) -> list[bool]:
    """Which candidates give the gold result: row by row if one does, otherwise as a set of rows."""
    if gold is None:
        return [False] * len(found)
    results: list[Sequence[tuple[int, Denotation]]] = []
    for place, each in enumerate(found):
        width = width_of(each)
        fits = place < RUN_MAX and gold.width in (width, width - len(each.composed.aside))
        results.append([one for one in given(each) if one[0] == gold.width] if fits else [])
    whole = [any(one.as_list == gold.own.as_list for _, one in each) for each in results]
    return whole if any(whole) else [any(one.as_set in gold.sets for _, one in each) for each in results]


def _asks_alike(each: Candidate, pair: Pair) -> bool:
    """Whether a candidate that returns rows asks for them as the gold statement does."""
    ask, sql = each.ask, (pair.sql or "").lower()
    if ask.kind not in ("rows", "distinct") or ask.is_first:
        return True
    _, is_ordered, by = sql.rpartition("order by")
    is_distinct = "distinct" in sql or '"group"' in (pair.query or "")
    if (ask.kind == "distinct") != is_distinct or (ask.direction is None) != (not is_ordered):
        return False
    return ask.direction is None or (ask.direction == "desc") == ("desc" in by.split())


def width_of(each: Candidate) -> int:
    """The number of columns of a candidate's result."""
    query = each.query
    return len(query.get("select", ())) or len(query.get("group", ())) + len(query.get("aggregate", ()))
