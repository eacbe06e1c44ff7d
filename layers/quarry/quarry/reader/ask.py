"""What a question asks for: which fields, counts or groups of a source. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from quarry.reader.features import Features
from quarry.reader.names import FieldName, LinkName, SourceName
from quarry.schema.algebra import Direction, Function, Period

Kind = Literal["rows", "distinct", "count", "count_distinct", "numbers", "groups", "share"]


@dataclass(frozen=True, eq=False)
class Ask:
    """What is asked of the rows of `base`.

    rows, distinct   the fields `shown`, sorted by `order`; only the first rows if `is_first`
    count, share     the number of rows; their share of all rows
    count_distinct   the number of different values of the field `shown`
    numbers          `functions` of `shown`: one per field, or several of one field
    groups           rows grouped by `shown` and `period`: `functions` of `measured`, or the count; sorted if `direction` is set
    `related` is the link to the rows that are counted, to sort rows by their number.
    """

    kind: Kind
    base: SourceName
    evidence: Features
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
        """Whether it asks for the values of one field, which several rows may share."""
        if self.kind not in ("distinct", "count_distinct") or len(self.shown) != 1:
            return False
        [each] = self.shown
        return each in self.base.columns and not (each.is_key or each.is_date or each is self.base.title)

    @property
    def is_one_number(self) -> bool:
        """Whether it asks for one number over the rows."""
        return self.kind == "count" or (self.kind == "numbers" and len(self.functions) == 1)

    @cached_property
    def fields(self) -> tuple[FieldName, ...]:
        """All fields it needs."""
        return (*self.shown, *[each for each in (self.order, self.measured) if each])
