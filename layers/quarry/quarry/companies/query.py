"""A company question as hard conditions, evidence that adds weight, and the text left for hybrid search. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from quarry.companies.contract import STATUSES
from quarry.companies.facets import STATUS
from quarry.platform.contract import Evidence
from quarry.query.algebra import Comparison, Condition, Query, comparisons_of

CONDITIONS_MAX = 12
"""So many conditions must hold, and as many each are assumed, preferred or tags."""
EXCLUDED_MAX = 12
"""So many words or phrases that are ruled out are looked for."""
COUNT_MAX = 20

STARTUPS = Comparison(field=STATUS, values=("startup",))


@dataclass(frozen=True)
class TagGroup:
    """What words of the question are filed under: any of `conditions`. `is_demanded`: they likely say what the companies are."""

    name: str
    conditions: tuple[Comparison, ...]
    is_demanded: bool = False

    def values(self, field: str) -> frozenset[str]:
        return frozenset(str(value) for each in self.conditions if each.field == field for value in each.scalars)


@dataclass(frozen=True)
class Sought:
    """What is sought.

    `stated` conditions must hold; `assumed` ones hold as long as something meets them: those that the question may say, and that
    startups are meant where no status is named. `tags` and what is `preferred` speak for a company, and rule none out. `excluded`
    are words that no company may hold. `topic` is what is to be found by words and by meaning, `words` its stems. `is_plain`:
    tags make it up. `missing` are places that no company is in. `asks` is the query for a number or groups, where one was asked
    for. `has_more`: there are more conditions than are looked at together.
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
    has_more: bool = False

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What every company must meet."""
        return (*self.stated, *self.assumed)

    @property
    def demands(self) -> tuple[Condition, ...]:
        """What the question says or may say of every company."""
        return (*self.stated, *self.guesses)

    @property
    def guesses(self) -> tuple[Condition, ...]:
        """What the question may say, the likeliest first."""
        return tuple(each for each in self.assumed if each != STARTUPS)

    @property
    def is_stated(self) -> bool:
        """Whether conditions say which companies are meant: more than that startups are."""
        return bool(self.demands or self.excluded)

    def guessed(self, statuses: Sequence[str]) -> Sought:
        """The same with a model's choice of the statuses instead of startups, where nothing says more."""
        known = tuple(status for status in STATUSES if status in {each.strip().lower() for each in statuses})
        if not known or STARTUPS not in self.assumed:
            return self
        guess = Comparison(field=STATUS, values=known)
        return replace(self, assumed=tuple(guess if each == STARTUPS else each for each in self.assumed))

    def relaxed(self) -> Sought:
        """The same without one thing that was only assumed: what the question may say, least likely first, then that startups are
        meant.
        """
        left_out = self.guesses[-1] if self.guesses else STARTUPS
        return replace(self, assumed=tuple(each for each in self.assumed if each != left_out))

    def bounded(self) -> Sought:
        """The same with each condition once, and with no more of them than are looked at together."""
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
    """What is assumed besides: startups are meant where no status is named."""
    return () if any(STATUS in fields_of(each) for each in stated) else (STARTUPS,)


def _once(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(dict.fromkeys(conditions))


def fields_of(condition: Condition) -> set[str]:
    """The fields that a condition is about."""
    return {each.field for each in comparisons_of((condition,))}
