"""What a judged query demands of every result, checked against the result's own fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Names = Annotated[list[Name], Field(min_length=1, max_length=500)]


def _compilable(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from error
    return pattern


@dataclass(frozen=True)
class Facts:
    """The fields of a row that demands can check; None and empty mean unknown. `text` is all its words."""

    status: str | None = None
    country: str | None = None
    city: str | None = None
    year: int | None = None
    staff: int | None = None
    tags: Sequence[str] = ()
    niches: Sequence[str] = ()
    text: str = ""


class Demands(BaseModel):
    """Demands that every result must meet, all of them.

    Of a list, one value must match, ignoring case; of a `not_` list, none may. Bounds are inclusive. An unknown value meets no
    demand and violates no negation. `not_text` is a case-insensitive regular expression that name, texts and tags must not
    match.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    status: Names | None = None
    country: Names | None = None
    not_country: Names | None = None
    city: Names | None = None
    not_city: Names | None = None
    year_min: int | None = None
    year_max: int | None = None
    staff_min: int | None = None
    staff_max: int | None = None
    tag: Names | None = None
    not_tag: Names | None = None
    niche: Names | None = None
    not_text: Annotated[str, StringConstraints(min_length=1, max_length=2000), AfterValidator(_compilable)] | None = (
        None
    )

    def are_met_by(self, facts: Facts) -> bool:
        """Whether a row meets all of them."""
        return (
            _among(self.status, [facts.status])
            and _among(self.country, [facts.country])
            and _none_of(self.not_country, [facts.country])
            and _among(self.city, [facts.city])
            and _none_of(self.not_city, [facts.city])
            and _within(facts.year, self.year_min, self.year_max)
            and _within(facts.staff, self.staff_min, self.staff_max)
            and _among(self.tag, facts.tags)
            and _none_of(self.not_tag, facts.tags)
            and _among(self.niche, facts.niches)
            and not (self.not_text and re.search(self.not_text, facts.text, re.IGNORECASE))
        )


def _among(wanted: Sequence[str] | None, values: Iterable[str | None]) -> bool:
    return wanted is None or bool(_plain(wanted) & _plain(values))


def _none_of(unwanted: Sequence[str] | None, values: Iterable[str | None]) -> bool:
    return unwanted is None or not _plain(unwanted) & _plain(values)


def _within(value: int | None, least: int | None, most: int | None) -> bool:
    if least is None and most is None:
        return True
    return value is not None and (least is None or value >= least) and (most is None or value <= most)


def _plain(values: Iterable[str | None]) -> set[str]:
    return {value.casefold() for value in values if value}
