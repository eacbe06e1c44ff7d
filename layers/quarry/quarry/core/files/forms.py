"""How the values of one column are written: what keeps a column of text from being one of numbers or dates, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from quarry.core.files.value_types import ColumnType
from quarry.core.files.writing import DateOrder, Decimals, date_in, plain_number

Sort = Literal["number", "date", "other"]

TEXTS_KEPT = 3
"""So many different texts among numbers or dates are named."""
PROSE_FROM = 100
"""So many values are looked at before a column in which few are numbers or dates is left alone."""
NEARLY = 2 / 3
"""A column is nearly of numbers, or of dates, where this share of its values is."""


@dataclass(frozen=True)
class Form:
    """One way to write: which decimals, or orders of day and month, it can be read with."""

    sort: Sort
    worded: str
    reads: frozenset[Decimals | DateOrder] = frozenset()


_PLAIN = Form("number", "without decimals", frozenset({".", ","}))
_DECIMAL = Form("number", "with a decimal point", frozenset({"."}))
_ISO = Form("date", "as YYYY-MM-DD", frozenset({"dmy", "mdy"}))
_OTHER = Form("other", "")


def form_of(text: str) -> Form:
    """How a text that is no plain number or date is written."""
    numbers: dict[Decimals, str | None] = {".": plain_number(text, "."), ",": plain_number(text, ",")}
    if decimals := frozenset(each for each, number in numbers.items() if number is not None):
        is_same = numbers["."] == numbers[","]
        return Form("number", _with_decimals(decimals, is_same=is_same), decimals)
    orders: tuple[DateOrder, ...] = ("dmy", "mdy")
    if read := frozenset(order for order in orders if date_in(text, order) is not None):
        worded = "in one of two orders" if len(read) == 2 else f"as {_ORDERS[next(iter(read))]}"
        return Form("date", worded, frozenset(read))
    return _OTHER


_ORDERS: dict[str, str] = {"dmy": "day, month, year", "mdy": "month, day, year"}


def _with_decimals(decimals: frozenset[Decimals], *, is_same: bool) -> str:
    if len(decimals) == 2:
        return "with signs or spaces" if is_same else "with a comma or point that may be either"
    return "with a decimal point" if "." in decimals else "with a decimal comma"


@dataclass
class _Tally:
    first: str
    place: str
    count: int = 0


@dataclass
class Forms:
    """The ways in which a column's values are written, each with its first value and that one's place."""

    values: int = 0
    _tallies: dict[Form, _Tally] = field(default_factory=dict)
    _texts: dict[str, None] = field(default_factory=dict)

    @property
    def is_prose(self) -> bool:
        """Whether it is plain by now that nobody takes the column for numbers or dates."""
        return self.values >= PROSE_FROM and 2 * self._count("other") > self.values

    def add(self, value: object, types: set[ColumnType], place: str) -> None:
        """Take in a value, which may be one of these types."""
        if self.is_prose:
            return
        self.values += 1
        text = str(value)
        form = _plain_form(text, types) or form_of(text)
        tally = self._tallies.setdefault(form, _Tally(text, place))
        tally.count += 1
        if form is _OTHER and len(self._texts) <= TEXTS_KEPT:
            self._texts[text] = None

    def remark(self) -> str:
        """What stands in the way of numbers or dates, and what to do; empty where the column is neither for the most part."""
        for sort in ("number", "date"):
            if not self.is_prose and self.values and self._count(sort) >= NEARLY * self.values:
                return f"{'; '.join(self._ways(sort))}: {self._advice(sort)}"
        return ""

    def _count(self, sort: Sort) -> int:
        return sum(tally.count for form, tally in self._tallies.items() if form.sort == sort)

    def _ways(self, sort: Sort) -> Iterator[str]:
        for form, tally in sorted(self._tallies.items(), key=lambda each: (each[0].sort != sort, -each[1].count)):
            sorts = "text" if form.sort == "other" else form.sort
            worded = f"{tally.count:,} {sorts if tally.count == 1 else f'{sorts}s'} {form.worded}".rstrip()
            yield f"{worded} (first {_shown(tally.first)}, {tally.place})"

    def _advice(self, sort: Sort) -> str:
        of_sort = [form.reads for form in self._tallies if form.sort == sort]
        reads = frozenset.intersection(*of_sort)
        options = []
        if not reads:
            return "write them all in one way"
        if any(form not in (_PLAIN, _DECIMAL, _ISO) for form in self._tallies if form.sort == sort):
            option = "--decimal" if sort == "number" else "--dates"
            options.append(f"{option} {' or '.join(sorted(reads, reverse=True))}")
        others = [form for form in self._tallies if form.sort != sort]
        tells_apart = any(character.isdigit() for text in self._texts for character in text)
        if others and (others != [_OTHER] or tells_apart or len(self._texts) > TEXTS_KEPT):
            return "kept as text"
        options += [f"--empty {text!r}" for text in self._texts]
        return f"{' '.join(options)} reads them as {sort}s" if options else "kept as text"


def _plain_form(text: str, types: set[ColumnType]) -> Form | None:
    if "bigint" in types:
        return _PLAIN
    if "numeric" in types:
        return _DECIMAL
    return _ISO if "date" in types or "timestamptz" in types else None


def _shown(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
