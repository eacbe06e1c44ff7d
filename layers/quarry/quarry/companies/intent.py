"""What a question seeks: hard conditions, preferences, and the text for hybrid search. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from quarry.companies.facets import STATUS
from quarry.companies.tables import STATUSES
from quarry.platform.contract import Evidence
from quarry.schema.algebra import Comparison, Condition, Query, comparisons_of

CONDITIONS_MAX = 12
"""The most stated conditions; and the most assumed ones, preferred ones and tags."""
EXCLUDED_MAX = 12
"""The most words or phrases that are excluded."""
COUNT_MAX = 20

STARTUPS = Comparison(field=STATUS, values=("startup",))


@dataclass(frozen=True)
class TagGroup:
    """Tags that words of the question may name: any of `conditions`. `is_demanded`: the companies likely must have one."""

    name: str
    conditions: tuple[Comparison, ...]
    is_demanded: bool = False

    def values(self, field: str) -> frozenset[str]:
        return frozenset(str(value) for each in self.conditions if each.field == field for value in each.scalars)


@dataclass(frozen=True)
class CompanyIntent:
    """What a question seeks.

    `stated` conditions must hold. `assumed` ones are dropped if no company meets them: guesses at what the question says, and the
    status `startup` if it names none. `tags` and `preferred` conditions raise the rank of a company. No company may contain the
    `excluded` words. `topic` is the text to find by words and meaning, `words` its stems. `is_plain`: the topic consists of tags.
    `missing` are places without companies. `asks` is the query if the question asks for a number or groups, and `is_sure` whether
    it was surely read so. `has_more`: some conditions are over the limit.
    """

    stated: tuple[Condition, ...] = ()
    assumed: tuple[Condition, ...] = ()
    tags: tuple[TagGroup, ...] = ()
    preferred: tuple[Condition, ...] = ()
    excluded: tuple[str, ...] = ()
    topic: str = ""
    words: tuple[str, ...] = ()
    is_plain: bool = False
    count: int | None = None
    missing: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    asks: Query | None = None
    is_sure: bool = False
    has_more: bool = False

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that every company must meet."""
        return (*self.stated, *self.assumed)

    @property
    def demands(self) -> tuple[Condition, ...]:
        """The conditions that the question states or may state."""
        return (*self.stated, *self.guesses)

    @property
    def guesses(self) -> tuple[Condition, ...]:
        """The conditions that the question may state, likeliest first."""
        return tuple(each for each in self.assumed if each != STARTUPS)

    @property
    def is_stated(self) -> bool:
        """Whether the question limits the companies by more than their status."""
        return bool(self.demands or self.excluded)

    def guessed(self, statuses: Sequence[str]) -> CompanyIntent:
        """The same with the model's statuses, if the question states none."""
        known = tuple(status for status in STATUSES if status in {each.strip().lower() for each in statuses})
        if not known or STARTUPS not in self.assumed:
            return self
        guess = Comparison(field=STATUS, values=known)
        return replace(self, assumed=tuple(guess if each == STARTUPS else each for each in self.assumed))

    def relaxed(self) -> CompanyIntent:
        """The same with one assumed condition less: the least likely guess, and last the status."""
        left_out = self.guesses[-1] if self.guesses else STARTUPS
        return replace(self, assumed=tuple(each for each in self.assumed if each != left_out))

    def bounded(self) -> CompanyIntent:
        """The same with each condition once, within the limits."""
        once = replace(self, stated=_once(self.stated), assumed=_once(self.assumed), preferred=_once(self.preferred))
        kept = replace(
            once,
            stated=once.stated[:CONDITIONS_MAX],
            assumed=once.assumed[:CONDITIONS_MAX],
            preferred=once.preferred[:CONDITIONS_MAX],
            tags=once.tags[:CONDITIONS_MAX],
            excluded=once.excluded[:EXCLUDED_MAX],
        )
        return replace(kept, has_more=kept != once)


def assumed(stated: Sequence[Condition]) -> tuple[Condition, ...]:
    """The assumed status: `startup`, if no condition is on the status."""
    return () if any(STATUS in fields_of(each) for each in stated) else (STARTUPS,)


def _once(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(dict.fromkeys(conditions))


def fields_of(condition: Condition) -> set[str]:
    """The fields that a condition compares."""
    return {each.field for each in comparisons_of((condition,))}
