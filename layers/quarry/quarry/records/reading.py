"""How a question about records is read: the types that it names, and the conditions on their records.

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
from typing import Any, NamedTuple

from quarry.agent.reading import read_over
from quarry.agent.sources import DataAccess, data_access
from quarry.language.word_forms import STOP_WORDS, codes_in
from quarry.language.writing import languages
from quarry.platform.off_loop import off_loop
from quarry.platform.text import placed_words, significant_words, words
from quarry.query.filters import RANGES, between, can_have, compared, denies, facet_of, facets_of, parts_of
from quarry.query.paths import MONTH
from quarry.reader.mentions import ValueMention
from quarry.reader.names import SourceName
from quarry.reader.reading import Reading, chances_of, likely_conditions
from quarry.records.contract import Intent
from quarry.records.sources import RecordTypes
from quarry.schema.algebra import AllOf, AnyOf, Comparison, Condition, Operator, comparisons_of
from quarry.schema.source import NUMERIC_KINDS, Source
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
    if is_asked(query):
        return "question"
    typed = _plainly_quoted(query.strip())
    if typed.startswith('"') and typed.endswith('"'):
        return "keyword"
    return "keyword" if len(query.split()) <= KEYWORD_WORDS_MAX else "question"


def is_asked(query: str) -> bool:
    """Whether it ends in a question mark or starts like a question."""
    if query.rstrip().endswith(("?", "？")):
        return True
    found = words(query)
    return bool(found) and (found[0].split("'")[0] in QUESTION_WORDS or tuple(found[:2]) in QUESTION_PHRASES)


def exclusions_in(query: str) -> list[Span]:
    """The places of words and phrases that a dash excludes ("-parks", '-"bike lanes"')."""
    return [Span(*typed.span()) for typed in _TYPED.finditer(_plainly_quoted(query)) if len(typed[1]) % 2]


def without_exclusions(query: str) -> str:
    """The query without the words that it excludes."""
    excluded = exclusions_in(query)
    if not excluded:
        return query
    starts, ends = [0, *(each.end for each in excluded)], [*(each.start for each in excluded), len(query)]
    kept = (query[start:end].strip() for start, end in zip(starts, ends, strict=True))
    return " ".join(filter(None, kept))


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
    """A question as it was read. `read` is what the reader made of it over the sources in `access`, by the names in `sources`.

    `conditions` are what its records must be like; `must_hold`: no others are meant. `named` are the types that it asks for by
    name. `words` are left to be found by words: all but what the conditions say; empty where the whole search text serves.
    `says_more`: words say more than which records are meant. `excludes`: a dash rules some out ("council -parks").
    `is_dated`: only records of some days are meant, a year at most.
    """

    types: RecordTypes
    text: str
    access: DataAccess
    read: Reading
    conditions: Sequence[Condition] = ()
    named: Sequence[str] = ()
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
        named = (each for each in comparisons_of(self.conditions) if each.field in facets)
        return frozenset(str(value) for each in named if not denies(each) for value in each.scalars)

    @property
    def only_conditions(self) -> bool:
        """Whether it has nothing but conditions, so that it follows another question: "and in March?"."""
        return bool(self.conditions) and not (self.named or self.says_more)

    def lists(self, conditions: Sequence[Condition] = ()) -> bool:
        """Whether it only says which records are meant, by its conditions or the `conditions` ones."""
        if self.excludes and not self.named:
            return False  # what records hold is meant, not only which they are
        return self.must_hold and bool(self.conditions or conditions) and not self.says_more

    def conditions_for(self, table: Source) -> list[Condition] | None:
        """The conditions on the facets of this table; None where it lacks the facets of one."""
        conditions = [tellable(each, table) for each in self.conditions]
        found = [each for each in conditions if each is not None]
        return found if len(found) == len(conditions) else None


async def read_records(
    caller: Caller, services: Services, types: RecordTypes, text: str, names: Sequence[str] = (), *, earlier: str = ""
) -> RecordsReading:
    """Read `text` as a question about these types, or about those in `names` alone. It may follow an `earlier` question.
    Raises DatabaseUnavailable.
    """
    access = await data_access(caller, services)
    sources = _sources(types, names, access)
    today = access.today
    over = partial(read_over, names=sources, access=access, services=services, today=today)
    before = await over(earlier) if earlier else None
    read = await over(text, before=before)
    return await off_loop(_placed, types, access, read, goes_on=before is not None)


def _sources(types: RecordTypes, names: Sequence[str], access: DataAccess) -> list[str]:
    """The sources of the types. Without `names`, also the sources that are counted but not searched."""
    return [
        name
        for name, (domain, own) in access.homes.items()
        if domain == "records"
        and name in access.schema.sources
        and (own in names if names else own in types or own not in types.whole)
    ]


def _placed(types: RecordTypes, access: DataAccess, read: Reading, *, goes_on: bool) -> RecordsReading:
    """The reading, split into conditions on records and words to find in them."""
    text, likely = read.mentions.text, Likely(read)
    conditions = [each for each in likely.conditions(types.united) if not is_soft(each[0], types.united)][
        :CONDITIONS_MAX
    ]
    named = tuple(own for name in likely.sources if (own := access.homes[name][1]) in types.counted)
    excluded = exclusions_in(text)
    says_more = likely.says_more(_spans(conditions))
    is_dated = any(
        _is_a_time(each, types.united, at_most=0 if says_more and _names_its_days(text, spans) else YEAR_DAYS)
        for each, spans in conditions
    )
    must_hold = bool(named) or not says_more or is_dated
    if not must_hold:
        conditions = [each for each in conditions if _is_of_people_or_days(each[0], types.united)]
        known = _spans(conditions)
        conditions += [each for each in likely.authors(_author_facets(types)) if known.isdisjoint(each[1])]
    left = _without(text, [*_spans(conditions), *excluded])
    kept = " ".join(text[each.start : each.end] for each in excluded)
    return RecordsReading(
        types, text, access, read, [each for each, _ in conditions], named, must_hold,
        words=f"{left} {kept}".strip() if not goes_on and significant_words(left) else "",
        says_more=says_more,
        excludes=bool(excluded),
        asks_for_latest=likely.asks_for_latest(access),
        is_dated=is_dated,
    )  # fmt: skip


@dataclass(frozen=True)
class Likely:
    """What the candidates of a reading agree on, weighed by their probabilities."""

    read: Reading

    @cached_property
    def sources(self) -> list[str]:
        """The sources that the question names and likely asks for."""
        chances: defaultdict[str, float] = defaultdict(float)
        for candidate, chance in self.read.best:
            chances[candidate.query["source"]] += chance
        named = (
            name.name
            for name, places in self.read.mentions.places.items()
            if isinstance(name, SourceName) and places[0].likeness >= NAMED_MIN
        )
        return [each for each in named if chances[each] >= LIKELY_WHOLE]

    def conditions(self, table: Source) -> Iterator[SpannedCondition]:
        """The likely conditions on facets of the table."""
        mentions = self.read.mentions
        yield from _together(filter(None, (self._of_value(value, table) for value in mentions.values)), table)
        measures = [each.place for each in mentions.days]
        measures += [each.place for several in (mentions.numbers, mentions.lengths) for each in several]
        # LIKELY is a share of all candidates, the chances are shares of the best
        known, dated = sum(chance for _, chance in self.read.best), False
        for likely in likely_conditions(self.read):
            kinds = {table.facets[name].facet for name in facets_of([likely.condition]) if name in table.facets}
            is_measured = len(kinds) == 1 and kinds <= {*NUMERIC_KINDS, "date"} and likely.ops <= {"=", *RANGES}
            spans = [self._span(each.first, each.last) for each in measures if each.mask & likely.mask]
            if is_measured and spans and known * likely.chance >= LIKELY and not likely.is_denied:
                dated = dated or not kinds.isdisjoint(("date", "year"))
                yield likely.condition, frozenset[Span]().union(*spans)
        if table.dated and not dated:
            # days date the records, but a year may be part of a name ("the 2026 budget")
            for each in mentions.days:
                if each.days.grain != "year" or not mentions.unread(each.place.mask):
                    yield on_days(table.dated, each.days), self._span(each.place.first, each.place.last)

    def _of_value(self, value: ValueMention, table: Source) -> SpannedCondition | None:
        """That one of the fields has the value, where the candidates ask for it, or that none has, where they exclude it."""
        chances = chances_of(value, self.read.best)
        is_whole = any(link.is_whole for link in value.links)
        if not (
            is_whole
            or any(token.is_capital for token in self.read.mentions.tokens[value.place.first : value.place.last])
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
        for value in self.read.mentions.values:
            names = {link.field: link.value for link in value.links if link.is_whole and link.field in facets}
            asked_of = chances_of(value, self.read.best).asked_of
            as_author = sum(asked_of.get(name, 0.0) for name in facets)
            if names and as_author >= SURE * sum(asked_of.values()) > 0:
                parts = [compared(name, "=", [written]) for name, written in names.items()]
                yield AnyOf.of(parts), self._span(value.place.first, value.place.last)

    def says_more(self, spans: frozenset[Span]) -> bool:
        """Whether there are words beyond the conditions at `spans` and the names of types."""
        tokens = self.read.mentions.tokens
        inside = {token.text for token in tokens if any(each.start <= token.start < each.end for each in spans)}
        return any(word not in inside and not _within(word, inside) for word in self.read.unread)

    def asks_for_latest(self, access: DataAccess) -> bool:
        """Whether the newest records are likely asked for."""
        return sum(chance for each, chance in self.read.best if _is_newest(each.query, access)) >= LIKELY

    def _span(self, first: int, last: int) -> frozenset[Span]:
        tokens = self.read.mentions.tokens
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
    found: list[SpannedCondition] = []
    for condition, spans in conditions:
        same = next((place for place, other in enumerate(found) if _are_alternatives(condition, other[0], table)), None)
        if same is None:
            found.append((condition, spans))
        else:
            other, others = found[same]
            found[same] = AnyOf(any_of=(*parts_of(other), *parts_of(condition))), spans | others
    return found


def _are_alternatives(condition: Condition, other: Condition, table: Source) -> bool:
    facets = facets_of([condition, other])
    is_asked_for = not any(map(denies, comparisons_of([condition, other])))
    return is_asked_for and len(facets) == 1 and not any(table.facets[name].has_several for name in facets)


def _within(phrase: str, words: set[str]) -> bool:
    return set(phrase.split()) <= words


def _is_newest(query: Mapping[str, Any], access: DataAccess) -> bool:
    order = query.get("order") or [{"by": None}]
    dated = access.schema.sources[query["source"]].dated
    return dated is not None and order[0] == {"by": dated, "direction": "desc"}


def _without(text: str, spans: Sequence[Span]) -> str:
    """A text without some of its characters."""
    kept = list(text)
    for each in spans:
        kept[each.start : each.end] = " " * (each.end - each.start)
    return " ".join("".join(kept).split())


def is_soft(condition: Condition, table: Source) -> bool:
    """Whether its values are ordinary words, which a question may use without meaning the field."""
    return not any(denies(each) or table.facets[facet_of(each)].is_hard for each in comparisons_of([condition]))


def _is_of_people_or_days(condition: Condition, table: Source) -> bool:
    facets = [table.facets[facet_of(each)] for each in comparisons_of([condition]) if not denies(each)]
    return bool(facets) and all(each.is_people or each.facet in ("name", "date") for each in facets)


def _names_its_days(text: str, spans: Iterable[Span]) -> bool:
    """Whether days are named by their number or month, as those of what records tell may be: "the storm of March 2025". "Last
    month" is reckoned from today, and means the records.
    """
    day_words = [word for each in spans for word in words(text[each.start : each.end])]
    months = {month.lower() for each in languages().values() for month in each.months}
    return not months.isdisjoint(day_words) or any(map(str.isdigit, "".join(day_words)))


def _is_a_time(condition: Condition, table: Source, at_most: int) -> bool:
    """Whether it is about a day, or about days that are `at_most` so many days apart."""
    if not isinstance(condition, Comparison) or condition.op not in ("=", "between"):
        return False
    if table.facets[facet_of(condition)].facet != "date" or condition.field.startswith(f"{MONTH}("):
        return False  # a month of any year, such as those of "winter", is no range of days
    days = [datetime.date.fromisoformat(str(each)[:10]) for each in condition.scalars]
    return (max(days) - min(days)).days <= at_most


def tellable(condition: Condition, table: Source) -> Condition | None:
    """As much of a condition as this table's facets can meet. A person who may stand in several facets is looked for in the first
    facet of people. What a row may be like itself is not asked of what it refers to.
    """
    people = [facet.name for facet in table.facets.values() if facet.is_people]
    facets = {part: table.facets[facets_of([part])[0]] for part in parts_of(condition) if can_have(table, part)}
    nearest = min((facet.hops for facet in facets.values()), default=0)
    facets = {part: facet for part, facet in facets.items() if facet.hops == nearest}
    if sum(facet.name in people for facet in facets.values()) > 1:
        facets = {part: facet for part, facet in facets.items() if facet.name not in people[1:]}
    return AnyOf.of([*facets]) if facets else None
