"""What is wrong with a statement by the result of a query: numbers of other rows, arithmetic, units, names, order. Pure."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product, takewhile

from quarry.language.messages import gettext, writing
from quarry.language.word_forms import STOP_WORDS, stem
from quarry.platform.text import words
from quarry.spans.numbers import CURRENCIES, currency_code
from quarry.verification.passages import Finding, display_name, folded, has_name, names_in
from quarry.verification.prose import PLAUSIBLE_BELOW, Prose
from quarry.verification.tables import Derivation, Mention, Table, date_number, says_money
from quarry.verification.values import Number, blanked, english, read_values

_CLAUSE = re.compile(r"[;:]\s|,\s(?=but\b|while\b|and\b)")
_COMMA = re.compile(r"[;:,(]\s?(?!\d)")
_ORDINAL = re.compile(r"\b(?:(?P<second>second|2nd)|third|3rd)[ -]$")
_WORD = re.compile(r"[^\W\d_]+")
_AGGREGATES = frozenset({"median", "average", "mean", "total", "sum"})
_DERIVED = frozenset({"share", "median", "net", "growth", "change", "per", "total", "difference", "days"})
"""Words of a table's cell or column that say that its number is reckoned from others."""
ROWS_NAMED_MAX = 12
WORDS_BESIDE_MAX = 3
"""How far from a number the word stands that tells what it is."""
SEQUENCE_MIN, SEQUENCE_ROWS_MAX = 3, 60
"""As many numbers in a row are those of a column by no chance, if they begin in one of its first rows."""
MODES = ("before", "order", "behind")
"""How the numbers of a clause may follow its keys."""


@dataclass
class RowCheck:
    """A statement read against one result. `header` is that of its column, `lead` what introduces it."""

    prose: Prose
    table: Table
    others: Sequence[Table]
    header: str = ""
    lead: str = ""
    today: datetime.date = datetime.date.min
    is_cell: bool = False
    listed: int = 0
    """How many items the answer lists."""

    def __post_init__(self) -> None:
        table, prose = self.table, self.prose
        self.text = prose.outside
        self.mentions = table.mentions(prose.text)
        self.unnamed = blanked(prose.outside, [(each.start, each.end) for each in self.mentions])
        self.values = read_values(self.unnamed)
        far = table.mentions(self.header) + (table.mentions(self.lead) if not self.mentions else [])
        if not self.mentions and not far:
            far = table.mentions(prose.before)
        self.far = [each._replace(start=-9, end=-8) for each in far]
        self.named_rows = sorted({row for each in (*self.mentions, *self.far) for row in each.rows})[:ROWS_NAMED_MAX]
        self.derivation = Derivation(table, self.others, prose, self.named_rows, self.header, self.today)

    @property
    def is_spoken_of(self) -> bool:
        """Whether the statement names a row, or its numbers are of the result."""
        return bool(self.mentions or self.prose.is_foreign or (self.values.numbers and not self._unexplained()))

    def finding(self, in_sources: Callable[[tuple[str, ...]], bool]) -> Finding:
        """What is wrong."""
        finding = Finding()
        self._check_numbers(finding)
        self._check_days(finding)
        finding.wrong += [gettext("no result gives the vote {vote}", vote=each.text) for each in self.values.votes]
        self._check_rows(finding)
        self._check_units(finding)
        self._check_words_of_units(finding)
        if not self.prose.is_foreign:
            self._check_names(finding, in_sources)
            self._check_order(finding)
            self._check_direction(finding)
            self._check_sides(finding)
        for quote in self.prose.quotes:
            if folded(quote) not in self.table.text.folded:
                finding.wrong.append(gettext("no result says “{quote}”", quote=quote))
        self._check_cover(finding)
        return finding

    # -- numbers --

    def _check_numbers(self, finding: Finding) -> None:
        for number in self._unexplained():
            if any(other.cells(number) for other in self.others if len(other.rows) == 1):
                continue
            if self._is_in_text(number) or self._is_bound(number) or self.prose.ends_name(number):
                continue
            reason = self._reason(number)
            is_few = number.in_words and number.value <= 10 and not number.is_fraction
            is_vague = is_few and not english().has("differences", self.prose.words)
            if not is_vague or number.value not in self.prose.counts:
                (finding.weak if is_vague else finding.wrong).append(reason)

    def _is_bound(self, number: Number) -> bool:
        """Whether a condition compares with the number, as the statement does: "more than 5"."""
        before = words(self.text[: number.start])[-WORDS_BESIDE_MAX:]
        compares = english().has("rising", before) or english().has("falling", before)
        return compares and number.is_one_of(self.table.bounds)

    def _is_in_text(self, number: Number) -> bool:
        """Whether a cell of text has the number, and the word that tells something before or behind it here: the 7 of "line 7",
        "a value of 0.18". In another language the words are not compared.
        """
        before = words(self.text[: number.start])[-WORDS_BESIDE_MAX:]
        after = words(self.text[number.end :])[:WORDS_BESIDE_MAX]
        telling = [next((word for word in near if word not in STOP_WORDS), "") for near in (before[::-1], after)]
        beside = frozenset().union(*(english().stems(word) for word in telling))
        return any(
            any(map(number.may_be, numbers)) and (self.prose.is_foreign or not beside.isdisjoint(stems))
            for stems, numbers in self.table.text_numbers
        )

    def _unexplained(self) -> list[Number]:
        """The numbers that no cell and no arithmetic of their rows gives: each clause in the order of keys and numbers that
        explains most.
        """
        one, two = self._unexplained_by(_CLAUSE), self._unexplained_by(_COMMA)
        fewest = one if len(one) <= len(two) else two
        sequence = self._sequence() if fewest else []
        return [each for each in fewest if each not in sequence]

    def _sequence(self) -> list[Number]:
        """The numbers that go down a column, row by row, as in "22 in the first quarter, 24 in the second, 32 in the third"."""
        numbers = self.values.numbers
        for first, cells in product(range(len(numbers) - SEQUENCE_MIN + 1), self.table.columns.values()):
            for top in range(min(len(cells), SEQUENCE_ROWS_MAX) - SEQUENCE_MIN + 1):
                pairs = zip(numbers[first:], cells[top:], strict=False)
                run = [*takewhile(lambda pair: pair[0].is_near(pair[1]), pairs)]
                rows = {number.start: top + place for place, (number, _) in enumerate(run)}
                if len(run) >= SEQUENCE_MIN and all(self._is_in_sequence(each, rows) for each in self.mentions):
                    return [number for number, _ in run]
        return []

    def _is_in_sequence(self, mention: Mention, rows: Mapping[int, int]) -> bool:
        """Whether a key names the row of the number beside it or, with none beside it, one of the `rows`, which are those of the
        numbers that start at these places.
        """
        between = {row: self.text[min(at, mention.start) : max(at, mention.start)] for at, row in rows.items()}
        beside = [row for row, text in between.items() if not _COMMA.search(text)]
        return bool(mention.rows.intersection(beside or rows.values()))

    def _unexplained_by(self, pattern: re.Pattern[str]) -> list[Number]:
        unexplained: list[Number] = []
        ends = [match.start() for match in pattern.finditer(self.text)] + [len(self.text) + 1]
        for begin, end in zip([0, *ends], ends, strict=False):
            numbers = [each for each in self.values.numbers if begin <= each.start < end]
            if not numbers:
                continue
            own = [each for each in self.mentions if begin <= each.start < end]
            own = own or [each for each in self.mentions if each.start < end] or self.mentions
            tries: list[list[Number]] = [
                [each for each in numbers if not self._holds(each, self._rows(each, [*own, *self.far], mode, numbers))]
                for mode in MODES
            ]
            fewest: list[Number] = min(tries, key=len)
            # of the row without a value, where the clause denies: "nobody voted against 109"
            nobody = self.table.nameless if english().is_negated(words(self.text[begin:end])) else []
            unexplained += [each for each in fewest if not (nobody and self._holds(each, nobody))]
        return unexplained

    def _rows(self, number: Number, mentions: Sequence[Mention], mode: str, numbers: Sequence[Number]) -> list[int]:
        """The rows that a number is about: those of each column's nearest key before or behind it, or in the order of keys."""
        rows = frozenset(range(len(self.table.rows)))
        for column in {each.column for each in mentions}:
            mine = [each for each in mentions if each.column == column]
            before = [each for each in mine if each.end <= number.start]
            behind = [each for each in mine if each.start >= number.end]
            if mode == "order" and len(before) > 1:
                after = [each for each in numbers if each.start >= before[-1].end]
                if number in after and len(after) >= len(before):
                    rows &= before[min(after.index(number), len(before) - 1)].rows
                    continue
                if not any(before[0].end <= each.start < before[-1].start for each in numbers):
                    rows &= frozenset().union(*(each.rows for each in before))
                    continue
            nearest = (behind[:1] or before[-1:]) if mode == "behind" else (before[-1:] or behind[:1])
            if nearest:
                rows &= nearest[0].rows
        return sorted(rows)

    def _holds(self, number: Number, rows: Sequence[int]) -> bool:
        if not rows:
            return number.value == 0
        only = self.table.column_named(self.header) if self.header else None
        loose = self.prose.is_about(number)
        columns = {only: self.table.columns[only]} if only is not None else self.table.columns
        is_part = 1 < len(rows) < len(self.table.rows)
        is_aggregate = is_part and not _AGGREGATES.isdisjoint(words(self.header))
        if not is_aggregate and any(
            self._fits(number, place, cells[row], loose) for place, cells in columns.items() for row in rows
        ):
            return True
        if not number.is_percent and number.is_one_of({len(rows)}) and len(rows) < len(self.table.rows):
            return True
        counts = {self.table.result.total, len(self.table.rows), len(self.named_rows)}
        if not number.is_percent and number.is_one_of(counts) and (not self.is_cell or not self.mentions):
            return True
        # the rest behind those that are listed or named
        sizes = {self.listed, len(frozenset().union(*(each.rows for each in self.mentions)))} - {0}
        if number.value == self.listed or number.is_one_of({len(self.table.rows) - each for each in sizes}):
            return True
        may_derive = (
            not self.is_cell
            or number.is_percent
            or english().has("averages", words(self.header))
            or not _DERIVED.isdisjoint((*words(self.header), *words(self.text)))
        )
        return may_derive and self.derivation.gives(number, rows)

    def _fits(self, number: Number, place: int, cell: float | None, loose: bool) -> bool:
        if not self.table.is_cell(number, place, cell, loose=loose):
            return False
        unit = self.table.units[place]
        return not (number.unit and unit and number.unit.isupper() != unit.isupper())

    def _reason(self, number: Number) -> str:
        """What the table says instead, where it is one thing."""
        rows = self._rows(number, [*self.mentions, *self.far], "before", self.values.numbers)
        cells = [*self.table.numbers_of(rows[0])] if len(rows) == 1 else []
        if number.is_percent:
            values = [f"{writing().number(100 * cell, '.1f')} %" for cell in cells if abs(cell) <= 1]
        else:
            values = [writing().number(cell) for cell in cells]
        if len(values) == 1:
            return gettext("the table says {value}, not {number}", value=values[0], number=number.text)
        if values:
            return gettext(
                "{number} is none of the row's numbers ({value}) and does not follow from them",
                number=number.text,
                value="; ".join(values),
            )
        return gettext("{number} is not in the results and does not follow from them", number=number.text)

    # -- everything else --

    def _check_days(self, finding: Finding) -> None:
        for day in self.values.days:
            text = self.table.text
            others = (each.text for each in self.others)
            if any(each.dated(day) for each in (text, *others)) or day.text.lower() in self.prose.question.lower():
                continue
            if day.month is None and any(day.year in years for years in self.table.years.values()):
                continue
            is_first = day.day == 1 and text.dated(day._replace(day=None))
            if not is_first and (day.year, day.month) != (self.today.year, None):
                finding.wrong.append(gettext("the date {day} is not in the results", day=day.text))

    def _check_rows(self, finding: Finding) -> None:
        """Keys that are named together must share a row."""
        if len(self.mentions) >= 6 and not self.is_cell:
            return
        self._check_shared(finding)
        for one, two in combinations(self.mentions, 2):
            between = self.text[one.end : two.start]
            if one.column == two.column or one.rows & two.rows or ";" in between or ". " in between:
                continue
            if not any(one.rows & each.rows for each in self.mentions if each.column == two.column):
                finding.wrong.append(gettext("no row has {one} with {two}", one=one.key, two=two.key))
                return

    def _check_shared(self, finding: Finding) -> None:
        """Whether a number that several rows are said to share is in each of them: those named since the number before it."""
        if not english().has("shared", self.prose.words):
            return
        for number in self.values.numbers:
            since = max((each.end for each in self.values.numbers if each.end <= number.start), default=0)
            before = [each for each in self.mentions if since <= each.start and each.end <= number.start]
            if len(before) < 2 or len({each.column for each in before}) > 1:
                continue
            lacking = [each for each in before if not self.table.cells(number, sorted(each.rows))]
            if len(lacking) < len(before):
                finding.wrong += [
                    gettext("the table does not say {number} of {name}", number=number.text, name=each.key.title())
                    for each in lacking
                ]

    def _check_units(self, finding: Finding) -> None:
        for number in self.values.numbers:
            if number.unit is None or self._is_in_text(number):
                continue
            places = {place for place, _ in self.table.cells(number)}
            units = {self.table.units[place] for place in places}
            if units and None not in units and number.unit not in units:
                cells = ((place, cell) for place in places for cell in self.table.columns[place])
                if not any(number.is_near(self.table.in_unit_of(number, place, cell)) for place, cell in cells):
                    unit = min(filter(None, units))
                    finding.wrong.append(gettext("the results give {number} in {unit}", number=number.text, unit=unit))
            elif number.unit.isupper() and not self._says_money():
                finding.wrong.append(gettext("the results name no currency for {number}", number=number.text))
            elif (currencies := {unit for unit in self.table.units if unit and unit.isupper()}) and (
                number.unit.isupper() and number.unit not in currencies
            ):
                finding.wrong.append(gettext("the results are in {currency}", currency=min(currencies)))

    def _check_words_of_units(self, finding: Finding) -> None:
        """Currencies and periods that the statement names without a number."""
        wording, table_words = english(), frozenset(words(" ".join([self.table.result.sentence, *self.table.labels])))
        terms = self.prose.words
        currencies = {
            code for word in terms if (code := CURRENCIES.get(word.removesuffix("s"))) or (code := currency_code(word))
        }
        if currencies and not self._says_money():
            finding.wrong.append(gettext("the results do not name the currency {currency}", currency=min(currencies)))
        rates = {wording.rates[word] for word in terms & wording.rates.keys() if word.endswith("ly")}
        table_rates = {wording.rates[word] for word in table_words & wording.rates.keys() if word.endswith("ly")}
        if rates and table_rates and not rates & table_rates:
            finding.wrong.append(gettext("the results are by the {period}", period=min(table_rates)))

    def _says_money(self) -> bool:
        return any(map(says_money, (self.table, *self.others)))

    def _check_names(self, finding: Finding, in_sources: Callable[[tuple[str, ...]], bool]) -> None:
        evidence = self.table.text
        text = blanked(self.unnamed, [(each.start, each.end) for each in self.values.days])
        for name in names_in(text.replace("\0", "x"), self.prose.known_names):
            words_of_it = tuple(part for part in name if not set(part) <= {"x"})
            if not words_of_it:
                continue
            is_in_result = has_name(words_of_it, evidence.folded, evidence.words)
            is_in_question = has_name(words_of_it, folded(self.prose.question), self.prose.question_words)
            if is_in_result or is_in_question or in_sources(words_of_it):
                continue
            finding.wrong.append(gettext("no result names {name}", name=display_name(words_of_it)))

    def _check_order(self, finding: Finding) -> None:
        """Whether what is called the highest is the highest."""
        wording, table = english(), self.table
        low = self.text.lower()
        if not self.mentions or len(table.keyed) < 3:
            return
        is_of_all = "of these" in low and any(each.value == len(table.rows) for each in self.values.numbers)
        if wording.among.search(low) and not is_of_all:
            return
        for match in _WORD.finditer(low):
            end = self._end_of_scale(match.group())
            if end is None or (match.group() == "most" and low[match.end() :].startswith(" of")):
                continue
            mention = min(
                self.mentions, key=lambda each: min(abs(each.start - match.start()), abs(each.end - match.start()))
            )
            if len(mention.rows) > 1 and len(mention.rows) == len(table.rows):
                continue
            if not self._has_rank(mention, match, end, low):
                finding.wrong.append(
                    gettext("{name} is not the {superlative}", name=mention.key.title(), superlative=match.group())
                )

    def _end_of_scale(self, word: str) -> str | None:
        names = ("highest", "lowest", "extreme") if word not in ("first", "last", "top") else ()
        return next((name for name in names if word in english().sets[name]), None)

    def _has_rank(self, mention: Mention, match: re.Match[str], end: str, low: str) -> bool:
        table, wording = self.table, english()
        ordinal = _ORDINAL.search(low[: match.start()])
        rank = (1 if ordinal["second"] else 2) if ordinal else 0
        series = self._dates() if match.group() in wording.sets["by_time"] else self._series(mention, match)
        for cells in series:
            if match.group() in ("oldest", "youngest"):
                end = "extreme"
            values = sorted((cell for row in table.keyed if (cell := cells[row]) is not None), reverse=end != "lowest")
            ranked = [*dict.fromkeys(values)]
            extremes = ranked[rank : rank + 1]
            if end == "extreme":
                extremes += ranked[len(ranked) - 1 - rank : len(ranked) - rank]
            if any(cells[row] in extremes for row in mention.rows):
                return True
        return not series

    def _dates(self) -> list[list[float | None]]:
        """The columns of dates as numbers of days, and those of numbers."""
        table = self.table
        places = [place for place, column in enumerate(table.result.columns) if column.kind == "date"]
        return [*table.columns.values(), *([date_number(row[place]) for row in table.rows] for place in places)]

    def _series(self, mention: Mention, match: re.Match[str]) -> list[list[float | None]]:
        """The columns that a superlative may speak of: those of the number behind it, those that it names, else all."""
        table = self.table
        behind = [each for each in self.values.numbers if each.start > match.start()]
        noun = english().stems(" ".join(words(self.text[match.end() :])[:2]))
        places = [place for place in table.columns if noun & english().stems(table.labels[place].split("(")[0])]
        of_noun = [table.columns[place] for place in places]
        beside = [each for each in self.values.numbers if each.start > mention.start]
        return (
            self._of_number(mention, behind[:1]) or of_noun or self._of_number(mention, beside[:1]) or self._of_words()
        )

    def _of_number(self, mention: Mention, numbers: Sequence[Number]) -> list[list[float | None]]:
        """The columns, or else their ratios, that have a number in the rows mentioned."""
        table = self.table
        if not numbers:
            return []
        places = {place for place, _ in table.cells(numbers[0], sorted(mention.rows))}
        return [table.columns[place] for place in sorted(places)] or self._ratios(mention, numbers[0])

    def _ratios(self, mention: Mention, number: Number) -> list[list[float | None]]:
        """The columns' ratios that a number behind may be one of."""
        ratios = [
            [a / b if a is not None and b else None for a, b in zip(one, two, strict=True)]
            for one, two in permutations(self.table.columns.values(), 2)
        ]
        return [cells for cells in ratios if any(number.is_near(cells[row]) for row in mention.rows)]

    def _of_words(self) -> list[list[float | None]]:
        table = self.table
        words = english().stems(self.text)
        of_words = [cells for place, cells in table.columns.items() if words & english().stems(table.labels[place])]
        return of_words or [*table.columns.values()]

    def _check_direction(self, finding: Finding) -> None:
        """Whether "more than" and "rose from … to" go the way that the numbers go."""
        wording = english()
        for clause in re.split(r"[;.]\s", self.text):
            terms = words(clause)
            up, down = wording.has("up", terms), wording.has("down", terms)
            if up == down:
                continue
            operands = self._operands(clause)
            if operands is not None and operands[0] != operands[1] and (operands[0] > operands[1]) != up:
                finding.wrong.append(gettext("the numbers say the reverse"))

    def _operands(self, clause: str) -> tuple[float, float] | None:
        """What is compared, and with what."""
        table = self.table
        begin = self.text.find(clause)
        mentions = [each for each in self.mentions if begin <= each.start < begin + len(clause) and len(each.rows) == 1]
        numbers = [each for each in self.values.numbers if begin <= each.start < begin + len(clause)]
        if match := re.search(r"\b[Ff]rom (.+?) to (.+)", clause):
            at, to = begin + match.start(1), begin + match.start(2)
            firsts, lasts = [each for each in numbers if at <= each.start < to], [e for e in numbers if e.start >= to]
            if firsts and lasts and firsts[-1].start - at < 12 and lasts[0].start - to < 12:
                return lasts[0].value, firsts[-1].value
            one, two = [each for each in mentions if at <= each.start < to], [e for e in mentions if e.start >= to]
            return self._compared(two[0], one[0], numbers) if one and two else None
        than = clause.find(" than ")
        if than < 0:
            return None
        than += begin
        before, behind = [each for each in mentions if each.end <= than], [e for e in mentions if e.start >= than]
        if before and behind and before[0].column == behind[0].column:
            return self._compared(before[0], behind[0], numbers)
        ours, theirs = [each for each in numbers if each.end <= than], [each for each in numbers if each.start >= than]
        if len(ours) < 2 or not theirs or theirs[0].is_percent:
            return None
        plain = [each for each in ours if not each.is_percent]
        in_table = [each for each in plain if table.cells(each)] or plain
        return (in_table[0].value, theirs[0].value) if in_table else None

    def _compared(self, one: Mention, two: Mention, numbers: Sequence[Number]) -> tuple[float, float] | None:
        """The cells of two rows, of the column whose difference a number is, or where all columns go the same way."""
        [a], [b] = one.rows, two.rows
        pairs = [
            (x, y)
            for cells in self.table.columns.values()
            if (x := cells[a]) is not None and (y := cells[b]) is not None
        ]
        exact = [(x, y) for x, y in pairs if x != y and any(each.is_near(x - y) for each in numbers)]
        words = english().stems(self.text)
        places = {place for place in self.table.columns if words & english().stems(self.table.labels[place])}
        candidates = (
            exact or [pair for place, pair in zip(self.table.columns, pairs, strict=False) if place in places] or pairs
        )
        unequal = [(x, y) for x, y in candidates if x != y]
        return unequal[0] if len({x > y for x, y in unequal}) == 1 else None

    def _check_sides(self, finding: Finding) -> None:
        """Whether the word behind a number is the opposite of its column's."""
        for number in self.values.numbers:
            labels = {self.table.labels[place] for place, _ in self.table.cells(number)}
            behind = frozenset(words(re.split(r"[,;.]", self.text[number.end :])[0]))
            if len(labels) != 1:
                continue
            label_words = frozenset(words(next(iter(labels))))
            for one, two in english().opposites:
                for a, b in ((one, two), (two, one)):
                    if behind & a and label_words & b and not behind & b:
                        finding.wrong.append(gettext("the table says {value}", value=min(label_words & b)))

    def _check_cover(self, finding: Finding) -> None:
        wording = english()
        rest = wording.stems(self.unnamed.replace("\0", " "))
        evidence = self.table.text.stems | wording.stems(f"{self.prose.question} {self.header} {self.lead}")
        share = len(rest & evidence) / len(rest) if rest else 1.0
        ranks = frozenset(map(stem, wording.sets["highest"] | wording.sets["lowest"] | wording.sets["extreme"]))
        is_bare = not (self.values.numbers or self.values.days)
        has_figure = bool(self.values.numbers or self.mentions or self.values.days)
        is_of_data = not wording.data_stems.isdisjoint(self.prose.stems)
        if (
            wording.is_negated(self.prose.words)
            and not is_of_data
            and not wording.may_deny(self.table.text.words | self.prose.question_words)
        ):
            finding.weak.append(gettext("no result supports this denial"))
        if self.prose.is_foreign:
            finding.weak.append(gettext("the results are in another language"))
        elif not has_figure and rest:
            is_denial = wording.is_negated(self.prose.words)
            (finding.wrong if share < 0.25 and not is_denial else finding.weak).append(
                gettext("no result says anything similar")
                if share < 0.25
                else gettext("the results support only part of it")
            )
        elif share < (PLAUSIBLE_BELOW if is_bare and len(rest - ranks) > 1 else 0.2 if len(rest) > 4 else 0.0):
            finding.weak.append(gettext("the results support only part of it"))
