"""What the contracts of all domains share."""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def _written_as_a_day(value: Any) -> Any:
    """A text of any other form, or a number, would be read as seconds since 1970."""
    if isinstance(value, datetime.date) or (isinstance(value, str) and _DAY.fullmatch(value)):
        return value
    raise ValueError("write the day as YYYY-MM-DD")


Day = Annotated[datetime.date, BeforeValidator(_written_as_a_day)]
"""A day that a client names: YYYY-MM-DD."""


class Request(BaseModel):
    """Base of what clients send: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class AggregationGroup(BaseModel):
    """A value, or the first day of a period, and how many rows have it."""

    value: str | int | float | bool | datetime.date
    count: int
