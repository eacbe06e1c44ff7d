"""The calendar by which days, fiscal years and hours of work are counted."""

from __future__ import annotations

import datetime
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import ConfigDict, Field, field_validator, model_validator

from quarry.platform.contract import LazyModel
from quarry.platform.errors import ConfigurationError

MONTHS = 12
_DAYS = range(1, 8)
_CLOCK = r"^([01]\d|2[0-3]):[0-5]\d$"


class _Part(LazyModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class BusinessHours(_Part):
    """The hours of the week in which work is done: on `days`, of which 1 is Monday, from `start` to before `end`."""

    days: tuple[int, ...] = (1, 2, 3, 4, 5)
    start: str = Field(pattern=_CLOCK)
    end: str = Field(pattern=_CLOCK)

    @field_validator("days")
    @classmethod
    def _are_weekdays(cls, days: tuple[int, ...]) -> tuple[int, ...]:
        if not days or any(day not in _DAYS for day in days):
            raise ValueError("days are numbers from 1, Monday, to 7, Sunday")
        return tuple(sorted(set(days)))

    @model_validator(mode="after")
    def _has_hours(self) -> BusinessHours:
        if self.start >= self.end:
            raise ValueError("`start` is before `end`, as in 09:00 and 17:30")
        return self


class Calendar(_Part):
    """When a day begins, when a fiscal year does, and when work is done.

    `time_zone` is a name of the IANA database; without it, days are those of the database's session, and today is the day in
    UTC. `fiscal_year_start` is the month, 1 to 12, with which a fiscal year begins.
    """

    time_zone: str | None = None
    fiscal_year_start: int | None = Field(default=None, ge=1, le=MONTHS)
    business_hours: BusinessHours | None = None

    @property
    def today(self) -> datetime.date:
        """The day in its time zone. Raises ConfigurationError where this machine has no data of time zones."""
        return datetime.datetime.now(datetime.UTC if self.time_zone is None else _zone(self.time_zone)).date()

    @property
    def settings(self) -> dict[str, str]:
        """The setting of a session in which days are those of its time zone."""
        return {} if self.time_zone is None else {"TimeZone": self.time_zone}


@cache
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        raise ConfigurationError(
            f"This machine does not know the time zone {name}: install the package tzdata."
        ) from None
