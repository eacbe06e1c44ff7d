"""What each value, number, time and name of a question may mean as a condition. Pure."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from operator import attrgetter
from typing import Literal

from quarry.language.word_forms import STOP_WORDS
from quarry.reader.features import Clues, Features
from quarry.reader.mentions import DateMention, Mentions, NumberMention, TextMention, ValueMention, WordRun
from quarry.reader.names import FieldName, LinkName, SourceName
from quarry.schema.algebra import Scalar
from quarry.spans.mention import DateRange
from quarry.spans.numbers import converted, dimension_of

NAMED_IN_FULL = 0.99
"""Likeness from which words are the whole of a name."""
FIELDS_MAX = 5
MEANT_MAX = 8
"""Most fields that words may mean a value of."""
DATES_MAX = 3
TRUTHS_MAX = 3
MADE_MAX = 4
AMOUNTS_MAX = 2
"""Most numbers of a source to average if none is named."""
DENIED_MIN = 0.35
"""Probability from which words may be denied, so that no condition states what they mean."""
LIKENESS_MIN = 0.5
"""Likeness from which a field counts as named."""
COMPARED_MAX = 4
"""Most named fields to compare with each other."""
MONTH_DAYS = 365 / 12
COMPARED = ("=", ">", "<", ">=", "<=", "!=")
Form = Literal["field", "fields", "average", "rows", "some", "none", "limit"]


@dataclass(frozen=True, eq=False)
class Test:
    """One condition: compares a field with values (`field`), with another field (`fields`) or with its average (`average`),
    limits the number of related rows (`rows`), requires some or none of them, or sets how many rows are shown (`limit`). `about`
    is the source of related rows.
    """

    form: Form
    op: str = "="
    values: tuple[Scalar, ...] = ()
    field: FieldName | None = None
    about: str | None = None
    link: LinkName | None = None
    """Which of several links of the rows asked for leads to the related rows."""
    other: FieldName | None = None
    """The field that it is compared with."""
    is_denied: bool = False
    """That the comparison does not hold."""
    chance_denied: float = 0.0
    """The probability that the question denies what the values mean."""

    @property
    def is_denial(self) -> bool:
        """Whether it says that something is not so: a denial of it would say that it is, whatever denies it in the question."""
        return self.is_denied or self.op == "!=" or (self.form == "field" and self.values == (False,))


@dataclass(frozen=True, eq=False)
class Option:
    """One condition, or none, with the words that may state it."""

    tests: tuple[Test, ...]
    evidence: Features


@dataclass(frozen=True)
class Options:
    """Finds the options for one question."""

    clues: Clues
    today: datetime.date

    def groups(self) -> Iterator[list[Option]]:
        """What each value, number, time and name may mean, including nothing."""
        yield from self._readings()
        for truth in self._named_fields(lambda each: each.kind == "boolean", TRUTHS_MAX):
            yield [self._no_condition("truth", None), *self._of_truth(truth)]
        for source in self._sources(2):
            yield [self._no_condition("related", None), *self._of_related(source)]
        amounts, dates = attrgetter("is_amount"), attrgetter("is_date")
        averages = [*self._named_fields(amounts, 2)] or [*self._fields_of_named_source(amounts, AMOUNTS_MAX)]
        if averages:
            options = (option for each in averages for option in self._of_average(each))
            yield [self._no_condition("average", None), *options]
        fields = [
            *self._named_fields(lambda each: not each.is_pointer and each.kind != "boolean", 3),
            *self._fields_of_named_source(dates, DATES_MAX),
        ]
        blanks = [*dict.fromkeys(fields)]
        compared = [*self._of_two_fields()]
        if compared:
            yield [self._no_condition("fields", None), *compared]
        if blanks:
            yield [self._no_condition("blank", None), *(option for each in blanks for option in self._of_blank(each))]

    def _readings(self) -> list[list[Option]]:
        """What each value, number, time and text may mean. Of overlapping ones, only one counts."""
        mentions = self.clues.mentions
        readings: list[tuple[str, WordRun, Iterable[Option]]] = [
            *(("value", each.place, self._of_value(each)) for each in mentions.values),
            *(("days", each.place, self._of_days(each)) for each in mentions.days),
            *(("length", each.place, self._of_length(each)) for each in mentions.lengths),
            *(("number", each.place, self._of_number(each)) for each in mentions.numbers),
            *(("text", each.place, self._of_text(each)) for each in mentions.texts),
        ]
        apart: list[tuple[int, list[Option]]] = []
        for kind, at, options in readings:
            place = next((place for place, (mask, _) in enumerate(apart) if mask & at.mask), None)
            if place is None:
                apart.append((at.mask, [self._no_condition(kind, at), *options]))
            else:
                apart[place] = (apart[place][0] | at.mask, [*apart[place][1], *options])
        return [options for _, options in apart]

    def _no_condition(self, kind: str, place: WordRun | None) -> Option:
        """That it states no condition."""
        clues = self.clues
        name = f"{kind}:left"
        if place is None:
            return Option((), clues.joined(clues.one(name)))
        words = clues.one(f"{name}:words", float(place.last - place.first))
        return Option((), clues.joined(clues.one(name), clues.near(name, place, 2), words))

    def _named_fields(self, matches: Callable[[FieldName], bool], most: int) -> Iterator[FieldName]:
        """The named fields: those of named sources first, then in the order of the question."""
        sources = self.clues.names.sources
        fields = [
            (self.clues.mentions.best(sources[each.source]) is None, places[0].first, each)
            for each, places in self.clues.mentions.places.items()
            if isinstance(each, FieldName) and places[0].likeness >= LIKENESS_MIN and matches(each)
        ]
        yield from islice((each for *_, each in sorted(fields, key=lambda item: item[:2])), most)

    def _fields_of_named_source(self, matches: Callable[[FieldName], bool], most: int) -> Iterator[FieldName]:
        """The first matching fields of the best-named source, which the question need not name: open tasks have no end date,
        and “more than the average” may not say of what.
        """
        for source in self._sources(1):
            yield from islice(filter(matches, source.columns), most)

    def _sources(self, most: int) -> list[SourceName]:
        """The named sources, last mentioned first. Where there is only one, its rows need no name."""
        sources = [
            (places[0].likeness, places[0].first, each)
            for each, places in self.clues.mentions.places.items()
            if isinstance(each, SourceName) and places[0].likeness >= 0.5
        ]
        sources.sort(key=lambda item: (-item[0], -item[1]))
        every = [*self.clues.names.sources.values()]
        return [each for _, _, each in sources[:most]] or (every if len(every) == 1 else [])

    def _about(self) -> list[SourceName]:
        """The named sources, and the source with the most named fields."""
        fields = Counter(each.source for each in self._named_fields(lambda each: not each.is_many, FIELDS_MAX))
        sources = self.clues.names.sources
        return [*dict.fromkeys([*self._sources(2), *(sources[name] for name, _ in fields.most_common(2))])]

    # ---- values ----

    def _of_value(self, mention: ValueMention) -> Iterator[Option]:
        fields = self.clues.names.by_values
        meanings: dict[FieldName, list[str]] = {}
        whole, titles = set[FieldName](), set[FieldName]()
        for link in mention.links:
            for field in fields.get((link.source, link.field), ()):
                meanings.setdefault(field, []).append(link.value)
                whole |= {field} if link.is_whole else set()
        for each in sorted(meanings, key=lambda each: -self._nearness(each))[:MEANT_MAX]:
            values = meanings[each][:1] if each in whole else list(dict.fromkeys(meanings[each]))
            title = self._title_behind(each)
            if title is not None and title not in meanings and title not in titles:
                titles.add(title)
                yield from self._equal(mention, title, values, is_whole=each in whole)
            yield from self._equal(mention, each, values, is_whole=each in whole)

    def _nearness(self, each: FieldName) -> float:
        """How well a field, or otherwise its source, is named."""
        own, of = self.clues.mentions.best(each), self.clues.mentions.best(self.clues.names.sources[each.source])
        return (own.likeness if own else 0.0) + (of.likeness if of else 0.0)

    def _title_behind(self, each: FieldName) -> FieldName | None:
        """The title of the rows that a field refers to."""
        sources = self.clues.names.sources
        targets = (link.target for link in sources[each.source].links if link.name == each.link)
        target = next(targets, None) or ""
        return sources[target].title if target in sources else None

    def _equal(
        self, mention: ValueMention, each: FieldName, values: Sequence[str], *, is_whole: bool
    ) -> Iterator[Option]:
        """A field that is, or is not, one of these values."""
        clues = self.clues
        role = clues.names.role_of(each)
        place, chance = mention.place, clues.mentions.chance_denied(mention.place)
        evidence = clues.joined(
            self._beside("value", role, place),
            clues.name("value:of", clues.names.sources[each.source]),
            clues.one("value:used"),
            clues.one("value:words", min(place.last - place.first, 3)),
            clues.one("value:whole" if is_whole else "value:part"),
            clues.one("value:several", float(len(values) > 1)),
        )
        for op in ("=", "!=") if may_be_denied(clues.mentions, place) else ("=",):
            test = Test("field", op, tuple(values[:12]), each, chance_denied=chance)
            yield Option((test,), self._mentioned(evidence, place, f"value{op}"))

    def _beside(self, role: str, each: FieldName, place: WordRun) -> Features:
        """How a field is named in a role, and how near to a place."""
        return self.clues.joined(self.clues.name(role, each), self.clues.distance(role, each, place))

    def _mentioned(self, evidence: Features, place: WordRun, kind: str) -> Features:
        """The evidence, with the words at a place and around it."""
        clues = self.clues
        return clues.joined(evidence, Features(place.mask, (clues.one(kind), clues.near(kind, place))))

    # ---- numbers and times ----

    def _of_number(self, mention: NumberMention) -> Iterator[Option]:
        clues = self.clues
        fields = [
            each
            for each in self._nearest(mention.place, mention)
            if may_hold(each, mention) and may_compare(each, mention, clues.mentions)
        ]
        for each in fields[:FIELDS_MAX]:
            evidence = clues.joined(
                self._beside("number", each, mention.place),
                clues.name("number:of", clues.names.sources[each.source]),
                clues.one("number:unit", float(bool(mention.unit and mention.unit in (each.unit or "")))),
            )
            if mention.is_range:
                ends = in_unit(mention.least, mention, each), in_unit(mention.most, mention, each)
                test = Test("field", "between", ends, each)
                yield Option((test,), self._mentioned(evidence, mention.place, "between"))
                continue
            # "not over 60" is a comparison, "not 60" a denial
            chance = clues.mentions.chance_denied(mention.place) if mention.op == "=" else 0.0
            test = Test("field", "=", (in_unit(mention.one, mention, each),), each, chance_denied=chance)
            yield from self._compared("number", mention, test, evidence)
        if mention.currency is None and not mention.is_range and float(mention.one).is_integer():
            yield from self._of_count(mention)

    def _compared(
        self, kind: str, mention: NumberMention, test: Test, evidence: Features, ops: Sequence[str] = COMPARED
    ) -> Iterator[Option]:
        """A test with each of these operators."""
        for op in ops:
            agrees = self.clues.one(f"agrees:{mention.op}:{'ago' * (kind == 'ago')}{op}")
            own = self._mentioned(evidence, mention.place, f"{kind}{op}")
            yield Option((replace(test, op=op),), self.clues.joined(own, agrees))

    def _of_count(self, mention: NumberMention) -> Iterator[Option]:
        """A number of related rows, or of rows to show."""
        clues, place = self.clues, mention.place
        chance = clues.mentions.chance_denied(place) if mention.op == "=" else 0.0
        for source in self._sources(3):
            for op in COMPARED:
                agrees, near = clues.one(f"agrees:{mention.op}:{op}"), clues.near(f"number{op}", place)
                words = Features(place.mask, (agrees, near, clues.near("rows", place), clues.freely("rows")))
                test = Test("rows", op, (int(mention.one),), about=source.name, chance_denied=chance)
                yield from self._by_role(test, clues.joined(clues.name("rows", source), words))
        if 1 <= mention.one <= 1000:
            bundles = clues.one("limit"), clues.near("limit", place), clues.one(f"agrees:{mention.op}:limit")
            yield Option((Test("limit", values=(int(mention.one),)),), Features(place.mask, bundles))

    def _nearest(self, place: WordRun, mention: NumberMention) -> list[FieldName]:
        """The fields that a number may be compared with, likeliest first."""
        best = self.clues.mentions.best

        def distance(each: FieldName) -> float:
            near = self._distance(each, place)
            if best(each) is not None:
                return near
            return near - 0.4 * bool(mention.currency and each.kind == "money") - 0.2 * bool(each.unit)

        numbers = (each for each in self.clues.names.fields if each.is_number)
        return sorted((each for each in numbers if not each.is_pointer or best(each) is not None), key=distance)

    def _distance(self, each: FieldName, place: WordRun) -> float:
        """How far from a place a field is named, and how badly; else whether its source is named."""
        own, of = self.clues.mentions.best(each), self.clues.mentions.best(self.clues.names.sources[each.source])
        return abs(own.first - place.first) / 40 - own.likeness if own else 1 - 0.3 * bool(of)

    def _of_days(self, mention: DateMention) -> Iterator[Option]:
        clues, days = self.clues, mention.days
        first, last = self._latest(days) if days.months else (days.first, days.last)
        for each in self._dated(mention)[:FIELDS_MAX]:
            evidence = clues.joined(
                self._beside("days", each, mention.place),
                clues.name("days:of", clues.names.sources[each.source]),
                clues.one(f"days:{days.grain}:{each.kind}"),
            )
            values: tuple[Scalar, ...] = tuple(
                day.isoformat() if each.is_date else day.year for day in (first, last) if day
            )
            if not values:
                return
            op = "between" if len(values) == 2 else "<=" if first is None else ">="
            if op == "between" and values[0] == values[1]:
                op, values = "=", values[:1]
            own = self._mentioned(evidence, mention.place, f"days{op}")
            yield from self._or_denied(Test("field", op, values, each), mention.place, own)

    def _or_denied(self, test: Test, place: WordRun, evidence: Features) -> Iterator[Option]:
        """A test, and that it does not hold, if the words at its place may be denied."""
        chance = self.clues.mentions.chance_denied(place)
        for is_denied in (False, True) if chance >= DENIED_MIN else (False,):
            yield Option((replace(test, chance_denied=chance, is_denied=is_denied),), evidence)

    def _latest(self, days: DateRange) -> tuple[datetime.date | None, datetime.date | None]:
        """Months without a year, in the year in which they last occurred."""
        month = min(days.months)
        year = self.today.year - (month > self.today.month)
        end = year + (max(days.months) == 12), max(days.months) % 12 + 1
        return datetime.date(year, month, 1), datetime.date(*end, 1) - datetime.timedelta(days=1)

    def _dated(self, mention: DateMention) -> list[FieldName]:
        """The fields that days may be compared with. A year is also compared with fields of years."""
        is_year = mention.days.grain == "year"
        fields = (each for each in self.clues.names.fields if each.is_date or (is_year and each.kind == "year"))
        return sorted(fields, key=lambda each: self._distance(each, mention.place) - 0.4 * each.is_date)

    def _of_length(self, mention: NumberMention) -> Iterator[Option]:
        """A duration: compared with a field measured in time, or with the age of a date."""
        for each in self._nearest(mention.place, mention):
            is_time = are_alike("day", each.unit)
            value = converted(mention.one * MONTH_DAYS, "day", each.unit or "") if is_time else None
            if value is not None:
                test = Test("field", "=", (plain(round(value, 4)),), each)
                yield from self._compared("length", mention, test, self._beside("number", each, mention.place))
        day = (self.today - datetime.timedelta(days=min(round(mention.one * MONTH_DAYS), 200_000))).isoformat()
        for each in self._dated(DateMention(mention.place, DateRange()))[:3]:
            evidence = self._beside("days", each, mention.place)
            yield from self._compared("ago", mention, Test("field", "=", (day,), each), evidence, ("<", ">="))

    # ---- texts, truths, related rows, averages ----

    def _of_text(self, mention: TextMention) -> Iterator[Option]:
        clues = self.clues
        ranked = [
            (-places[0].likeness, abs(places[0].first - mention.place.first), each)
            for each, places in clues.mentions.places.items()
            if isinstance(each, FieldName) and each.kind == "text"
        ]
        # the title need not be named
        titles = [source.title for source in self._about() if source.title.kind == "text"]
        texts = [each for _, _, each in sorted(ranked, key=lambda item: item[:2])]
        compound = (source.title for source in clues.names.sources.values() if source.titles)  # most of them are people
        for each in dict.fromkeys([*texts[:FIELDS_MAX], *titles, *islice(compound, MADE_MAX)]):
            evidence = self._beside("holds", each, mention.place)
            for op in ("contains", "="):
                own = self._mentioned(evidence, mention.place, f"holds:{op}")
                yield from self._or_denied(Test("field", op, (mention.text,), each), mention.place, own)

    def _of_truth(self, each: FieldName) -> Iterator[Option]:
        clues, place = self.clues, self.clues.mentions.best(each)
        for truth in (True, False):
            kind = f"truth:{truth}"
            words = clues.one(kind), clues.near(kind, place), clues.freely(kind)
            test = Test("field", "=", (truth,), each, chance_denied=clues.mentions.chance_denied(place))
            yield Option((test,), clues.joined(clues.name("truth", each), *words))

    def _of_related(self, source: SourceName) -> Iterator[Option]:
        """Rows that have related rows, or have none."""
        clues, place = self.clues, self.clues.mentions.best(source)
        forms: tuple[Form, Form] = ("some", "none")
        for form in forms:
            own = clues.joined(clues.name("related", source), clues.near(form, place), clues.freely(form))
            yield from self._by_role(Test(form, about=source.name), own)

    def _by_role(self, test: Test, evidence: Features) -> Iterator[Option]:
        """A test on related rows; where several links of a source lead to them, by each of these too."""
        yield Option((test,), evidence)
        for source in self.clues.names.sources.values():
            for link in source.links_to(test.about or ""):
                yield Option((replace(test, link=link),), self.clues.joined(evidence, self.clues.role(link)))

    def _of_average(self, each: FieldName) -> Iterator[Option]:
        clues = self.clues
        # the last mention is the one that is compared
        place = max(clues.mentions.places.get(each, ()), key=lambda place: (place.likeness, place.first), default=None)
        for op in (">", "<"):
            words = clues.near(f"average{op}", place), clues.freely(f"average{op}", 0.3), clues.one("average")
            yield Option((Test("average", op, field=each),), clues.joined(clues.name("average:of", each), *words))

    def _of_two_fields(self) -> Iterator[Option]:
        """Two named dates or numbers of one row, compared: "delivered later than promised"."""
        clues = self.clues
        fields = self._named_fields(lambda each: (each.is_amount or each.is_date) and not each.is_measure, COMPARED_MAX)
        at = {each: place for each in fields if (place := clues.mentions.best(each)) is not None}
        for one, other in combinations(sorted(at, key=lambda each: at[each].last), 2):
            is_alike = one.source == other.source and (one.is_date, one.unit) == (other.is_date, other.unit)
            if not is_alike or at[one].last == at[other].last:
                continue
            for op in (">", "<"):
                bundles = clues.near(f"fields{op}", at[other]), clues.freely(f"fields{op}"), clues.one("fields")
                mask = at[one].mask | at[other].mask
                yield Option((Test("fields", op, field=one, other=other),), Features(mask, bundles))

    def _of_blank(self, each: FieldName) -> Iterator[Option]:
        clues, place = self.clues, self.clues.mentions.best(each)
        for op in ("is_null", "not_null"):
            words = clues.near(op, place), clues.freely(op, 0.3)
            yield Option((Test("field", op, field=each),), clues.joined(clues.name("blank", each), *words))


# ---- what types, units and currencies allow ----


def may_hold(each: FieldName, mention: NumberMention) -> bool:
    """Whether a number can be a value of a field. Keys hold no numbers; an amount of money needs a field in its currency."""
    if mention.currency is None:
        return each.is_number
    return each.is_number and each.kind != "year" and each.currency in (None, mention.currency)


def may_compare(each: FieldName, number: NumberMention, mentions: Mentions) -> bool:
    """Whether a question may compare a field with a number. "More than one payment" is a number of rows, and "in 2026" is a time,
    so a field must be named to be compared with them: the rows' field in full, the one with the year right beside it.
    """
    place, own = number.place, mentions.best(each)
    if number.op == "=" and any(day.days.grain == "year" and day.place.mask & place.mask for day in mentions.days):
        return each.kind == "year" or (own is not None and place.first in (own.last, own.first - 1))
    return not _counts_rows(number, mentions) or (own is not None and own.likeness >= NAMED_IN_FULL)


def _counts_rows(number: NumberMention, mentions: Mentions) -> bool:
    """Whether the name of a source follows a number, with at most one word between: "more than two late payments"."""
    if number.currency is not None or dimension_of(number.unit) is not None:
        return False
    source_places = (
        place for each, places in mentions.places.items() if isinstance(each, SourceName) for place in places
    )
    gaps = (
        mentions.tokens[number.place.last : place.first]
        for place in source_places
        if place.likeness >= NAMED_IN_FULL and 0 <= place.first - number.place.last <= 1
    )
    return any(all(token.key not in STOP_WORDS for token in gap) for gap in gaps)


def are_alike(unit: str | None, other: str | None) -> bool:
    """Whether two units measure the same quantity."""
    return dimension_of(unit) is not None and dimension_of(unit) == dimension_of(other)


def in_unit(number: float | None, mention: NumberMention, each: FieldName) -> Scalar:
    """A number converted to the unit of a field, if both units measure the same quantity."""
    return plain(
        converted(number, mention.unit or "", each.unit or "") if are_alike(mention.unit, each.unit) else number
    )


def plain(number: float | None) -> Scalar:
    """A number as in JSON: whole numbers without decimals."""
    value = number or 0.0
    return int(value) if float(value).is_integer() else value


def may_be_denied(mentions: Mentions, place: WordRun) -> bool:
    """Whether the value at a place can be negated. That takes a word without another meaning, anywhere before the value or
    right after it.
    """
    return any(each < place.first or each == place.last for each in mentions.free)
