"""What is found: a set of campaigns with its exact counts, and the values that filters may take."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

from quarry.campaigns.contract import AGGREGATED, FILTER_VALUES, Aggregation, Campaign
from quarry.query.algebra import Condition
from quarry.query.contract import QueryResult

Counts = Mapping[str, int]

COUNTED = (*FILTER_VALUES, "offer")
"""The fields whose values are counted for each set."""

AGGREGATED_VALUES_MAX = 1_000
"""Of a set with more different values of one field there is no aggregation."""


@dataclass(frozen=True)
class CampaignSet:
    """What a search found: its first campaigns, and counts over all of them, however many there are.

    Of `more` than could be counted, `total` is how many there are at least. Where the values of fields were not counted, since
    there are too many campaigns, the set is not `is_counted`.
    """

    total: int
    campaigns: tuple[Campaign, ...]
    counts: Mapping[str, Counts] = field(default_factory=dict)
    """By field of COUNTED: campaigns for each value, most first; all
    values of what is AGGREGATED, where there are not more than AGGREGATED_VALUES_MAX, and the first ones of the others. Behind
    them stand those without a value, under the empty one.
    """
    others: Counts = field(default_factory=dict)
    """By field: campaigns for the values that `counts` leaves out, together."""

    more: bool = False
    is_counted: bool = True
    is_near_only: bool = False
    """Whether they come near a theme of which no campaign found holds a word."""

    @property
    def size(self) -> str:
        """How many there are, in words and figures that "campaigns" follows."""
        return f"at least {self.total:,}" if self.more else str(self.total)

    @property
    def aggregation(self) -> Aggregation | None:
        """The counts of all values; None where these are too many."""
        counts = {name: dict(self.counts.get(name, {})) for name in AGGREGATED}
        if any(len(values) > AGGREGATED_VALUES_MAX for values in counts.values()):
            return None
        return Aggregation.model_validate(counts)


NOTHING = CampaignSet(0, ())


@dataclass(frozen=True)
class KnownValues:
    """The values that exist, by filter, most frequent first, and the days of the first and the latest capture."""

    by_filter: Mapping[str, tuple[str, ...]]
    earliest: datetime.date | None = None
    latest: datetime.date | None = None

    def __bool__(self) -> bool:
        return any(self.by_filter.values())


@dataclass(frozen=True)
class Search:
    """One search that was made: the conditions that held, but for those of the page, and what was searched for: a theme by
    meaning, or words of the copy. `result` is that of a query.
    """

    tool: str
    conditions: tuple[Condition, ...]
    found: CampaignSet
    theme: str = ""
    words: str = ""
    result: QueryResult | None = None
