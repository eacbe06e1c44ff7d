"""What is found: a set of campaigns with its exact counts, and the values that filters may take."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from quarry.campaigns.contract import Aggregation, Campaign
from quarry.query.algebra import Condition
from quarry.query.contract import QueryResult
from quarry.retrieval.facets import folded_value

Counts = Mapping[str, int]

AGGREGATED = ("channel", "sentiment", "value_prop")
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
    """By field (channel, company, brand, value_prop, sentiment, visual_style, offer): campaigns for each value, most first; all
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


def aggregate(campaigns: Iterable[Campaign]) -> Aggregation:
    """The counts of these campaigns."""
    found = list(campaigns)
    return Aggregation(
        channel=_counts([each.channel] for each in found),
        sentiment=_counts([each.imagery_sentiment] for each in found),
        value_prop=_counts(each.key_value_props for each in found),
    )


def _counts(campaigns: Iterable[Sequence[str | None]]) -> dict[str, int]:
    """How many campaigns have each of their values, as groups are made by the database: by the most frequent spelling, those
    without one last, under the empty value.
    """
    counted, spelt = Counter[str](), dict[str, Counter[str]]()
    for values in campaigns:
        own = {folded_value(value): value.strip() for value in values if value is not None and folded_value(value)}
        counted.update(list(own) or [""])
        for folded, value in own.items():
            spelt.setdefault(folded, Counter())[value] += 1
    shown = {folded: min(each, key=lambda value: (-each[value], value)) for folded, each in spelt.items()}
    named = {shown.get(folded, ""): number for folded, number in counted.items()}
    return dict(sorted(named.items(), key=lambda item: (not item[0], -item[1], item[0])))


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
