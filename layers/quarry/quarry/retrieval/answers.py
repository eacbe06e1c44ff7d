"""What a searched table says to a question."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from quarry.spans.question import Ask, Function

Value = str | int | float | bool | datetime.date


@dataclass(frozen=True)
class Group:
    """A value, or the first day of a period, and how many rows have it. A row with several values counts for each. The value None
    is that of rows that have none, or a blank one.
    """

    value: Value | None
    rows: int
    measures: Mapping[str, float | None] = field(default_factory=dict)


def in_time(groups: Sequence[Group]) -> list[Group]:
    """Groups that are periods in the order of time; rows without a date come last."""
    return sorted(groups, key=lambda group: (group.value is None, str(group.value)))


def latest(groups: Sequence[Group], number: int) -> list[Group]:
    """The latest `number` of groups that are periods, in the order of time; rows without a date count as one of them."""
    return in_time(groups)[-number:]


@dataclass(frozen=True)
class Measure:
    """What is reckoned of a facet's values beside counting rows; None of rows without any."""

    function: Function
    facet: str

    @classmethod
    def named(cls, name: str) -> Measure:
        """That of its name, `sum:price`. Raises ValueError."""
        function, _, facet = name.partition(":")
        for known in get_args(Function):
            if function == known:
                return cls(known, facet)
        raise ValueError(f"{function!r} is none of {', '.join(get_args(Function))}")

    @property
    def name(self) -> str:
        return f"{self.function}:{self.facet}"


def measures_of(ask: Ask) -> tuple[Measure, ...]:
    """All that is reckoned, where something is; first what groups are ordered by."""
    if not (ask.function and ask.of):
        return ()
    return tuple(Measure(function, of) for function, of in dict.fromkeys([(ask.function, ask.of), *ask.also]))


@dataclass(frozen=True)
class Answer:
    """What a table says to a question. `rows` is how many rows meet the conditions; of `extreme`, how many share the value.

    `number` is the count, or how many different values or periods there are; `groups` as asked, those that tie with the last one
    too; `measures` are of all rows; `keys` are the rows asked for, or those with the lowest or highest `value`, by key.

    Groups add up: `grouped` is the sum of all their rows, shown or not. It equals `rows` unless rows are in several groups.
    """

    ask: Ask
    rows: int
    number: int | None = None
    groups: Sequence[Group] = ()
    group_count: int = 0
    """How many groups there are as asked, of which `groups` may hold but the first."""
    grouped: int = 0
    has_gaps: bool = False
    """Whether empty periods are left out, because there would be too many of them."""
    keys: Sequence[str] = ()
    value: Value | None = None
    values: Sequence[Value] = ()
    """Those of the rows in `keys`, where the lowest or highest are asked for."""
    measures: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def exists(self) -> bool:
        return self.rows > 0

    @property
    def is_overlapping(self) -> bool:
        """Whether rows are in several groups, which then add up to more than the rows."""
        return self.grouped > self.rows

    def left_out(self, told: Sequence[Group]) -> int:
        """The rows of the groups that are not among those `told`: with theirs they add up to `grouped`."""
        return self.grouped - sum(group.rows for group in told)


@dataclass(frozen=True)
class Standing:
    """Which clauses a row meets and misses, by their places; in words by `labels_of`."""

    meets: tuple[int, ...] = ()
    misses: tuple[int, ...] = ()


@dataclass(frozen=True)
class Relaxation:
    """How many rows there are without one of the clauses, `clauses[place]`."""

    place: int
    label: str
    rows: int
