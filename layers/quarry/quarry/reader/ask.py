"""What a question asks of the rows of a source. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from quarry.query.algebra import Direction, Function, Period
from quarry.reader.features import Evidence
from quarry.reader.names import FieldName, LinkName, SourceName

Kind = Literal["rows", "distinct", "count", "count_distinct", "numbers", "groups", "each", "share"]


@dataclass(frozen=True, eq=False)
class Ask:
    """What is asked of the rows of `base`.

    rows, distinct   the fields `shown`, by `order`, the first ones where `is_first`
    count, share     how many rows; which part of all
    count_distinct   how many different values of the one that is `shown`
    numbers          `functions` of `shown`, one each, or several of one
    groups           rows by `shown`, and by `period`: `functions` of `measured`, else how many; by that number where `direction`
    each             `shown` with the number of related rows, by that number where `direction`
    `related` is the link to the rows that are counted for the order of rows, and for `each`.
    """

    kind: Kind
    base: SourceName
    evidence: Evidence
    shown: tuple[FieldName, ...] = ()
    order: FieldName | None = None
    direction: Direction | None = None
    is_first: bool = False
    functions: tuple[Function, ...] = ()
    measured: FieldName | None = None
    period: Period | None = None
    related: LinkName | None = None

    @property
    def is_of_values(self) -> bool:
        """Whether it asks for the values of one field that several rows may have."""
        if self.kind not in ("distinct", "count_distinct") or len(self.shown) != 1:
            return False
        [each] = self.shown
        return each in self.base.columns and not (each.is_key or each.is_date or each is self.base.title)

    @property
    def fields(self) -> Iterator[FieldName]:
        """All fields that it needs."""
        yield from self.shown
        yield from (each for each in (self.order, self.measured) if each)
