"""A model's search held to what the question says: dates that it invents are dropped, conditions that it misses are added."""

from __future__ import annotations

import datetime
from dataclasses import replace

from quarry.core.query.mention import DateRange
from quarry.records.reading import RecordsReading

Dates = tuple[datetime.date | None, datetime.date | None]


def guarded(query: str, dates: Dates, reading: RecordsReading) -> tuple[RecordsReading, Dates]:
    """The question's conditions on what is searched for by `query`, and those of the model's dates that the question bears out.

    Where the question's own dates are conditions, they say it better than the model's.
    """
    held = replace(reading, words=query)
    are_conditions = any(isinstance(condition.range, DateRange) for clause in reading.clauses for condition in clause)
    are_said = any(isinstance(mention.value, DateRange) for mention in reading.parsed.mentions)
    return held, dates if are_said and not are_conditions else (None, None)
