"""What the clauses of a question say of campaigns, as a Query says it and in words. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import replace

from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.sources import SOURCES
from quarry.platform.errors import FieldError, InvalidInput
from quarry.query import algebra, worded
from quarry.query.of_question import condition_of
from quarry.query.phrases import Phrases
from quarry.query.schema import Schema
from quarry.spans.mention import DateRange
from quarry.spans.question import Clause, Condition

NAME = "campaigns"
SOURCE = SOURCES[NAME]
SCHEMA = Schema(SOURCES)
NO_DAY = datetime.date.min
"""The day that relative days count from: the clauses of a question name no such days."""
PHRASES = Phrases(SCHEMA, SOURCE, NO_DAY)


def conditions_of(clauses: Iterable[Clause]) -> tuple[algebra.Condition, ...]:
    """The conditions that say the same. Raises InvalidInput for too many values or months."""
    return tuple(map(_condition, clauses))


def _condition(clause: Clause) -> algebra.Condition:
    said = condition_of(clause, CAMPAIGNS, SOURCE)
    if said is None:
        raise _too_much()
    return said


def _too_much() -> InvalidInput:
    message = "so many values, words or months cannot be asked for at once: name fewer"
    return InvalidInput([FieldError("/constraints", message)])


def within(clauses: Iterable[Clause], first: datetime.date | None, last: datetime.date | None) -> tuple[Clause, ...]:
    """The clauses, with months of any year as those between the first and the last day that campaigns have."""
    return tuple(tuple(_bounded(condition, first, last) for condition in clause) for clause in clauses)


def _bounded(condition: Condition, first: datetime.date | None, last: datetime.date | None) -> Condition:
    days = condition.range
    if not isinstance(days, DateRange) or not days.months:
        return condition
    return replace(condition, range=replace(days, first=days.first or first, last=days.last or last))


def label_of(clause: Clause) -> str:
    """A clause in words that can follow "campaigns": "on Email". Raises InvalidInput as `conditions_of` does."""
    [label] = _worded([clause])
    return label


def labels(clauses: Sequence[Clause]) -> str:
    """Clauses in words that follow "campaigns". Raises InvalidInput as `conditions_of` does."""
    return "".join(f" {label}" for label in _worded(clauses))


def _worded(clauses: Sequence[Clause]) -> list[str]:
    try:
        return worded.labels(CAMPAIGNS, clauses)
    except ValueError as error:
        raise _too_much() from error
