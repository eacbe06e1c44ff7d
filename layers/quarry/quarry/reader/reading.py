"""A question as the Query that it most likely is, with how likely that is right. Pure."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from quarry.query.algebra import Query, Span
from quarry.query.schema import Schema
from quarry.reader.candidates import Candidate, Candidates, candidates
from quarry.reader.constraints import vetoes
from quarry.reader.learned import Learned
from quarry.reader.said import Said
from quarry.reader.values import ValueLink

Verdict = Literal["confident", "doubted", "refused"]
LOGIT_MAX = 6.0
COUNTED_MAX = 4


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


def read_question(
    text: str,
    schema: Schema,
    links: Sequence[ValueLink],
    today: datetime.date,
    learned: Learned,
    before: Reading | None = None,
) -> Reading:
    """Read a question about the sources of a schema; its words may mean these values, and it may go on from the one `before`."""
    previous = before.best[0][0] if before and before.best else None
    found = candidates(text, schema, links, today, learned.weights, previous)
    probabilities = softmax([each.score for each in found.all])
    best = list(zip(found.all, probabilities, strict=True))
    query = _query(found) if best else None
    if query is None:
        return Reading(found.said, None, "refused", 0.0, found.said.unread(0), ())
    first = best[0][0]
    chance = learned.chance(known_of(found, probabilities))
    limits = learned.thresholds_of(first.kind)
    verdict: Verdict = (
        "confident" if chance >= limits.confident else "doubted" if chance >= limits.doubted else "refused"
    )
    if verdict == "confident" and vetoes(found.said, first.mask):
        verdict = "doubted"
    return Reading(found.said, query, verdict, chance, unread_of(found), best)


def unread_of(found: Candidates) -> list[str]:
    """The words that no part of the first candidate reads: values and numbers first."""
    said, first = found.said, found.all[0]
    return list(dict.fromkeys((*vetoes(said, first.mask), *said.unread(first.mask, _explained(found)))))


def _explained(found: Candidates) -> set[str]:
    return found.clues.explained(set(found.all[0].bundles))


def known_of(found: Candidates, probabilities: Sequence[float]) -> Mapping[str, float]:
    """What is known about the first candidate, by which its chance is calibrated."""
    first, said = found.all[0], found.said
    most = min(max(probabilities[0], 1e-6), 1 - 1e-6)
    second = probabilities[1] if len(probabilities) > 1 else 1e-6
    return {
        "always": 1.0,
        "logit": max(-LOGIT_MAX, min(LOGIT_MAX, math.log(most / (1 - most)))),
        "margin": min(LOGIT_MAX, math.log(most / max(second, 1e-6))),
        "uncovered": float(min(COUNTED_MAX, (said.alignable & ~first.mask).bit_count())),
        "unread": float(min(COUNTED_MAX, len(said.unread(first.mask | said.alignable, _explained(found))))),
        "vetoed": float(min(COUNTED_MAX, len(vetoes(said, first.mask)))),
        "tests": float(min(COUNTED_MAX, len(first.conditions.tests))),
        "words": len(said.tokens) / 10,
        f"kind:{first.kind}": 1.0,
    }


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
        place = 0
        while mask >> place:
            if mask >> place & 1:
                last = place
                while mask >> last & 1:
                    last += 1
                yield Span(
                    pointer=f"/{part}", start=said.tokens[place].start, end=said.tokens[last - 1].end
                ).model_dump()
                place = last
            place += 1


def softmax(scores: Sequence[float]) -> list[float]:
    """Scores as probabilities."""
    if not scores:
        return []
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]
