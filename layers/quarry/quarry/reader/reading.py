"""A question as the Query that it most likely is, with how likely that is right. Pure but for the model."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import ValidationError

from quarry.language.tokens import runs
from quarry.query.algebra import Query, Span
from quarry.query.schema import Schema
from quarry.reader.candidates import Candidate, Candidates, candidates, text_of
from quarry.reader.constraints import vetoes
from quarry.reader.features import softmax
from quarry.reader.learned import PAIRS_MAX, Learned, PairModel, first_text
from quarry.reader.said import Said, ValueLink

LOGIT_MAX = 6.0
COUNTED_MAX = 4
SCORE_MAX = 10.0


@dataclass(frozen=True)
class Ranked:
    """Candidates, best first, each with its probability among all. `known` is what the chance of the first is made of;
    `pair_scores` are those of the second stage, none where the first ranked alone.
    """

    found: Candidates
    probabilities: Sequence[float]
    pair_scores: Sequence[float]
    known: Mapping[str, float]


@dataclass(frozen=True)
class PairScores:
    """The first candidates, of those in the same words the best one, each with its score by the pair model."""

    candidates: Sequence[Candidate]
    scores: Sequence[float]


def by_linear(found: Candidates) -> Ranked:
    """Candidates ranked by the linear stage alone."""
    probabilities = softmax([each.score for each in found.all])
    return Ranked(found, probabilities, (), _known(found, probabilities) if found.all else {})


def pair_scores_of(found: Candidates, previous: str, pairs: PairModel) -> PairScores:
    """Have the pair model read the first candidates."""
    texts: dict[str, Candidate] = {}
    for each in found.all:
        if len(texts) == PAIRS_MAX:
            break
        texts.setdefault(text_of(each.composed), each)
    scores = pairs.scores(first_text(found.said.text, previous), [*texts]) if texts else []
    return PairScores([*texts.values()], scores)


def by_both(found: Candidates, read: PairScores, linear_share: float) -> Ranked:
    """The candidates that the pair model read, ranked by its score and a share of the linear one.

    "None of these" is one more, with score 0, so that the probabilities of all candidates add up to less than 1.
    """
    if not read.candidates:
        return by_linear(found)
    first, alone = found.all[0], softmax([each.score for each in found.all])
    sums = [
        score + linear_share * (each.score - first.score)
        for each, score in zip(read.candidates, read.scores, strict=True)
    ]
    *chances, _ = softmax([*sums, 0.0])
    rows = sorted(zip(chances, read.scores, read.candidates, strict=True), key=lambda row: -row[0])
    ranked = replace(found, all=[each for _, _, each in rows])
    probabilities, pair_scores = [chance for chance, _, _ in rows], [score for _, score, _ in rows]
    best = ranked.all[0]
    known = {
        **_known(ranked, probabilities),
        "pair": max(-SCORE_MAX, min(SCORE_MAX, pair_scores[0])),
        "linear": _logit(alone[found.all.index(best)]),
        "agreed": float(best is first),
    }
    return Ranked(ranked, probabilities, pair_scores, known)


def _known(found: Candidates, probabilities: Sequence[float]) -> dict[str, float]:
    """What is known about the first candidate, by which its chance is calibrated."""
    first, said = found.all[0], found.said
    rows = _rows_of(first)
    alike = sum(chance for each, chance in zip(found.all, probabilities, strict=True) if _rows_of(each) == rows)
    second = probabilities[1] if len(probabilities) > 1 else 1e-6
    return {
        "always": 1.0,
        "logit": _logit(probabilities[0]),
        "alike": _logit(alike),
        "margin": min(LOGIT_MAX, math.log(max(probabilities[0], 1e-6) / max(second, 1e-6))),
        "uncovered": float(min(COUNTED_MAX, (said.alignable & ~first.mask).bit_count())),
        "unread": float(min(COUNTED_MAX, len(said.unread(first.mask | said.alignable, explained(found))))),
        "vetoed": float(min(COUNTED_MAX, len(vetoes(said, first.mask)))),
        "tests": float(min(COUNTED_MAX, len(first.conditions.tests))),
        "words": len(said.tokens) / 10,
        f"kind:{first.kind}": 1.0,
    }


def _rows_of(each: Candidate) -> tuple[object, ...]:
    """Which rows a candidate is about and how many it gives: what is alike where only the fields that are shown differ."""
    parts = ("source", "where", "having", "order", "limit")
    numbers = () if each.kind in ("rows", "extreme") else ("group", "aggregate")
    return each.kind, *map(each.query.get, (*parts, *numbers))


def explained(found: Candidates) -> set[str]:
    """The words for which the first candidate was chosen."""
    return found.clues.explained(set(found.all[0].bundles))


def _logit(chance: float) -> float:
    most = min(max(chance, 1e-6), 1 - 1e-6)
    return max(-LOGIT_MAX, min(LOGIT_MAX, math.log(most / (1 - most))))


Verdict = Literal["confident", "doubted", "refused"]


@dataclass(frozen=True)
class Reading:
    """What a question was read as. `query` is None where nothing can be asked; `chance` is how likely it is right, `unread` the
    words that say something and are in no part of it.
    """

    said: Said
    query: Query | None
    verdict: Verdict
    chance: float
    unread: Sequence[str]
    best: Sequence[tuple[Candidate, float]]
    """The best candidates, each with its probability among all."""
    pair_scores: Sequence[float] = ()
    """Those of the second stage, in the same order; none where the linear stage read alone."""

    @property
    def shares(self) -> list[tuple[Candidate, float]]:
        """The best candidates, each with its share of the probability that one of them is right."""
        every = sum(chance for _, chance in self.best) or 1.0
        return [(candidate, chance / every) for candidate, chance in self.best]


def read_question(
    text: str,
    schema: Schema,
    links: Sequence[ValueLink],
    today: datetime.date,
    learned: Learned,
    before: Reading | None = None,
    pairs: PairModel | None = None,
) -> Reading:
    """Read a question about the sources of a schema; its words may mean these values, and it may go on from the one `before`.
    Without a pair model the linear stage reads alone.
    """
    previous = before.best[0][0] if before and before.best else None
    composed = candidates(text, schema, links, today, learned.weights, previous)
    if pairs is None:
        ranked = by_linear(composed)
    else:
        read = pair_scores_of(composed, before.said.text if before and previous else "", pairs)
        ranked = by_both(composed, read, learned.linear_share)
    found = ranked.found
    best = list(zip(found.all, ranked.probabilities, strict=True))
    query = _query(found) if best else None
    if query is None:
        return Reading(found.said, None, "refused", 0.0, found.said.unread(0), ())
    first = best[0][0]
    calibration = learned.calibration(has_pairs=pairs is not None)
    chance = calibration.chance(ranked.known)
    limits = calibration.thresholds_of(first.kind)
    verdict: Verdict = (
        "confident" if chance >= limits.confident else "doubted" if chance >= limits.doubted else "refused"
    )
    if verdict == "confident" and vetoes(found.said, first.mask):
        verdict = "doubted"
    return Reading(found.said, query, verdict, chance, unread_of(found), best, ranked.pair_scores)


def unread_of(found: Candidates) -> list[str]:
    """The words that no part of the first candidate reads: values and numbers first."""
    said, first = found.said, found.all[0]
    return list(dict.fromkeys((*vetoes(said, first.mask), *said.unread(first.mask, explained(found)))))


def _query(found: Candidates) -> Query | None:
    """The first candidate that is a whole Query, which must be the best one."""
    first = found.all[0]
    try:
        return Query.model_validate({**first.query, "spans": list(_spans(found.said, first))})
    except ValidationError:
        return None


def _spans(said: Said, first: Candidate) -> Iterator[dict[str, Any]]:
    """The characters that say the conditions, and what is asked."""
    parts = {"where": first.conditions.evidence.mask, "source": first.ask.evidence.mask}
    for part, mask in parts.items():
        if part == "where" and "where" not in first.query:
            continue
        for place, last in runs(mask):
            start, end = said.tokens[place].start, said.tokens[last - 1].end
            yield Span(pointer=f"/{part}", start=start, end=end).model_dump()
