"""Results of searches: a set of campaigns with exact counts, and the known values of filters."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

from quarry.campaigns.contract import AGGREGATED, FILTER_VALUES, Aggregation, Campaign
from quarry.query.contract import QueryResult
from quarry.schema.algebra import Condition

Counts = Mapping[str, int]

COUNTED = (*FILTER_VALUES, "offer")
"""The fields whose values are counted for each set."""

AGGREGATED_VALUES_MAX = 1_000
"""A set with more different values of a field has no aggregation."""


@dataclass(frozen=True)
class CampaignSet:
    """The result of a search: the first campaigns, and counts over all of them.

    With `more`, `total` is a lower bound. `is_counted` is false if there are too many campaigns to count the values of fields.
    """

    total: int
    campaigns: tuple[Campaign, ...]
    counts: Mapping[str, Counts] = field(default_factory=dict)
    """By field of COUNTED: campaigns for each value, most first. Fields in AGGREGATED have all values, up to
    AGGREGATED_VALUES_MAX; the others only the first ones. The empty value, last, stands for campaigns without one.
    """
    others: Counts = field(default_factory=dict)
    """By field: campaigns with values that `counts` leaves out."""

    more: bool = False
    is_counted: bool = True
    is_near_only: bool = False
    """Whether they are near a theme in meaning alone, without any of its words."""

    @property
    def size(self) -> str:
        """The number of campaigns in words: "at least 10,000"."""
        return f"at least {self.total:,}" if self.more else str(self.total)

    @property
    def aggregation(self) -> Aggregation | None:
        """The counts of all values; None if there are too many."""
        counts = {name: dict(self.counts.get(name, {})) for name in AGGREGATED}
        if any(len(values) > AGGREGATED_VALUES_MAX for values in counts.values()):
            return None
        return Aggregation.model_validate(counts)


NOTHING = CampaignSet(0, ())


@dataclass(frozen=True)
class KnownValues:
    """The known values of each filter, most frequent first, and the days of the first and the latest capture."""

    by_filter: Mapping[str, tuple[str, ...]]
    earliest: datetime.date | None = None
    latest: datetime.date | None = None

    def __bool__(self) -> bool:
        return any(self.by_filter.values())


@dataclass(frozen=True)
class Search:
    """One search: its conditions without those of the page, and a theme (by meaning) or words of the copy. `result` is set for a
    query.
    """

    tool: str
    conditions: tuple[Condition, ...]
    found: CampaignSet
    theme: str = ""
    words: str = ""
    result: QueryResult | None = None
