"""Whether a number follows from the rows of results by one operation: a sum, difference, share, ratio, change, average, median,
or days until today. Pure.
"""

from __future__ import annotations

import datetime
import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from quarry.verification.prose import Prose
from quarry.verification.tables import Table
from quarry.verification.values import Number
from quarry.verification.wording import english

NAMED_MAX = 8
"""Rows that are compared with one another."""
WHOLE_WITHIN = 0.02
"""A share that a result rounded gives a number of rows only so nearly."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class Derivation(NamedTuple):
    """What numbers may follow from: the rows that a statement names, those that a number is bound to, and other results."""

    table: Table
    others: Sequence[Table]
    prose: Prose
    named: Sequence[int]
    header: str
    today: datetime.date

    def gives(self, number: Number, rows: Sequence[int]) -> bool:
        """Whether a number follows. One of few digits does only where a word tells the operation."""
        wording, words = english(), self.prose.words | frozenset(self.header.lower().split())
        loose = self.prose.is_about(number)
        if number.is_percent or number.is_fraction:
            factor, values = (100.0 if number.is_percent else 1.0), self._shares(rows, words)
            return any(number.is_near(factor * value, loose=loose or number.is_fraction) for value in values)
        question_words = frozenset(self.prose.question.lower().split())
        kinds = {
            kind
            for kind in ("sums", "averages", "differences", "ratios", "days", "tops")
            if self.prose.is_foreign
            or wording.has(kind, words)
            or (kind in ("sums", "averages") and wording.has(kind, question_words))
        }
        if not number.is_small:
            kinds |= {"sums", "averages", "differences"}
        values = (value for kind in sorted(kinds) for value in self._of(kind, rows))
        if any(number.is_near(value, loose=loose) for value in values):
            return True
        if number.value in self._parts(rows):
            return True
        has_median = "median" in words or "median" in question_words
        return has_median and any(number.is_near(value) for value in self._medians())

    def _cells(self, place: int, rows: Iterable[int]) -> list[float]:
        cells = self.table.columns[place]
        return [cell for row in rows if (cell := cells[row]) is not None]

    def _of(self, kind: str, rows: Sequence[int]) -> Iterator[float]:
        match kind:
            case "sums" | "tops":
                for place in self.table.columns:
                    yield from self._sums(place)
            case "averages":
                yield from self._averages(rows)
            case "differences":
                yield from self._differences(rows)
            case "ratios":
                yield from self._ratios()
            case "days":
                yield from self._days(rows)

    def _parts(self, rows: Sequence[int]) -> Iterator[float]:
        """The numbers of rows that a row's share is of its other numbers: 2 of 16 are 12.5 %."""
        for row in rows[:NAMED_MAX]:
            own = [cell for cells in self.table.columns.values() if (cell := cells[row]) is not None]
            products = (one * two for one, two in permutations(own, 2) if 0 < one < 1 < two)
            yield from (float(round(each)) for each in products if abs(each - round(each)) <= WHOLE_WITHIN)

    def _ratios(self) -> Iterator[float]:
        for place in self.table.columns:
            named = self._cells(place, self.named[:NAMED_MAX])
            yield from (one / two for one, two in permutations(named, 2) if two)

    def _days(self, rows: Sequence[int]) -> Iterator[float]:
        """The days since the dates of rows."""
        cells = [cell for row in rows for cell in self.table.rows[row]]
        days = [cell for cell in cells if isinstance(cell, str) and _DAY.fullmatch(cell)]
        yield from (float((self.today - datetime.date.fromisoformat(day)).days) for day in days)

    def _sums(self, place: int) -> Iterator[float]:
        """All rows, those of one key, those that are named, the first ones, and three or six in a row for quarters and halves."""
        every = self._cells(place, range(len(self.table.rows)))
        yield sum(every)
        for holders in self.table.keys.values():
            for _, rows in holders:
                if 1 < len(rows) < len(self.table.rows):
                    yield sum(self._cells(place, rows))
        if len(self.named) > 1:
            yield sum(self._cells(place, self.named))
        if english().has("tops", self.prose.words):
            yield from (sum(every[:count]) for count in range(2, len(every)))
        if self.prose.words & {"quarter", "half"}:
            yield from (sum(every[at : at + size]) for size in (3, 6) for at in range(len(every) - size + 1))

    def _averages(self, rows: Sequence[int]) -> Iterator[float]:
        for place in self.table.columns:
            cells = self._cells(place, range(len(self.table.rows)))
            if len(cells) > 1:
                yield statistics.fmean(cells)
            if len(self.named) > 1 and (named := self._cells(place, self.named)):
                yield statistics.fmean(named)
        for row in rows[:NAMED_MAX]:
            own = [cell for cells in self.table.columns.values() if (cell := cells[row]) is not None]
            yield from (one / two for one, two in permutations(own, 2) if two and one > two)
        totals = [sum(self._cells(place, range(len(self.table.rows)))) for place in self.table.columns]
        yield from (one / two for one, two in permutations(totals, 2) if two and one > two)

    def _differences(self, rows: Sequence[int]) -> Iterator[float]:
        for place in self.table.columns:
            yield from (one - two for one, two in permutations(self._cells(place, self.named[:NAMED_MAX]), 2))
            for other in self.others:
                ours = self.table.singles or [sum(self._cells(place, range(len(self.table.rows))))]
                yield from (one - two for one in ours for two in other.singles)
        for row in rows[:NAMED_MAX]:
            own = [cell for cells in self.table.columns.values() if (cell := cells[row]) is not None]
            yield from (one - two for one, two in permutations(own, 2))
            yield from (one + two for one, two in permutations(own, 2))

    def _medians(self) -> Iterator[float]:
        for place in self.table.columns:
            for _, rows in (holder for holders in self.table.keys.values() for holder in holders):
                if cells := self._cells(place, rows):
                    yield statistics.median(cells)
            yield statistics.median(self._cells(place, range(len(self.table.rows))))

    def _shares(self, rows: Sequence[int], words: Iterable[str]) -> Iterator[float]:
        """Parts of their whole, and changes where a word says so: of the earlier, or of what is named behind."""
        wording, words = english(), frozenset(words)
        totals = [float(self.table.result.total), *(single for other in self.others for single in other.singles)]
        for place, cells in self.table.columns.items():
            sums = [*self._sums(place)]
            parts = [*self._cells(place, rows), *sums]
            for whole in (*sums, *totals, *self.table.singles):
                yield from (part / whole for part in parts if whole and 0 <= part <= whole)
            named = [cell for row in self.named[:NAMED_MAX] if (cell := cells[row]) is not None]
            yield from (one / two for one, two in permutations(named, 2) if two and one <= two)
            if wording.has("changes", words):
                yield from self._changes(place)
        for row in rows[:NAMED_MAX]:
            own = [cell for cells in self.table.columns.values() if (cell := cells[row]) is not None]
            yield from (one / two for one, two in permutations(own, 2) if two and 0 <= one <= two)

    def _changes(self, place: int) -> Iterator[float]:
        cells = self.table.columns[place]
        for one, two in permutations(self.named[:NAMED_MAX], 2):
            first, last = cells[one], cells[two]
            if first and last is not None and not self._is_later(one, two):
                yield last / first - 1
        ours = [*self.table.singles, sum(self._cells(place, range(len(self.table.rows))))]
        yield from (one / two - 1 for other in self.others for two in other.singles if two for one in ours)

    def _is_later(self, one: int, two: int) -> bool:
        """Whether a row is of a later time than another."""
        return any(
            str(a) > str(b)
            for a, b in zip(self.table.rows[one], self.table.rows[two], strict=True)
            if isinstance(a, str) and isinstance(b, str) and re.match(r"\d{4}", a) and re.match(r"\d{4}", b)
        )
