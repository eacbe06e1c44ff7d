"""A question as the Query that it most likely is, with how likely that is right. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from quarry.query.algebra import Query, Span
from quarry.query.schema import Schema
from quarry.reader.candidates import Candidate, Candidates, candidates
from quarry.reader.constraints import vetoes
from quarry.reader.learned import Learned
from quarry.reader.pair_model import PairModel
from quarry.reader.ranking import by_both, by_linear, explained, pair_scores_of
from quarry.reader.said import Said
from quarry.reader.values import ValueLink

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
