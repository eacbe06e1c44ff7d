"""How a question about records is read, the types that it names and the conditions on their records; and how the filters of a
request become conditions: `FACET=value` for any of several, `-FACET=value` for none of them, an empty value for no value.

Records are prose, and most words of a question describe their content, not their fields. So a condition must hold only where
the question names a type of record ("tickets opened in March"), or contains nothing else. Elsewhere it adds weight.
"""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

from quarry.agent.reading import read_over
from quarry.agent.sources import DataAccess, data_access
from quarry.language.word_forms import STOP_WORDS, codes_in
from quarry.language.writing import languages
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.platform.text import placed_words, significant_words, words
from quarry.postgres.pool import Database
from quarry.query.filters import (
    RANGES,
    as_queried,
    between,
    can_have,
    compared,
    denies,
    facet_of,
    facets_of,
    parts_of,
    typed,
)
from quarry.query.paths import MONTH, nearest
from quarry.reader.mentions import ValueMention
from quarry.reader.names import SourceName
from quarry.reader.reading import Reading, chances_of, likely_conditions
from quarry.records.contract import AskFilters, Filtered, Intent, RecordType
from quarry.records.sources import RecordTypes, SearchedType
from quarry.retrieval.known_values import existing_values
from quarry.retrieval.values import Owners
from quarry.schema.algebra import AllOf, AnyOf, Comparison, Condition, Not, Operator, comparisons_of, mapped
from quarry.schema.source import DATE, NUMERIC_KINDS, NamedValue, Source
from quarry.services.services import Caller, Services
from quarry.spans.mention import DateRange, Span

QUESTION_WORDS = frozenset(
    """
    who what when where why how which whose whom is are was were do does did can could will would should has have had explain
    describe compare summarize summarise
    """.split()
)

QUESTION_PHRASES = (("tell", "me"), ("show", "me"), ("give", "me"), ("find", "out"))
KEYWORD_WORDS_MAX = 3
_OPERATORS = re.compile(r'"|(?:^|\s)-\S|\bOR\b')
_TYPED = re.compile(r'(-*+)("[^"]*"?|[^\s"]+)')
"""A word or phrase with the dashes before it. An odd number excludes it, as in the SQL function `read_query`."""
_SET_QUOTES = re.compile(r'“([^“”„"]*)”|„([^“”„"]*)[“”]|«([^«»"]*)»')
"""Typographic quotes, which `read_query` takes for plain ones."""


def classify_intent(query: str) -> Intent:
    """`question` if it is asked as one, or has more than three words; else `keyword`."""
    if is_question(query):
        return "question"
    typed = _plainly_quoted(query.strip())
    if typed.startswith('"') and typed.endswith('"'):
        return "keyword"
    return "keyword" if len(query.split()) <= KEYWORD_WORDS_MAX else "question"


def is_question(query: str) -> bool:
    """Whether it ends in a question mark or starts like a question."""
    if query.rstrip().endswith(("?", "？")):
        return True
    first_words = words(query)
    return bool(first_words) and (
        first_words[0].split("'")[0] in QUESTION_WORDS or tuple(first_words[:2]) in QUESTION_PHRASES
    )


def exclusions_in(query: str) -> list[Span]:
    """The places of words and phrases that a dash excludes ("-parks", '-"bike lanes"')."""
    return [Span(*typed.span()) for typed in _TYPED.finditer(_plainly_quoted(query)) if len(typed[1]) % 2]


def without_exclusions(query: str) -> str:
    """The query without the words that it excludes."""
    excluded = exclusions_in(query)
    if not excluded:
        return query
    starts, ends = [0, *(each.end for each in excluded)], [*(each.start for each in excluded), len(query)]
    rest = (query[start:end].strip() for start, end in zip(starts, ends, strict=True))
    return " ".join(filter(None, rest))


def words_to_look_up(query: str) -> str:
    """The text that the search by words gets: a question without stop words, anything else unchanged.

    "How much did the bridge go up" is about the bridge; its "much" and "go" are rare in records and would count for more. A code
    is a phrase, which lifts what holds it.
    """
    if _OPERATORS.search(_plainly_quoted(query)):
        return query
    codes = codes_in(query)
    others = " ".join(word for word in query.split() if not codes_in(word))
    if others and classify_intent(query) != "keyword":
        # spelt as in the question, since a refusal repeats them
        others = (
            " ".join(others[start:end] for word, start, end in placed_words(others) if word not in STOP_WORDS) or others
        )
    return " ".join([*([others] if others else []), *(f'"{code}"' for code in codes)])


def _plainly_quoted(query: str) -> str:
    """The query with typographic quotes as plain ones. No letter moves."""
    return _SET_QUOTES.sub(lambda quoted: f'"{quoted[0][1:-1]}"', query)


LIKELY, LIKELY_WHOLE = 0.5, 0.2
"""From this probability on, a condition is taken as meant. Less is enough for a whole value, and for a type's name."""
SURE = 0.7
"""From this probability on, one of several fields with the same value is meant alone."""
NAMED_MIN = 0.99
"""From this likeness on, words name a type of record."""
CONDITIONS_MAX = 12
YEAR_DAYS = 365
SpannedCondition = tuple[Condition, frozenset[Span]]
"""A condition on facets, and the characters that say it."""


class RecordsReading(NamedTuple):
    """A question as it was read. `reading` is what the reader made of it over the sources in `access`, by the names in `sources`.

    `conditions` are what its records must be like; `must_hold`: no others are meant. `named_types` are the types that it asks for
    by name. `words` are left to be found by words: all but what the conditions say; empty where the whole search text serves.
    `says_more`: words say more than which records are meant. `excludes`: a dash rules some out ("council -parks").
    `is_dated`: only records of some days are meant, a year at most.
    """

    types: RecordTypes
    text: str
    access: DataAccess
    reading: Reading
    conditions: Sequence[Condition] = ()
    named_types: Sequence[str] = ()
    must_hold: bool = False
    words: str = ""
    says_more: bool = True
    excludes: bool = False
    asks_for_latest: bool = False
    is_dated: bool = False

    @property
    def authors(self) -> frozenset[str]:
        """The authors that the question names, as the data spells them."""
        facets = _author_facets(self.types)
        on_authors = (each for each in comparisons_of(self.conditions) if each.field in facets)
        return frozenset(str(value) for each in on_authors if not denies(each) for value in each.scalars)

    @property
    def only_conditions(self) -> bool:
        """Whether it has nothing but conditions, so that it follows another question: "and in March?"."""
        return bool(self.conditions) and not (self.named_types or self.says_more)

    def lists(self, conditions: Sequence[Condition] = ()) -> bool:
        """Whether the question is only filters, its own or these: all records that meet them are listed."""
        if self.excludes and not self.named_types:
            return False  # what records hold is meant, not only which they are
        return self.must_hold and bool(self.conditions or conditions) and not self.says_more

    def conditions_for(self, table: Source) -> list[Condition] | None:
        """The conditions on the facets of this table; None where it lacks the facets of one."""
        conditions = [tellable(each, table) for each in self.conditions]
        applicable = [each for each in conditions if each is not None]
        return applicable if len(applicable) == len(conditions) else None


async def read_records(
    caller: Caller, services: Services, types: RecordTypes, text: str, names: Sequence[str] = (), *, earlier: str = ""
) -> RecordsReading:
    """Read `text` as a question about these types, or about those in `names` alone. It may follow an `earlier` question.
    Raises DatabaseUnavailable.
    """
    access = await data_access(caller, services, ("records",))
    sources = sources_of(types, access, names)
    today = access.today
    over = partial(read_over, names=sources, access=access, services=services, today=today)
    before = await over(earlier) if earlier else None
    reading = await over(text, before=before)
    return await off_loop(_placed, types, access, reading, goes_on=before is not None)


def sources_of(types: RecordTypes, access: DataAccess, names: Sequence[str] = ()) -> list[str]:
    """The sources of the types, or of those in `names`. Without names, also those that are counted but not searched."""
    return [
        name
        for name, (domain, own) in access.homes.items()
        if domain == "records"
        and name in access.schema.sources
        and (not names or own in names)
        and (own in types or own not in types.whole)
    ]


def _placed(types: RecordTypes, access: DataAccess, reading: Reading, *, goes_on: bool) -> RecordsReading:
    """The reading, split into conditions on records and words to find in them."""
    text, likely = reading.mentions.text, Likely(reading)
    conditions = [each for each in likely.conditions(types.union) if not is_soft(each[0], types.union)][:CONDITIONS_MAX]
    named_types = tuple(access.homes[name][1] for name in likely.sources)
    excluded = exclusions_in(text)
    says_more = likely.says_more(_spans(conditions))
    is_dated = any(
        _is_a_time(each, types.union, at_most=0 if says_more and _names_its_days(text, spans) else YEAR_DAYS)
        for each, spans in conditions
    )
    must_hold = bool(named_types) or not says_more or is_dated
    if not must_hold:
        conditions = [each for each in conditions if _is_of_people_or_days(each[0], types.union)]
        condition_spans = _spans(conditions)
        conditions += [each for each in likely.authors(_author_facets(types)) if condition_spans.isdisjoint(each[1])]
    rest = _without(text, [*_spans(conditions), *excluded])
    exclusions = " ".join(text[each.start : each.end] for each in excluded)
    return RecordsReading(
        types, text, access, reading, [each for each, _ in conditions], named_types, must_hold,
        words=f"{rest} {exclusions}".strip() if not goes_on and significant_words(rest) else "",
        says_more=says_more,
        excludes=bool(excluded),
        asks_for_latest=likely.asks_for_latest(access),
        is_dated=is_dated,
    )  # fmt: skip


@dataclass(frozen=True)
class Likely:
    """What the candidates of a reading agree on, weighed by their probabilities."""

    reading: Reading

    @cached_property
    def sources(self) -> list[str]:
        """The sources that the question names and likely asks for."""
        chances: defaultdict[str, float] = defaultdict(float)
        for candidate, chance in self.reading.best:
            chances[candidate.query["source"]] += chance
        names = (
            name.name
            for name, places in self.reading.mentions.places.items()
            if isinstance(name, SourceName) and places[0].likeness >= NAMED_MIN
        )
        return [each for each in names if chances[each] >= LIKELY_WHOLE]

    def conditions(self, table: Source) -> Iterator[SpannedCondition]:
        """The likely conditions on facets of the table."""
        mentions = self.reading.mentions
        yield from _together(filter(None, (self._of_value(value, table) for value in mentions.values)), table)
        measures = [each.place for each in mentions.days]
        measures += [each.place for several in (mentions.numbers, mentions.lengths) for each in several]
        # LIKELY is a share of all candidates, the chances are shares of the best
        total, dated = sum(chance for _, chance in self.reading.best), False
        for likely in likely_conditions(self.reading):
            kinds = {table.facets[name].facet for name in facets_of([likely.condition]) if name in table.facets}
            is_measured = len(kinds) == 1 and kinds <= {*NUMERIC_KINDS, "date"} and likely.ops <= {"=", *RANGES}
            spans = [self._span(each.first, each.last) for each in measures if each.mask & likely.mask]
            if is_measured and spans and total * likely.chance >= LIKELY and not likely.is_denied:
                dated = dated or not kinds.isdisjoint(("date", "year"))
                yield likely.condition, frozenset[Span]().union(*spans)
        if table.dated and not dated:
            # days date the records, but a year may be part of a name ("the 2026 budget")
            for each in mentions.days:
                if each.days.grain != "year" or not mentions.unread(each.place.mask):
                    yield on_days(table.dated, each.days), self._span(each.place.first, each.place.last)

    def _of_value(self, value: ValueMention, table: Source) -> SpannedCondition | None:
        """That one of the fields has the value, where the candidates ask for it, or that none has, where they exclude it."""
        chances = chances_of(value, self.reading.best)
        is_whole = any(link.is_whole for link in value.links)
        if not (
            is_whole
            or any(token.is_capital for token in self.reading.mentions.tokens[value.place.first : value.place.last])
        ):
            return None  # a word like others is no part of a name
        # a guess excludes nothing
        is_denied = chances.denied >= max(LIKELY, chances.asked_for)
        if not is_denied and chances.asked_for < (LIKELY_WHOLE if is_whole else LIKELY):
            return None
        one = {name for name, chance in chances.of_field.items() if chance >= SURE}
        by_facet: dict[str, list[str]] = {}
        for link in value.links:
            is_meant = link.field in one if one else link.field in table.facets
            if link.is_whole == is_whole and is_meant and link.field in table.facets:
                by_facet.setdefault(link.field, []).append(link.value)
        if not by_facet:
            return None
        op: Operator = "!=" if is_denied else "="
        parts = [compared(name, op, list(dict.fromkeys(values))) for name, values in by_facet.items()]
        return AnyOf.of(parts), self._span(value.place.first, value.place.last)

    def authors(self, facets: Set[str]) -> Iterator[SpannedCondition]:
        """That somebody whom the question names in full is the author, where that is what it rather asks of them, if anything."""
        for value in self.reading.mentions.values:
            names = {link.field: link.value for link in value.links if link.is_whole and link.field in facets}
            asked_of = chances_of(value, self.reading.best).asked_of
            as_author = sum(asked_of.get(name, 0.0) for name in facets)
            if names and as_author >= SURE * sum(asked_of.values()) > 0:
                parts = [compared(name, "=", [spelling]) for name, spelling in names.items()]
                yield AnyOf.of(parts), self._span(value.place.first, value.place.last)

    def says_more(self, spans: frozenset[Span]) -> bool:
        """Whether there are words beyond the conditions at `spans` and the names of types."""
        tokens = self.reading.mentions.tokens
        inside = {token.text for token in tokens if any(each.start <= token.start < each.end for each in spans)}
        return any(word not in inside and not inside.issuperset(word.split()) for word in self.reading.unread)

    def asks_for_latest(self, access: DataAccess) -> bool:
        """Whether the newest records are likely asked for."""
        return sum(chance for each, chance in self.reading.best if _is_newest(each.query, access)) >= LIKELY

    def _span(self, first: int, last: int) -> frozenset[Span]:
        tokens = self.reading.mentions.tokens
        return frozenset([Span(tokens[first].start, tokens[last - 1].end)])


def on_days(field: str, days: DateRange) -> Condition:
    """The condition that a date is one of these days, or in these months of any year."""
    first, last = days.first, days.last
    if not days.months:
        return between(field, first, last)
    in_months = compared(f"{MONTH}({field})", "=", sorted(days.months))
    return AllOf(all_of=(in_months, between(field, first, last))) if first or last else in_months


def _author_facets(types: RecordTypes) -> frozenset[str]:
    """The facets that name the author of a record's text."""
    return frozenset(name for each in types.values() for name in each.authors)


def _spans(conditions: Iterable[SpannedCondition]) -> frozenset[Span]:
    """The characters of the conditions."""
    return frozenset[Span]().union(*(spans for _, spans in conditions))


def _together(conditions: Iterable[SpannedCondition], table: Source) -> list[SpannedCondition]:
    """The conditions, with those joined by "or" that name values of a field with one value a row."""
    joined: list[SpannedCondition] = []
    for condition, spans in conditions:
        same = next(
            (place for place, other in enumerate(joined) if _are_alternatives(condition, other[0], table)), None
        )
        if same is None:
            joined.append((condition, spans))
        else:
            other, others = joined[same]
            joined[same] = AnyOf(any_of=(*parts_of(other), *parts_of(condition))), spans | others
    return joined


def _are_alternatives(condition: Condition, other: Condition, table: Source) -> bool:
    facets = facets_of([condition, other])
    is_asked_for = not any(map(denies, comparisons_of([condition, other])))
    return is_asked_for and len(facets) == 1 and not any(table.facets[name].has_several for name in facets)


def _is_newest(query: Mapping[str, Any], access: DataAccess) -> bool:
    order = query.get("order") or [{"by": None}]
    dated = access.schema.sources[query["source"]].dated
    return dated is not None and order[0] == {"by": dated, "direction": "desc"}


def _without(text: str, spans: Sequence[Span]) -> str:
    """A text without some of its characters."""
    characters = list(text)
    for each in spans:
        characters[each.start : each.end] = " " * (each.end - each.start)
    return " ".join("".join(characters).split())


def is_soft(condition: Condition, table: Source) -> bool:
    """Whether its values are ordinary words, which a question may use without meaning the field."""
    return not any(denies(each) or table.facets[facet_of(each)].is_hard for each in comparisons_of([condition]))


def _is_of_people_or_days(condition: Condition, table: Source) -> bool:
    facets = [table.facets[facet_of(each)] for each in comparisons_of([condition]) if not denies(each)]
    return bool(facets) and all(each.is_people or each.facet in ("name", "date") for each in facets)


def _names_its_days(text: str, spans: Iterable[Span]) -> bool:
    """Whether days are named by their number or month: the content of records has such days, as in "the storm of March 2025".
    "Last month" dates the records.
    """
    day_words = [word for each in spans for word in words(text[each.start : each.end])]
    months = {month.lower() for each in languages().values() for month in each.months}
    return not months.isdisjoint(day_words) or any(map(str.isdigit, "".join(day_words)))


def _is_a_time(condition: Condition, table: Source, at_most: int) -> bool:
    """Whether it is about one day, or about days that are at most `at_most` days apart."""
    if not isinstance(condition, Comparison) or condition.op not in ("=", "between"):
        return False
    if table.facets[facet_of(condition)].facet != "date" or condition.field.startswith(f"{MONTH}("):
        return False  # a month of any year, such as those of "winter", is no range of days
    days = [datetime.date.fromisoformat(str(each)[:10]) for each in condition.scalars]
    return (max(days) - min(days)).days <= at_most


def tellable(condition: Condition, table: Source) -> Condition | None:
    """The parts of a condition that this table's facets can meet. A person whom several facets may name is looked for in the
    first facet of people. Facets of the row come before those of rows that it refers to.
    """
    people = [facet.name for facet in table.facets.values() if facet.is_people]
    facets = {part: table.facets[facets_of([part])[0]] for part in parts_of(condition) if can_have(table, part)}
    hops = min((facet.hops for facet in facets.values()), default=0)
    facets = {part: facet for part, facet in facets.items() if facet.hops == hops}
    if sum(facet.name in people for facet in facets.values()) > 1:
        facets = {part: facet for part, facet in facets.items() if facet.name not in people[1:]}
    return AnyOf.of([*facets]) if facets else None


class SearchScope(NamedTuple):
    """Which records are searched: of these dates and facets, and where the search `is_strict`, with the phrases in quotes."""

    date_from: datetime.date | None = None
    date_to: datetime.date | None = None
    is_strict: bool = False
    facets: Sequence[Condition] = ()

    @property
    def dated(self) -> list[Condition]:
        """The condition on dates, if there is one."""
        first, last = self.date_from, self.date_to
        return [between(DATE, first, last)] if first or last else []

    @property
    def required_conditions(self) -> list[Condition]:
        """All conditions: on dates, then on facets."""
        return [*self.dated, *self.facets]


EVERYTHING = SearchScope()
_EXACT_KINDS = ("value", "array", "name", "place")
"""Facets whose values are compared as the data spells them."""


async def filtered_types(
    request: Filtered | AskFilters,
    names: Sequence[RecordType],
    types: RecordTypes,
    database: Database,
    *,
    is_strict: bool = False,
) -> tuple[tuple[SearchedType, ...], SearchScope]:
    """The types of these names, or all, and which of their records a request is about. Raises InvalidInput for a facet that no
    such type has, SourceUnavailable where none of them can be read, and DatabaseUnavailable.
    """
    named_types = types.by_names(names)
    facets = facet_conditions(request.facets, named_types)
    scope = SearchScope(request.from_date, request.to_date, is_strict, facets)
    return named_types, await with_known_values(database, scope, named_types, types.owners)


async def with_known_values(
    database: Database, scope: SearchScope, types: Sequence[SearchedType], owners: Owners
) -> SearchScope:
    """The scope with its values spelt as in the data: `defeated` means "Defeated". Where rows have owners, only the values of
    those in `owners` are known.
    """
    tables = [each.table for each in types]
    exact = {facet.name for table in tables for facet in table.facets.values() if facet.facet in _EXACT_KINDS}
    by_value = {
        (each.field, str(value)): NamedValue((each.field,), str(value))
        for each in comparisons_of(scope.facets)
        if each.field in exact and each.op not in RANGES
        for value in each.scalars
    }
    if not by_value:
        return scope
    spellings = await existing_values(database, tables, [*by_value.values()], owners, whole=True)
    existing = {key: values for key, values in zip(by_value, spellings, strict=True) if values}

    def in_data(condition: Condition, _: str = "") -> Condition:
        if not isinstance(condition, Comparison):
            return mapped(condition, in_data)
        spelt = [existing.get((condition.field, str(value)), [value]) for value in condition.scalars]
        is_named = bool(spelt) and condition.op not in RANGES
        return compared(condition.field, condition.op, [*chain.from_iterable(spelt)]) if is_named else condition

    return scope._replace(facets=tuple(map(in_data, scope.facets)))


NEGATED = "-"
TO = ".."
"""Stands between the ends of a range. Either end may be missing."""
_RANGED = ("number", "money", "year", "date")
DENYING = ("!=", "not_null")
FACETS_MAX = 12


def facet_conditions(
    parameters: Mapping[str, Sequence[str]], types: Sequence[SearchedType], *, at: str = ""
) -> tuple[Condition, ...]:
    """The conditions of a request's facets, given by name or, negated, with a dash before the name.

    Raises InvalidInput for a facet that no record of `types` has, and for a value that it cannot have; `at` is the pointer to
    what holds them.
    """
    if len(parameters) > FACETS_MAX:
        raise InvalidInput([FieldError(at, f"at most {FACETS_MAX} facets at once")])
    tables = {name: each.table for each in types for name in each.table.facets}
    conditions_of_all: list[Condition] = []
    wrong: list[FieldError] = []
    for name, values in parameters.items():
        facet = name.removeprefix(NEGATED)
        try:
            if facet not in tables:
                raise ValueError(nearest_facets(facet, types))
            conditions = _conditions(facet, values, tables[facet], is_denied=name != facet)
            for each in conditions:
                typed(each, tables[facet])
            conditions_of_all += conditions
        except ValueError as error:
            place = name.replace("~", "~0").replace("/", "~1")
            wrong.append(FieldError(f"{at}/{place}", f"{name}: {error}"))
    if wrong:
        raise InvalidInput(wrong)
    return tuple(conditions_of_all)


def types_with(conditions: Sequence[Condition], types: Sequence[SearchedType], *also: str) -> tuple[SearchedType, ...]:
    """The types that have the facets of all conditions, and the facets `also`."""
    facets = {*facets_of(conditions), *also}
    return tuple(each for each in types if facets <= each.table.facets.keys())


def _conditions(name: str, values: Sequence[str], table: Source, *, is_denied: bool) -> list[Condition]:
    """The conditions for the values of one facet: any of them or, denied, none. An empty value stands for records without one."""
    kind, set_values, conditions = table.facets[name].facet, [value for value in values if value], list[Condition]()
    span = _range(name, values[0], kind) if len(values) == 1 and kind in _RANGED else None
    if span is not None:
        conditions.append(Not(negated=span) if is_denied else span)
    elif set_values:
        conditions.append(compared(name, "!=" if is_denied else "=", set_values))
    if len(set_values) < len(values):
        conditions.append(Comparison(field=name, op="not_null" if is_denied else "is_null"))
    return conditions if is_denied else [AnyOf.of(conditions)]


def _range(name: str, value: str, kind: str | None) -> Condition | None:
    """The range that a value writes, as `5..10` or `>5..`; None where it is no range."""
    first, dots, last = value.partition(TO)
    if not dots or not (first or last):
        return None
    try:
        if kind == "date":
            for day in filter(None, (first, last)):
                datetime.date.fromisoformat(day)
            return between(name, first or None, last or None)
        least, most = (float(each.lstrip(">").lstrip("<")) if each else None for each in (first, last))
    except ValueError:
        return None
    if not (first.startswith(">") or last.startswith("<")):
        return between(name, least, most)
    ops: tuple[Operator, Operator] = (">" if first.startswith(">") else ">=", "<" if last.startswith("<") else "<=")
    return AllOf.of([compared(name, op, [end]) for op, end in zip(ops, (least, most), strict=True) if end is not None])


def nearest_facets(name: str, types: Sequence[SearchedType]) -> str:
    """The message that no record of these types has such a facet, with the nearest names."""
    near = nearest(name, (facet for each in types for facet in each.table.facets))
    return f"the records searched have no such facet; the nearest are {', '.join(near)}"


def required(scope: SearchScope, source: Source) -> list[Condition]:
    """The filters as conditions on a source. Raises InvalidInput where it has no such field."""
    required_conditions: list[Condition] = []
    for condition in scope.required_conditions:
        try:
            required_conditions.append(as_queried(condition, source))
        except ValueError as error:
            facets = ", ".join(facets_of([condition]))
            message = (
                f"the user's filter on {facets} must hold, and {source.name} has no such field: ask another source"
            )
            raise InvalidInput([FieldError("/source", message)]) from error
    return required_conditions
