"""What a question may ask for: which fields, how many rows, which number, which groups, in which order. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from operator import attrgetter
from typing import Literal, get_args

from quarry.reader.features import Bundle, Clues, Features
from quarry.reader.names import FieldName, LinkName, SourceName
from quarry.schema.algebra import Direction, Function, Period
from quarry.spans.numbers import dimension_of

BASES_MAX = 6
BASES_MIN = 3
FIELDS_MAX = 9
SAME_WORDS_MAX = 3
"""Most fields that the same words may name."""
LISTS_MAX = 32
UNSAID_MAX = 2
"""Most dates to show although the question does not name them: "when is the concert"."""
LISTS_KEPT = 4
"""How many lists of fields to combine with orders and related rows."""
DISTINCT_MAX = 4
"""Lists of this many fields or more are not read as "distinct"."""
ORDERS_MAX = 7
UNSAID_ORDERS_MAX = 5
"""Most numbers and dates to sort by although the question does not name them: "the cheapest"."""
GROUPS_MAX = 7
DISTINCT_FIELDS_MAX = 2
"""Most fields whose different values are counted per group."""
HINTED_MAX = 2
"""Most fields of a source that the question does not name but its words may stand for."""
STRONG = 0.7
"""Likeness from which a field can be one of several that are shown."""
ASKS_MAX = 420
ALIKE_MAX = 60
"""Most asks of one shape to keep, so that no shape crowds out the others."""
LENGTH_MAX = 5
"""Longer lists of fields share one feature."""
FUNCTIONS: tuple[Function, ...] = ("avg", "min", "max", "sum")
SEVERAL: tuple[tuple[Function, ...], ...] = (
    *combinations(FUNCTIONS, 2), *combinations(FUNCTIONS, 3), *(("count", each) for each in FUNCTIONS),
)  # fmt: skip
"""Functions that are asked for together."""
PERIODS: tuple[Period, ...] = get_args(Period)
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)


Kind = Literal["rows", "distinct", "count", "count_distinct", "numbers", "groups", "share"]


@dataclass(frozen=True, eq=False)
class Ask:
    """What is asked of the rows of `base`.

    rows, distinct   the fields `subjects`, sorted by `order`; only the first rows if `is_first`
    count, share     the number of rows; their share of all rows
    count_distinct   the number of different values of the field in `subjects`
    numbers          `functions` of `subjects`: one per field, or several of one field
    groups           rows grouped by `subjects` and `period`: `functions` of `measured`, or the count; by `direction` if set
    `related` is the link to the rows that are counted, to sort rows by their number.
    """

    kind: Kind
    base: SourceName
    evidence: Features
    subjects: tuple[FieldName, ...] = ()
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
        if self.kind not in ("distinct", "count_distinct") or len(self.subjects) != 1:
            return False
        [each] = self.subjects
        return each in self.base.columns and not (each.is_key or each.is_date or each is self.base.title)

    @property
    def is_one_number(self) -> bool:
        """Whether it asks for one number over the rows."""
        return self.kind == "count" or (self.kind == "numbers" and len(self.functions) == 1)

    @cached_property
    def fields(self) -> tuple[FieldName, ...]:
        """All fields it needs."""
        return (*self.subjects, *[each for each in (self.order, self.measured) if each])


@dataclass(frozen=True)
class Asks:
    """Composes everything that one question may ask for."""

    clues: Clues
    needed: Sequence[str] = ()
    """The sources that conditions refer to."""

    def all(self) -> list[Ask]:
        """The likeliest asks, best first."""
        asks = [ask for base in self._bases() for ask in self._of(base)]
        asks.sort(key=attrgetter("evidence.rank"), reverse=True)
        likeliest: list[Ask] = []
        of_shape: Counter[object] = Counter()
        for ask in asks:
            missing = ask.order is None, ask.related is None, ask.measured is None
            shape = ask.kind, ask.is_first, missing, len(ask.subjects)
            of_shape[shape] += 1
            if of_shape[shape] <= ALIKE_MAX:
                likeliest.append(ask)
        return likeliest[:ASKS_MAX]

    def _bases(self) -> list[SourceName]:
        """The sources that may be meant: those named, those of named fields or values, and those that join two of these."""
        mentions, sources = self.clues.mentions, self.clues.names.sources
        rated: dict[str, float] = {}

        def rate(name: str, points: float) -> None:
            rated[name] = max(rated.get(name, 0.0), points)

        for each, places in mentions.places.items():
            if isinstance(each, SourceName):
                rate(each.name, 2 * places[0].likeness)
            elif places[0].likeness >= 0.5:
                rate(each.source, places[0].likeness)
        for name in self.needed:
            rate(name, 0.9)
        sure = [name for name, points in rated.items() if points >= 0.9]
        for name in sources:
            ways = [self.clues.names.way(name, other) for other in sure if other != name]
            if sum(way is not None and not way.is_many for way in ways) >= 2:
                rate(name, 0.6)
        for name, points in ((each.name, self.clues.hinted(each)) for each in sources.values()):
            if points > 0:
                rate(name, min(1.0, points))
        best = sorted(rated, key=lambda name: -rated[name])[:BASES_MAX]
        return [sources[name] for name in dict.fromkeys([*best, *sources])][: max(len(best), BASES_MIN)]

    def _fields(self, base: SourceName) -> list[FieldName]:
        """The named fields that can be reached from a source, best first. Of fields named by the same words, the nearest."""
        ways, by_name = self.clues.names.reached(base.name), self.clues.mentions.places
        ranked = [
            (-places[0].likeness, len(ways[each.source].links), places[0].first, each)
            for each, places in by_name.items()
            if isinstance(each, FieldName)
            and places[0].likeness >= 0.5
            and each.source in ways
            and not self._leads_back(base, each)
        ]
        fields: list[FieldName] = []
        by_words: Counter[int] = Counter()
        for *_, each in sorted(ranked, key=lambda item: item[:3]):
            mask = by_name[each][0].mask
            by_words[mask] += 1
            if by_words[mask] <= SAME_WORDS_MAX:
                fields.append(each)
        return fields[:FIELDS_MAX]

    def _leads_back(self, base: SourceName, each: FieldName) -> bool:
        """Whether a field of other rows only names the rows asked for: the councillors of a councillor's committees."""
        links = self.clues.names.sources[each.source].links
        return each.source != base.name and any(
            link.name in (each.link, each.name) and link.target == base.name for link in links
        )

    def _of(self, base: SourceName) -> Iterator[Ask]:
        fields = self._fields(base)
        fields += self._hinted(base, fields)
        evidence = self.clues.name("base", base)
        lists = self._lists(base, fields, evidence)
        yield from self._rows(base, lists, fields)
        yield Ask("count", base, self._framed("count", evidence))
        yield Ask("share", base, self._framed("share", evidence))
        for each in fields[:5]:
            distinct = self._framed("count_distinct", evidence, self.clues.name("shown", each))
            yield Ask("count_distinct", base, distinct, (each,))
        yield from self._numbers(base, fields, evidence)
        yield from self._groups(base, fields, evidence)

    def _hinted(self, base: SourceName, fields: Sequence[FieldName]) -> list[FieldName]:
        """The fields of a source that are not named but that other words of the question may stand for."""
        hints = [(self.clues.hinted(each), each) for each in base.columns if each not in fields]
        hints = [hint for hint in hints if hint[0] > 0]
        return [each for _, each in sorted(hints, key=lambda hint: -hint[0])[:HINTED_MAX]]

    def _framed(self, kind: str, *evidence: Features | Bundle) -> Features:
        return self.clues.joined(*evidence, self.clues.framed(kind))

    # ---- rows ----

    def _lists(
        self, base: SourceName, fields: Sequence[FieldName], evidence: Features
    ) -> list[tuple[tuple[FieldName, ...], Features]]:
        """The lists of fields that may be shown, likeliest first."""
        clues, mentions = self.clues, self.clues.mentions

        def first(each: FieldName) -> int:
            place = mentions.best(each)
            return place.first if place else 0

        strong = [each for each in fields if (place := mentions.best(each)) and place.likeness >= STRONG][:6]
        lists: list[tuple[FieldName, ...]] = [(each,) for each in fields]
        for length in (2, 3, 4, 5):
            lists += combinations(sorted(strong, key=first), length)
        lists += combinations(sorted(fields[:4], key=first), 2)
        titled = [(base.title, each) for each in sorted(fields[:4], key=first) if each is not base.title]
        # rows go by their title, if they have one that is not a kind of them, unless the question names a key
        is_titled = base.title in base.fields and not base.title.is_listed
        keys = [(each,) for each in base.fields if each.is_key and (mentions.best(each) or not is_titled)]
        dates = [(each,) for each in base.columns if each.is_date and each not in fields][:UNSAID_MAX]
        lists = [(base.title,), *lists[: 2 * LISTS_MAX], *titled, *keys, *dates]
        if base.titles:
            lists += [base.titles, *((*base.titles, each) for each in strong[:4] if each not in base.titles)]
        rated = []
        for subjects in dict.fromkeys(lists):
            if len({clues.names.path(base.name, each) for each in subjects}) < len(subjects) or self._are_one(subjects):
                continue
            rated.append((subjects, clues.joined(evidence, self._subject_features(base, subjects))))
        rated.sort(key=lambda item: -item[1].rank)
        return rated

    def _are_one(self, subjects: Sequence[FieldName]) -> bool:
        """Whether the same words name two of these fields in different sources, so that only one is meant."""
        mentions = [(place.mask, each.source) for each in subjects if (place := self.clues.mentions.best(each))]
        return any(one[0] == other[0] and one[1] != other[1] for one, other in combinations(mentions, 2))

    def _subject_features(self, base: SourceName, subjects: Sequence[FieldName]) -> Features:
        clues = self.clues
        parts: list[Features | Bundle] = [clues.name("shown", each) for each in subjects]
        parts += [clues.near("shown", clues.mentions.best(each), 2) for each in subjects]
        parts.append(clues.together("shown", subjects))
        own = sum(each.source == base.name for each in subjects) / len(subjects)
        is_default = len(subjects) == 1 and subjects[0] is base.title
        unsaid = is_default and clues.mentions.best(base.title) is None
        # if all its fields are named one by one, it is a list like any other
        is_whole = subjects == base.titles and not all(clues.mentions.best(each) for each in subjects)
        length = "title" if is_whole else min(len(subjects), LENGTH_MAX)
        bundles = [clues.one(f"shown:{length}"), clues.one("shown:own", own)]
        if is_whole:
            parts = []
            bundles.append(clues.framed("shown:title:unsaid"))
        if unsaid:
            bundles.append(clues.framed("shown:unsaid"))
        elif subjects[0] is base.title and clues.mentions.best(base.title) is None:
            bundles.append(clues.framed("shown:titled"))
        return clues.joined(*parts, Features(clues.sourced(subjects), tuple(bundles)))

    def _rows(
        self, base: SourceName, lists: Sequence[tuple[tuple[FieldName, ...], Features]], fields: Sequence[FieldName]
    ) -> Iterator[Ask]:
        of_length: Counter[int] = Counter()
        for subjects, evidence in lists[:LISTS_MAX]:
            yield Ask("rows", base, self._framed("rows", evidence), subjects)
            if len(subjects) < DISTINCT_MAX:
                yield Ask("distinct", base, self._framed("distinct", evidence), subjects)
            of_length[len(subjects)] += 1
            if of_length[len(subjects)] <= LISTS_KEPT:
                yield from self._ordered(base, subjects, evidence, fields)
                yield from self._by_related(base, subjects, evidence)

    def _ordered(
        self, base: SourceName, subjects: tuple[FieldName, ...], evidence: Features, fields: Sequence[FieldName]
    ) -> Iterator[Ask]:
        """The rows sorted by a field: all of them, or the first ones."""
        clues = self.clues
        unsaid = [each for each in base.fields if (each.is_amount or each.is_date) and each not in fields]
        unsaid.sort(key=lambda each: -clues.hinted(each))
        ordered = [each for each in fields if each.is_number or each.is_date] + [
            each for each in fields if not (each.is_number or each.is_date)
        ][:2]
        ordered = [each for each in ordered if each.kind != "boolean"]
        for order in dict.fromkeys([*ordered[:ORDERS_MAX], *unsaid[:UNSAID_ORDERS_MAX]]):
            order_evidence, place = clues.name("order", order), clues.mentions.best(order)
            for direction in DIRECTIONS:
                by = f"order:{direction}"
                # "oldest" falls on ages and rises on dates
                words = clues.freely(by), clues.freely(f"{by}:{dimension_of(order.unit) or order.kind}")
                own = clues.joined(evidence, order_evidence, *words, clues.near(by, place))
                yield Ask("rows", base, self._framed("first", own), subjects, order, direction, is_first=True)
                if place is not None:
                    yield Ask("rows", base, self._framed("sorted", own), subjects, order, direction)

    def _by_related(self, base: SourceName, subjects: tuple[FieldName, ...], evidence: Features) -> Iterator[Ask]:
        """The rows sorted by the number of their related rows."""
        clues = self.clues
        for link in base.links:
            if not link.is_many:
                continue
            source = clues.names.sources.get(link.target or "")
            link_evidence = clues.name("related:link", link)
            target = clues.name("related:rows", source) if source else Features(0, ())
            roles = [clues.role(link)] if source and link in base.links_to(source.name) else []
            own = clues.joined(evidence, link_evidence, target, *roles)
            for direction in DIRECTIONS:
                most = self._framed("most", own, clues.freely(f"most:{direction}"))
                yield Ask("rows", base, most, subjects, None, direction, True, related=link)

    # ---- numbers and groups ----

    def _numbers(self, base: SourceName, fields: Sequence[FieldName], evidence: Features) -> Iterator[Ask]:
        clues = self.clues
        numeric = [each for each in fields if each.is_amount][:4]
        unsaid = [] if numeric else [each for each in base.fields if each.is_amount][:2]
        for each in (*numeric, *unsaid):
            own = clues.joined(evidence, clues.name("measured", each))
            for length in (1, 2, 3):
                for functions in combinations(FUNCTIONS, length):
                    number = self._framed(f"numbers{length}", own, self._together(functions, each))
                    yield Ask("numbers", base, number, (each,), functions=functions)
        for pair in combinations(numeric[:3], 2):
            own = clues.joined(evidence, *(clues.name("measured", each) for each in pair))
            for one in FUNCTIONS:
                for other in FUNCTIONS:
                    parts = self._function(one, pair[0]), self._function(other, pair[1])
                    yield Ask("numbers", base, self._framed("numbers:pair", own, *parts), pair, functions=(one, other))
        for fields_of_one in combinations(numeric[:4], 3):
            own = clues.joined(evidence, *(clues.name("measured", each) for each in fields_of_one))
            for one in FUNCTIONS:
                same = self._framed("numbers:triple", own, self._function(one, fields_of_one[0]))
                yield Ask("numbers", base, same, fields_of_one, functions=(one, one, one))

    def _function(self, function: str, each: FieldName) -> Features:
        clues = self.clues
        place = clues.mentions.best(each)
        kind = f"fn:{function}"
        return Features(0, (clues.freely(kind), clues.near(kind, place, 3), clues.one(f"{kind}:{each.kind}")))

    def _together(self, functions: Sequence[Function], each: FieldName) -> Features:
        """Several functions of one field share features: “least” counts against the maximum, but not in “least and most”."""
        return self._function("+".join(functions), each)

    def _groups(self, base: SourceName, fields: Sequence[FieldName], evidence: Features) -> Iterator[Ask]:
        clues = self.clues
        dated = [each for each in base.fields if each.is_date]
        for by in dict.fromkeys([*fields[:GROUPS_MAX], base.title, *dated[:2]]):
            place = clues.mentions.best(by)
            source = Features(clues.sourced((by,)), ())
            own = clues.joined(evidence, clues.name("by", by), clues.near("by", place, 3), source)
            if by.is_date:
                for period in PERIODS:
                    parts = clues.joined(own, clues.freely(f"period:{period}"), clues.near(f"period:{period}", place))
                    yield from self._grouped(base, by, parts, fields, period)
            else:
                yield from self._grouped(base, by, own, fields, None)

    def _grouped(
        self, base: SourceName, by: FieldName, evidence: Features, fields: Sequence[FieldName], period: Period | None
    ) -> Iterator[Ask]:
        clues = self.clues
        yield Ask("groups", base, self._framed("groups", evidence), (by,), period=period)
        for direction in DIRECTIONS:
            common = self._framed("common", evidence, clues.freely(f"most:{direction}"))
            yield Ask("groups", base, common, (by,), None, direction, True, period=period)
        yield from self._by_two(base, by, evidence, fields, period)
        yield from self._distinct_counts(base, by, evidence, fields, period)
        numeric = [each for each in fields if each.is_amount and each is not by]
        unsaid = [each for each in base.columns if each.is_amount and each is not by]
        for measured in numeric[: 3 if period is None else 2] or unsaid[:1]:
            of = clues.joined(evidence, clues.name("measured", measured))
            for functions in SEVERAL if period is None and measured in numeric[:1] else ():
                own = self._framed(f"groups:of{len(functions)}", of, self._together(functions, measured))
                yield Ask("groups", base, own, (by,), functions=functions, measured=measured)
            for function in FUNCTIONS:
                own = clues.joined(of, self._function(function, measured))
                number = self._framed("groups:of", own)
                yield Ask("groups", base, number, (by,), functions=(function,), measured=measured, period=period)
                if period is not None or function in ("min", "max"):
                    continue
                for direction in DIRECTIONS:
                    most = self._framed("common:of", own, clues.freely(f"most:{direction}"))
                    yield Ask("groups", base, most, (by,), None, direction, True, (function,), measured)

    def _by_two(
        self, base: SourceName, by: FieldName, evidence: Features, fields: Sequence[FieldName], period: Period | None
    ) -> Iterator[Ask]:
        """Groups by a second field named after the first, with their count or a function of a named number."""
        clues = self.clues
        measured = next((each for each in fields if each.is_amount and each is not by), None)
        first = clues.mentions.best(by) if period is None else None
        for other in fields[:GROUPS_MAX]:
            place = clues.mentions.best(other)
            if other is by or other.is_date or place is None or self._are_one((by, other)):
                continue
            if first is not None and place.first < first.first:
                continue
            own = clues.joined(evidence, clues.name("by", other), clues.near("by", place, 3))
            yield Ask("groups", base, self._framed("groups:two", own), (by, other), period=period)
            for function in FUNCTIONS if measured not in (None, other) else ():
                assert measured is not None
                number = self._function(function, measured)
                of = self._framed("groups:two:of", own, clues.name("measured", measured), number)
                yield Ask("groups", base, of, (by, other), functions=(function,), measured=measured, period=period)

    def _distinct_counts(
        self, base: SourceName, by: FieldName, evidence: Features, fields: Sequence[FieldName], period: Period | None
    ) -> Iterator[Ask]:
        """The number of different values of another field in each group."""
        clues = self.clues
        countable = [each for each in fields if each is not by and not each.is_number and not each.is_date]
        for each in countable[:DISTINCT_FIELDS_MAX]:
            own = self._framed("groups:distinct", evidence, clues.name("measured", each))
            yield Ask("groups", base, own, (by,), functions=("count_distinct",), measured=each, period=period)
