"""What the words of a question mean in the data, as it was looked up for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quarry.core.query.mention import KnownValue


@dataclass(frozen=True)
class ValueMatch:
    """The words `first` to `last` (not included) of the question may mean `value`."""

    first: int
    last: int
    value: KnownValue


@dataclass(frozen=True)
class Vocabulary:
    """The matches of one question, in no order; they may overlap."""

    matches: Sequence[ValueMatch] = ()
