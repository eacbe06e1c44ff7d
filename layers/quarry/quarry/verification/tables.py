"""The result of a query as evidence: its rows by their keys, where a text names these, and whether a number follows from rows by
one operation: a sum, difference, share, ratio, change, average, median, or days until today. Pure.
"""

from __future__ import annotations

import datetime
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, permutations
from typing import NamedTuple

from quarry.language.messages import writing
from quarry.language.writing import IN_ENGLISH, NO_VALUE, no_value
from quarry.platform.text import words
from quarry.query.contract import QueryResult
from quarry.schema.algebra import Cell, comparisons_of
from quarry.spans.numbers import converted, currency_code, dimension_of
from quarry.verification.passages import Passage, folded
from quarry.verification.prose import Prose
from quarry.verification.values import Number, english, read_values, usual_unit
from quarry.verification.wire import SourceText

ROWS_MAX = 500
"""Rows that are read."""
KEY_CHARACTERS_MAX = 80
BOUNDING = ("<", "<=", ">", ">=", "between")
FIRST_YEAR, LAST_YEAR = 1500, 2199
"""Whole numbers of a column that are all between these are years."""
_ISO = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d))?(?:[T ]\d\d:\d\d.*)?")
_QUARTER = re.compile(r"(\d{4})-Q(\d)")
_ORDINALS = ("first", "second", "third", "fourth")


class Mention(NamedTuple):
    """Where a text names a key, and the rows that have it in a column. One that is named elsewhere stands before the text."""

    start: int
    end: int
    column: int
    rows: frozenset[int]
    key: str


@dataclass
class Table:
    """A result, read when first needed."""

    result: QueryResult
    rows: Sequence[Sequence[Cell]] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = self.result.rows[:ROWS_MAX]

    @cached_property
    def labels(self) -> list[str]:
        return [each.label for each in self.result.columns]

    @cached_property
    def units(self) -> list[str | None]:
        """The columns' units by their usual words, or currencies' codes."""
        return [_unit_of(each.unit) for each in self.result.columns]

    @cached_property
    def columns(self) -> Mapping[int, list[float | None]]:
        """The columns of numbers by their places, and their cells."""
        columns = {}
        for place in range(len(self.labels)):
            cells = [_number(row[place]) for row in self.rows]
            if any(cell is not None for cell in cells):
                columns[place] = cells
        return columns

    @cached_property
    def years(self) -> Mapping[int, frozenset[int]]:
        """The columns of years by their places, and the years in them."""
        by_place = {place: {cell for cell in cells if cell is not None} for place, cells in self.columns.items()}
        return {
            place: frozenset(map(int, cells))
            for place, cells in by_place.items()
            if all(cell.is_integer() and FIRST_YEAR <= cell <= LAST_YEAR for cell in cells)
        }

    @cached_property
    def keys(self) -> Mapping[str, list[tuple[int, frozenset[int]]]]:
        """How texts write the keys of rows, in lower case, with the columns and rows that have them."""
        rows: dict[tuple[int, str], set[int]] = {}
        for number, row in enumerate(self.rows):
            for place, cell in enumerate(row):
                for each in cell if isinstance(cell, list) else [cell]:
                    key = NO_VALUE if each is None and place not in self.columns else each
                    key = str(each) if isinstance(each, int) and place in self.years else key
                    if isinstance(key, str) and 0 < len(key) <= KEY_CHARACTERS_MAX:
                        rows.setdefault((place, key), set()).add(number)
        keys: dict[str, list[tuple[int, frozenset[int]]]] = {}
        for (place, key), numbers in rows.items():
            for form in _forms(key):
                keys.setdefault(form, []).append((place, frozenset(numbers)))
        return keys

    @cached_property
    def keyed(self) -> list[int]:
        """The rows of groups that have a name."""
        empty = {row for place, rows in self.keys.get(NO_VALUE, []) if place == 0 for row in rows}
        return [row for row in range(len(self.rows)) if row not in empty] or [*range(len(self.rows))]

    @cached_property
    def text(self) -> Passage:
        """The words of the result."""
        days = ". ".join(each for each in chain.from_iterable(map(_flat, self.rows)) if isinstance(each, str))
        return Passage([SourceText(0, "", "\n".join([self.result.sentence, ". ".join(self.labels), days]))])

    def rows_about(self, passage: Passage) -> Passage:
        """The texts of the rows that tell something of a passage too: one of their cells stands in it, or is its date."""
        rows = ([each for each in _flat(row) if isinstance(each, str)] for row in self.rows)
        days = {f"{each.year}-{each.month:02}-{each.day:02}" for each in passage.days if each.month and each.day}
        about = (texts for texts in rows if any(each in days or folded(each) in passage.folded for each in texts))
        return Passage([SourceText(0, "", ". ".join(chain.from_iterable(about)))])

    @cached_property
    def bounds(self) -> frozenset[Cell]:
        """What its conditions compare numbers with: the 5 of "more than 5"."""
        conditions = (*self.result.query.where, *self.result.query.having)
        return frozenset(value for each in comparisons_of(conditions) if each.op in BOUNDING for value in each.scalars)

    @cached_property
    def text_numbers(self) -> list[tuple[frozenset[str], Sequence[Number]]]:
        """The stems and the numbers of each cell of text, and of each value of a condition, that has numbers."""
        cells = chain.from_iterable(map(_flat, self.rows))
        values = (each for condition in comparisons_of(self.result.query.where) for each in condition.scalars)
        texts = [each for each in dict.fromkeys((*cells, *values)) if isinstance(each, str)]
        parts = ((english().stems(each), read_values(each).numbers) for each in texts)
        return [(stems, numbers) for stems, numbers in parts if numbers]

    @cached_property
    def nameless(self) -> list[int]:
        """The rows without a value in their first column, which names the others."""
        return [number for number, row in enumerate(self.rows) if row and row[0] is None and 0 not in self.columns]

    @cached_property
    def singles(self) -> list[float]:
        """The numbers of a result of one row."""
        return [cells[0] for cells in self.columns.values() if cells[0] is not None] if len(self.rows) == 1 else []

    def mentions(self, text: str) -> list[Mention]:
        """Where a text names keys of rows, the longest at each place, in order."""
        low, candidates = text.lower().replace("’", "'"), list[Mention]()
        for form, holders in self.keys.items():
            at = low.find(form)
            while at >= 0:
                end = at + len(form)
                if _is_word(low, at, end):
                    candidates += [Mention(at, end, column, rows, form) for column, rows in holders]
                at = low.find(form, at + 1)
        longest: list[Mention] = []
        for each in sorted(candidates, key=lambda mention: mention.start - mention.end):
            crossing = (other for other in longest if other.start < each.end and each.start < other.end)
            if all((other.start, other.end) == (each.start, each.end) for other in crossing):
                longest.append(each)
        merged: dict[tuple[int, int], Mention] = {}
        for each in longest:
            place = (each.start, each.column)
            rows = merged[place].rows if place in merged else frozenset()
            merged[place] = each._replace(rows=each.rows | rows)
        return sorted(merged.values(), key=lambda mention: (mention.start, mention.column))

    def numbers_of(self, row: int) -> list[float]:
        """The numbers of a row."""
        return [cell for cells in self.columns.values() if (cell := cells[row]) is not None]

    def column_named(self, header: str) -> int | None:
        """The only column of numbers whose label shares words with a header."""
        stems = english().stems(header)
        shared = {place: len(stems & english().stems(self.labels[place])) for place in self.columns}
        best = max(shared.values(), default=0)
        places = [place for place, count in shared.items() if count == best]
        return places[0] if best and len(places) == 1 else None

    def cells(self, number: Number, rows: Sequence[int] | None = None) -> list[tuple[int, int]]:
        """The cells of these rows, else of all, by column and row, that a number may stand for."""
        rows = range(len(self.rows)) if rows is None else rows
        columns = self.columns.items()
        return [(place, row) for place, cells in columns for row in rows if self.is_cell(number, place, cells[row])]

    def is_cell(self, number: Number, place: int, cell: float | None, *, loose: bool = False) -> bool:
        """Whether a number may stand for a cell: rounded, a share as a percentage, in another unit."""
        if cell is None:
            return False
        label = self.labels[place].lower()
        if number.is_percent or number.is_fraction:
            factor = 100.0 if number.is_percent else 1.0
            is_labelled = "percent" in label
            is_near = number.is_near(factor * cell, loose=loose)
            return (abs(cell) <= 1 and is_near) or (is_labelled and (is_near or number.is_near(cell, loose=loose)))
        in_its_unit = self.in_unit_of(number, place, cell)
        return number.is_near(cell, loose=loose) or number.is_near(in_its_unit, loose=loose)

    def in_unit_of(self, number: Number, place: int, cell: float | None) -> float | None:
        """A cell of a column in the unit of a number; None where they do not measure the same."""
        unit = self.units[place]
        if not unit or not number.unit or not dimension_of(unit) or dimension_of(unit) != dimension_of(number.unit):
            return None
        return converted(cell, unit, number.unit)


def _flat(row: Sequence[Cell]) -> Iterator[Cell]:
    """The cells of a row; a list as its items."""
    return (each for cell in row for each in (cell if isinstance(cell, list) else [cell]))


def _unit_of(unit: str | None) -> str | None:
    return (currency_code(unit.lower()) or usual_unit(unit.lower()) or unit.lower()) if unit else None


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) else None


def date_number(cell: Cell) -> float | None:
    """A date, month or year in ISO form as a number that orders it; None for anything else."""
    match = _ISO.fullmatch(cell) if isinstance(cell, str) else None
    return float(match[1]) * 400 + float(match[2]) * 31 + float(match[3] or 0) if match else None


def _is_word(text: str, start: int, end: int) -> bool:
    before, behind = text[start - 1 : start], text[end : end + 1]
    if (
        before.isalnum()
        or behind.isalnum()
        or (before in ("-", ",", ".") and text[start].isdigit() and start > 1 and text[start - 2].isdigit())
    ):
        return False
    return not (text[start].isdigit() and behind in (".", ",", "-", ":") and text[end + 1 : end + 2].isdigit())


def _forms(key: str) -> list[str]:
    """How texts write a key: itself, a date in words, a period, a person's last name."""
    low = key.lower().replace("’", "'")
    forms = [*dict.fromkeys((low, no_value().lower()))] if key == NO_VALUE else [low]
    if "_" in low:
        forms.append(low.replace("_", " "))
    if match := _ISO.fullmatch(key):
        forms += _dates(int(match[1]), int(match[2]), int(match[3]) if match[3] else None)
    elif match := _QUARTER.fullmatch(key):
        ordinal = _ORDINALS[int(match[2]) - 1] if match[2] in "1234" else ""
        forms += [f"q{match[2]} {match[1]}", f"q{match[2]}", f"{ordinal} quarter of {match[1]}", f"{ordinal} quarter"]
    else:
        parts = key.split()
        is_name = 2 <= len(parts) <= 4 and all(part[:1].isupper() for part in (parts[0], parts[-1]))
        if is_name and parts[-1].isalpha() and len(parts[-1]) > 2:
            forms.append(parts[-1].lower())
    return forms


def _dates(year: int, month: int, day: int | None) -> list[str]:
    if not 1 <= month <= 12:
        return []
    name = IN_ENGLISH.months[month - 1].lower()
    try:
        date = datetime.date(year, month, day or 1)
    except ValueError:
        return []
    if day is None:
        return [f"{name} {year}", name, f"{name[:3]} {year}", writing().month_of(date).lower()]
    return [
        writing().date(date).lower(), f"{name} {day}, {year}", f"{name} {day}", f"{day} {name} {year}", f"{day} {name}",
        f"{day:02}.{month:02}.{year}", f"{name[:3]} {day}",
    ]  # fmt: skip


def says_money(table: Table) -> bool:
    """Whether a result names a currency anywhere."""
    terms = frozenset(words(table.result.sentence)) | {each.lower() for each in table.units if each}
    return any(currency_code(word) for word in terms) or any(sign in table.result.sentence for sign in "$€£¥₹")


NAMED_MAX = 8
"""Rows that are compared with one another."""
KINDS = ("sums", "averages", "differences", "ratios", "days", "tops")
"""The operations that words of English tell."""
WHOLE_WITHIN = 0.02
"""A share that a result rounded gives a number of rows only so nearly."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


class Derivation(NamedTuple):
    """What numbers may follow from: the rows that a statement names, those that a number is bound to, and other results."""

    table: Table
    others: Sequence[Table]
    prose: Prose
    named_rows: Sequence[int]
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
        kinds = {kind for kind in KINDS if self.prose.is_foreign or wording.has(kind, words)}
        kinds |= {kind for kind in ("sums", "averages") if wording.has(kind, question_words)}
        kinds |= set() if number.is_small else {"sums", "averages", "differences"}
        values = (value for kind in sorted(kinds) for value in self._of(kind, rows))
        if any(number.is_near(value, loose=loose) for value in values) or number.value in self._parts(rows):
            return True
        has_median = "median" in words or "median" in question_words
        return has_median and any(number.is_near(value) for value in self._medians())

    def _cells(self, place: int, rows: Iterable[int] | None = None) -> list[float]:
        """The numbers of a column, in some rows or in all."""
        cells = self.table.columns[place]
        values = cells if rows is None else [cells[row] for row in rows]
        return [cell for cell in values if cell is not None]

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
        products = (one * two for one, two in self._pairs(rows) if 0 < one < 1 < two)
        yield from (float(round(each)) for each in products if abs(each - round(each)) <= WHOLE_WITHIN)

    def _pairs(self, rows: Sequence[int]) -> Iterator[tuple[float, float]]:
        """Two numbers of one row."""
        return chain.from_iterable(permutations(self.table.numbers_of(row), 2) for row in rows[:NAMED_MAX])

    def _named_pairs(self, place: int) -> Iterator[tuple[float, float]]:
        """Two numbers of a column, of rows that are named."""
        return permutations(self._cells(place, self.named_rows[:NAMED_MAX]), 2)

    def _ratios(self) -> Iterator[float]:
        for place in self.table.columns:
            yield from (one / two for one, two in self._named_pairs(place) if two)

    def _days(self, rows: Sequence[int]) -> Iterator[float]:
        """The days since the dates of rows."""
        cells = [cell for row in rows for cell in self.table.rows[row]]
        days = [cell for cell in cells if isinstance(cell, str) and _DAY.fullmatch(cell)]
        yield from (float((self.today - datetime.date.fromisoformat(day)).days) for day in days)

    def _sums(self, place: int) -> Iterator[float]:
        """All rows, those of one key, those that are named, the first ones, and three or six in a row for quarters and halves."""
        every = self._cells(place)
        yield sum(every)
        for holders in self.table.keys.values():
            for _, rows in holders:
                if 1 < len(rows) < len(self.table.rows):
                    yield sum(self._cells(place, rows))
        if len(self.named_rows) > 1:
            yield sum(self._cells(place, self.named_rows))
        if english().has("tops", self.prose.words):
            yield from (sum(every[:count]) for count in range(2, len(every)))
        if self.prose.words & {"quarter", "half"}:
            yield from (sum(every[at : at + size]) for size in (3, 6) for at in range(len(every) - size + 1))

    def _averages(self, rows: Sequence[int]) -> Iterator[float]:
        for place in self.table.columns:
            cells = self._cells(place)
            if len(cells) > 1:
                yield statistics.fmean(cells)
            if len(self.named_rows) > 1 and (named_cells := self._cells(place, self.named_rows)):
                yield statistics.fmean(named_cells)
        yield from (one / two for one, two in self._pairs(rows) if two and one > two)
        totals = [sum(self._cells(place)) for place in self.table.columns]
        yield from (one / two for one, two in permutations(totals, 2) if two and one > two)

    def _differences(self, rows: Sequence[int]) -> Iterator[float]:
        for place in self.table.columns:
            yield from (one - two for one, two in self._named_pairs(place))
            for other in self.others:
                ours = self.table.singles or [sum(self._cells(place))]
                yield from (one - two for one in ours for two in other.singles)
        yield from (value for one, two in self._pairs(rows) for value in (one - two, one + two))

    def _medians(self) -> Iterator[float]:
        for place in self.table.columns:
            for _, rows in (holder for holders in self.table.keys.values() for holder in holders):
                if cells := self._cells(place, rows):
                    yield statistics.median(cells)
            yield statistics.median(self._cells(place))

    def _shares(self, rows: Sequence[int], words: Iterable[str]) -> Iterator[float]:
        """Parts of their whole, and changes where a word says so: of the earlier, or of what is named behind."""
        wording, words = english(), frozenset(words)
        totals = [float(self.table.result.total), *(single for other in self.others for single in other.singles)]
        for place in self.table.columns:
            sums = [*self._sums(place)]
            parts = [*self._cells(place, rows), *sums]
            for whole in (*sums, *totals, *self.table.singles):
                yield from (part / whole for part in parts if whole and 0 <= part <= whole)
            yield from (one / two for one, two in self._named_pairs(place) if two and one <= two)
            if wording.has("changes", words):
                yield from self._changes(place)
        yield from (one / two for one, two in self._pairs(rows) if two and 0 <= one <= two)

    def _changes(self, place: int) -> Iterator[float]:
        cells = self.table.columns[place]
        for one, two in permutations(self.named_rows[:NAMED_MAX], 2):
            first, last = cells[one], cells[two]
            if first and last is not None and not self._is_later(one, two):
                yield last / first - 1
        ours = [*self.table.singles, sum(self._cells(place))]
        yield from (one / two - 1 for other in self.others for two in other.singles if two for one in ours)

    def _is_later(self, one: int, two: int) -> bool:
        """Whether a row is of a later time than another."""
        return any(
            str(a) > str(b)
            for a, b in zip(self.table.rows[one], self.table.rows[two], strict=True)
            if isinstance(a, str) and isinstance(b, str) and re.match(r"\d{4}", a) and re.match(r"\d{4}", b)
        )
