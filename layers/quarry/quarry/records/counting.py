"""Numbers that a question asks for: counted over all records of a type, exactly, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from quarry.postgres.pool import Database
from quarry.query.asked import answer, relaxations
from quarry.query.asked import count as count_rows
from quarry.query.of_question import TableQuestion
from quarry.query.worded import labels
from quarry.records.contract import AggregationEvent, CountedGroup
from quarry.records.count_wording import counted_on, is_in_time, numbers_of, sentence, share_of
from quarry.records.filters import in_request
from quarry.records.reading import (
    CLAUSES_MAX,
    RecordsReading,
    is_soft,
    known_values,
    may_hold,
    names_records,
    parts_of_others,
    tells_when,
    told_of,
)
from quarry.records.retrieval import EVERYTHING, Scope, describe
from quarry.records.search_plan import besides
from quarry.records.searched_types import RecordTypes, SearchedType
from quarry.records.understood import (
    ends_duration,
    is_compared_unread,
    is_read_whole,
    is_shortened,
    lists_values,
    may_be_sold,
    names_nothing_else,
    of_others,
    only_measures,
    only_of,
    only_says_done,
    only_says_sold,
)
from quarry.retrieval.answers import Group, latest
from quarry.retrieval.facets import SearchTable
from quarry.spans.mention import (
    Asked,
    Cue,
    DateRange,
    FacetName,
    Known,
    KnownValue,
    Mention,
    MoneyRange,
    NumberRange,
    Phrase,
    Place,
    Span,
    Word,
)
from quarry.spans.question import Ask, Clause, Condition, spans_of
from quarry.spans.reckoning import groups_in
from quarry.spans.shares import said_of_rows
from quarry.spans.united_tables import is_misnamed, nearest

GROUPS_MAX = 50
RELAXATIONS_MAX = 2
_QUOTES = frozenset('"“„«')
_TIMES = frozenset(("time", "occas"))
"""The stems of what counts records, whatever these are called: "how many times"."""


@dataclass(frozen=True)
class Counting:
    """What is to be counted: the rows of one table that meet the clauses and hold the words; `base`: of which rows these are a
    share, where that is asked for; `beside`: what is counted of other types for the same question.
    """

    type: str
    table: SearchTable
    ask: Ask
    clauses: Sequence[Clause]
    types: RecordTypes
    words: Sequence[str] = ()
    base: Sequence[Clause] | None = None
    beside: Sequence[Counting] = ()

    def may_be_told_by(self, type: str) -> bool:
        """Whether records of a type say what was counted, of anybody's tables its own. None says how many there are in all."""
        counted = (self.type, *(each.type for each in self.beside))
        return bool(self.clauses or self.words) and (type in counted or not self.table.reckons)


@dataclass(frozen=True)
class Counted:
    """A number, exactly, with what is said about it in a sentence."""

    event: AggregationEvent
    sentence: str
    basis: str
    """What it was counted on, in words."""


def what_to_count(reading: RecordsReading, types: Sequence[SearchedType], scope: Scope = EVERYTHING) -> Counting | None:
    """What the question wants counted of one type of `types`, or of each of several, or of what else is counted, in `scope`; None
    where it asks for no number of records, and where these do not tell what it asks.
    """
    question = reading.question
    if question.unanswerable or question.excluded_words or len(question.clauses) > CLAUSES_MAX:
        return None
    if not _asks_for_number(reading) or _counts_something_else(reading):
        return None
    one, *others = reading.counted or [()]
    named = one or _types_grouped(reading) or (reading.named if _is_share(reading) else ())
    clauses = [
        clause
        for clause in question.clauses
        if not is_soft(clause, reading.types.united) and not _is_unknown(clause, reading)
    ]
    needs_all = question.ask.function is not None or _is_share(reading) or lists_values(reading)
    if needs_all and not is_read_whole(reading, clauses):
        return None
    if reading.types.united.reckons and (not _is_about_rows(reading, clauses) or is_compared_unread(reading, clauses)):
        return None
    if others:
        return _each_of(reading, [one, *others], clauses, types, scope)
    for name in named or _types_by_clauses(reading, clauses):
        if name in reading.types and name not in (each.name for each in types):
            continue
        own = _own(reading, name, clauses)
        told = _told(reading, name, own, scope)
        if told is not None:
            return _counting(reading, name, own, told, scope)
    return None


def _own(reading: RecordsReading, name: str, clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses that say something of a type: the words of others are looked for in its records."""
    words = parts_of_others(reading.parsed, clauses, [reading.types.counted[name]])
    return [clause for clause in clauses if clause not in words]


def _each_of(
    reading: RecordsReading,
    named: Sequence[Sequence[str]],
    clauses: Sequence[Clause],
    types: Sequence[SearchedType],
    scope: Scope,
) -> Counting | None:
    """What is counted of each of several types; None where one of them cannot be told, or more is asked than their numbers."""
    searched = {each.name for each in types}
    each = list[Counting]()
    for names in named:
        name = next((name for name in names if name not in reading.types or name in searched), None)
        told = None if name is None else told_of(reading.types.counted[name], besides(clauses, scope))
        counting = None if name is None or told is None else _counting(reading, name, clauses, told, scope)
        if counting is None or counting.words or counting.ask != Ask("count"):
            return None
        each.append(counting)
    first, *beside = each
    return replace(first, beside=beside)


def _counting(
    reading: RecordsReading, name: str, clauses: Sequence[Clause], told: Sequence[Clause], scope: Scope
) -> Counting | None:
    """What is counted of a type that tells the clauses so; None where it holds words that cannot be counted by."""
    ask, table = reading.question.ask, reading.types.counted[name]
    if ask.kind == "extreme":
        # who has no such date is not the first
        told = [clause for clause in told if not _only_has(clause, ask.facet)]
    used = spans_of(clauses)
    counted = {facet.name for facet in table.facets if facet.is_counted}
    for condition in _said_whole(reading, counted, used):
        told, used = [*told, (condition,)], used | {*condition.evidence}
    words = list(_words(reading, used))
    said = said_of_rows(reading.parsed, told) if _is_share(reading) else None
    is_told = name in reading.types and ask.kind != "distinct" and ask.function is None and said is None
    if said == [] or (words and not is_told):
        return None
    given = [*scope.dated, *scope.facets]
    base = None if said is None else [*given, *(clause for clause in told if clause not in said)]
    # what is asked for may be what the question says, too
    once = {_plainly(clause) for clause in given}
    own = [clause for clause in told if _plainly(clause) not in once]
    return Counting(name, table, ask, [*given, *own], reading.types, words, base)


def _plainly(clause: Clause) -> Clause:
    """What is said, wherever it is."""
    return tuple(replace(condition, strength="stated", evidence=()) for condition in clause)


def _is_share(reading: RecordsReading) -> bool:
    return "share" in reading.asked


def _only_has(clause: Clause, facet: str | None) -> bool:
    return all(
        each.facet == facet and not each.values and each.range is None and not each.is_negated for each in clause
    )


def _told(reading: RecordsReading, name: str, clauses: Sequence[Clause], scope: Scope) -> list[Clause] | None:
    """The conditions as a type can tell them; None where it cannot tell all that the question says."""
    table, is_anybodys = reading.types.counted[name], reading.types.united.reckons
    given = [{condition.facet} for clause in scope.facets for condition in clause]
    others = of_others(reading, name, table) if is_anybodys else {}
    told = told_of(table, [only_of(clause, others) for clause in besides(clauses, scope)])
    if is_misnamed(reading.parsed, table, reading.types.united):
        return None
    tells_all = all(names & table.by_name.keys() for names in (*_facets_named(reading), *given))
    if told is None or not tells_all or not may_be_sold(reading, table):
        return None
    if is_anybodys and not names_nothing_else(reading, name, table, clauses, others):
        return None
    return told if tells_when(reading.parsed, reading.question, table) else None


async def count(database: Database, wanted: Counting) -> Counted | None:
    """The number; None where no record holds the words. Raises DatabaseUnavailable."""
    if wanted.ask.kind == "extreme":
        return await _extreme(database, wanted)
    if wanted.beside:
        return await _together(database, [replace(wanted, beside=()), *wanted.beside])
    asked = TableQuestion(wanted.table, wanted.ask, wanted.clauses, " ".join(wanted.words))
    found = await answer(database, asked)
    number = found.rows if wanted.ask.kind == "groups" or found.number is None else found.number
    if wanted.words and not number:
        # what is said in other words is not counted
        return None
    told = _in_order(wanted, found.groups)
    event = AggregationEvent(
        by=_by(wanted),
        groups=[CountedGroup(value=group.value, count=group.rows, **group.measures) for group in told],
        group_count=found.group_count,
        total=found.rows if wanted.ask.kind == "measure" else number,
        other=found.left_out(told),
        overlapping=found.is_overlapping,
        gaps=found.has_gaps,
        of=_of(wanted),
        value=found.measures.get(_of(wanted) or ""),
        measures=dict(found.measures),
        filters=_filters(wanted),
    )
    nearest = "" if event.total else await _nearest(database, wanted)
    said = sentence(wanted.table, wanted.ask, event, _labels(wanted)) + nearest
    if wanted.base is not None:
        rows = await count_rows(database, wanted.table, wanted.base)
        said = share_of(said, wanted.table, event.total, rows, _labels(replace(wanted, clauses=wanted.base)))
    return Counted(event, said, counted_on(wanted.table, found.rows))


async def _together(database: Database, wanted: Sequence[Counting]) -> Counted:
    """The numbers of several types, and of them all."""
    numbers = [await count_rows(database, each.table, each.clauses) for each in wanted]
    groups = [CountedGroup(value=each.type, count=rows) for each, rows in zip(wanted, numbers, strict=True)]
    event = AggregationEvent(
        by="type",
        groups=groups[:GROUPS_MAX],
        group_count=len(groups),
        total=sum(numbers),
        filters=_filters(wanted[0]) | {"types": [each.type for each in wanted]},
    )
    tables = [each.table for each in wanted]
    return Counted(event, numbers_of(tables, event, _labels(wanted[0])), counted_on(tables[0], event.total))


async def _extreme(database: Database, wanted: Counting) -> Counted:
    """The records with the highest or lowest number, by their titles."""
    ask, of = wanted.ask, _of(wanted) or ""
    found = await answer(database, TableQuestion(wanted.table, ask, wanted.clauses))
    rows = await count_rows(database, wanted.table, wanted.clauses)
    keys = [(wanted.type, key) for key in found.keys[:GROUPS_MAX]]
    titles = {text.id: text.title for text in await describe(database, keys, wanted.types, "")}
    event = AggregationEvent(
        by=None,
        groups=[
            CountedGroup(
                value=titles.get(key, key), count=1, **({of: float(value)} if isinstance(value, int | float) else {})
            )
            for key, value in zip(found.keys[:GROUPS_MAX], found.values, strict=False)
        ],
        group_count=found.rows,
        total=rows,
        of=of,
        value=float(found.value) if isinstance(found.value, int | float) else None,
        filters=_filters(wanted),
    )
    nearest = "" if event.total else await _nearest(database, wanted)
    said = sentence(wanted.table, replace(ask, of=ask.facet), event, _labels(wanted), found.values) + nearest
    return Counted(event, said, counted_on(wanted.table, rows))


def _of(wanted: Counting) -> str | None:
    """What is reckoned, as a request asks for it."""
    ask = wanted.ask
    return f"{ask.function}:{ask.of or ask.facet}" if ask.function else None


async def _nearest(database: Database, wanted: Counting) -> str:
    """What there would be without one of the conditions that leave nothing."""
    if len(wanted.clauses) < 2:
        return ""
    relaxed = [each for each in await relaxations(database, wanted.table, wanted.clauses) if each.rows]
    written = wanted.table.writing.number
    return "".join(f" Without “{each.label}”: {written(each.rows, ',')}." for each in relaxed[:RELAXATIONS_MAX])


def _in_order(wanted: Counting, groups: Sequence[Group]) -> list[Group]:
    """Groups as they are told: those with most records first, or, where all periods are asked for, the latest by time."""
    if is_in_time(wanted.table, wanted.ask):
        return latest(groups, GROUPS_MAX)
    return list(groups[:GROUPS_MAX])


def as_asked(wanted: Counting, event: AggregationEvent) -> TableQuestion | None:
    """What was counted, as it is asked of one table. None for several types, and for the highest of what no record has."""
    if wanted.beside or (wanted.ask.kind == "extreme" and not event.group_count):
        return None
    return TableQuestion(wanted.table, wanted.ask, wanted.clauses, " ".join(wanted.words), base=wanted.base)


# ---- what is counted ----


def _asks_for_number(reading: RecordsReading) -> bool:
    asked = reading.asked
    if reading.question.ask.function is not None or lists_values(reading):
        return True
    if reading.question.ask.kind == "groups":
        # "what does the crew do every day" is no number of anything
        is_by_date = reading.question.ask.facet in {table.date for table in reading.types.counted.values()}
        is_habit = is_by_date and "list" in asked and not asked & {"most", "least", "count"}
        names_rows = any(mention.value == Cue("noun") for mention in reading.parsed.mentions)
        is_asked = bool(asked & {"group", "most", "least", "count"}) and (names_rows or not is_habit)
        return reading.question.ask.compares or is_asked
    return reading.question.ask.kind in ("count", "distinct")


def _counts_something_else(reading: RecordsReading) -> bool:
    """Whether what "how many" is followed by is no name of records nor of a value ("how many pumps"): in how many records that
    word stands is not their number.
    """
    if reading.counted or reading.question.ask.function is not None:
        return False
    said = [mention.value for mention in reading.parsed.mentions]
    for place, value in enumerate(said):
        if isinstance(value, Asked) and value.what == "count":
            behind = next((each for each in said[place + 1 :] if each != Cue("filler")), None)
            return (
                isinstance(behind, Word)
                and not behind.is_name
                and behind.stem not in _TIMES
                and Cue("noun") not in said
            )
    return False


def _types_grouped(reading: RecordsReading) -> Sequence[str]:
    """Of groups, and of what is reckoned, the type that is named anywhere."""
    if reading.question.ask.kind != "groups" and not reading.question.ask.function:
        return ()
    asked = {*reading.question.asked_by}
    nouns = (mention for mention in reading.parsed.mentions if mention.value == Cue("noun"))
    # what rows are grouped by is no name of theirs
    nouns = (each for each in nouns if reading.question.ask.function or each.span not in asked)
    called = [reading.types.called(reading.parsed.said(noun)) for noun in nouns]
    of = reading.question.ask.of
    # "how much did customers spend": what tells how much
    telling = [names for names in called if any(of in reading.types.counted[name].by_name for name in names)]
    return telling[0] if of and telling else called[0] if called and not of else ()


def _facets_named(reading: RecordsReading) -> list[set[str]]:
    """What is asked for, and what else of records the question names: the facets that each may be."""
    asked = [{facet} for facet in reading.question.ask.facets]
    said = set(reading.question.asked_by) if reading.question.ask.function else set()
    return asked + [
        {*mention.value.facets}
        for mention in reading.parsed.mentions
        if isinstance(mention.value, FacetName) and mention.source != "rule" and mention.span not in said
    ]


def _is_about_rows(reading: RecordsReading, clauses: Sequence[Clause]) -> bool:
    """Whether one group is asked for at most, and no amount of a group ("how many customers have a revenue over 500")."""
    said = [mention.value for mention in reading.parsed.mentions]
    is_of_groups = reading.question.ask.kind in ("distinct", "groups") and Cue("noun") not in said
    has_range = any(isinstance(each.range, NumberRange | MoneyRange) for clause in clauses for each in clause)
    return len(groups_in(reading.parsed.mentions)) <= 1 and not (is_of_groups and has_range)


def _types_by_clauses(reading: RecordsReading, clauses: Sequence[Clause]) -> list[str]:
    """Where no type is named: the only one that can tell the conditions and what is asked for, or the nearest of several, among
    those that hold the values.
    """
    needed = [{facet} for facet in reading.question.ask.facets]
    tables = {
        name: table
        for name, table in reading.types.counted.items()
        if told_of(table, _own(reading, name, clauses)) is not None
        and not is_misnamed(reading.parsed, table, reading.types.united)
        and (not table.reckons or tells_when(reading.parsed, reading.question, table))
    }
    known = {(each.facet, each.value): each for each in known_values(reading.parsed)}
    holding = {name: table for name, table in tables.items() if all(_may_hold(table, each, known) for each in clauses)}
    tables = holding or tables
    said = [*needed, *({condition.facet for condition in clause} for clause in clauses)]
    told = nearest(tables.values(), said)
    names = [name for name, table in tables.items() if table in told]
    return names if len(told) == 1 or lists_values(reading) else []


def _may_hold(table: SearchTable, clause: Clause, known: Mapping[tuple[str, str], KnownValue]) -> bool:
    """Whether a table holds a value that a clause asks for, or the clause asks for none that is known."""
    return any(
        condition.is_negated
        or not condition.values
        or any(
            (value := known.get((condition.facet, each))) is None or may_hold(table, value) for each in condition.values
        )
        for condition in clause
    )


def _said_whole(reading: RecordsReading, facets: Set[str], used: Set[Span]) -> Iterator[Condition]:
    """Values of these facets that are words like others in prose, and here say what is counted ("ordinances", "by the mayor")."""
    for mention in reading.parsed.mentions:
        said = mention.span
        if said in used or not isinstance(mention.value, Known) or mention.assertion == "negated":
            continue
        known = [each for each in mention.value.values if each.facet in facets and each.is_whole]
        if known:
            values = tuple(each.value for each in known if each.facet == known[0].facet)
            yield Condition(known[0].facet, values, evidence=(said,))


def _is_unknown(clause: Clause, reading: RecordsReading) -> bool:
    """Whether a clause is of a name that the data does not know as a value; it may stand in the text."""
    unknown = {missing.evidence for missing in reading.question.missing}
    return not unknown.isdisjoint(spans_of([clause]))


def _words(reading: RecordsReading, used: set[Span]) -> Iterator[str]:
    """The words that records must hold: those that no condition says."""
    if reading.question.follows_up:
        yield from [reading.question.topic] if reading.question.topic else []
        return
    used = used | set(reading.question.asked_by)
    for place, mention in enumerate(reading.parsed.mentions):
        is_sold = reading.question.ask.function is not None and only_says_sold(mention)
        if (
            is_sold
            or only_measures(reading, place)
            or only_says_done(reading, place)
            or is_shortened(mention, reading)
            or ends_duration(reading, mention)
            or (reading.counted and names_records(mention))
        ):
            continue
        if mention.span not in used and _says_something(mention):
            yield reading.parsed.said(mention)


def _says_something(mention: Mention) -> bool:
    return isinstance(mention.value, (Word, Phrase, Known, NumberRange, Place)) and mention.assertion != "negated"


# ---- what is said about it ----


def _by(wanted: Counting) -> str | None:
    return wanted.ask.grain or wanted.ask.facet


def _filters(wanted: Counting) -> dict[str, Any]:
    """The conditions in the names of a request: types, from, to, facets (with a dash: ruled out), and words."""
    filters: dict[str, Any] = {"types": [wanted.type]}
    facets: dict[str, list[str]] = {}
    for clause in wanted.clauses:
        dated = [each.range for each in clause if isinstance(each.range, DateRange) and each.facet == wanted.table.date]
        firsts, lasts = [each.first for each in dated if each.first], [each.last for each in dated if each.last]
        if dated and not any(each.is_negated for each in clause):
            # of several times from the first to the last
            filters |= {"from": min(firsts).isoformat()} if len(firsts) == len(dated) else {}
            filters |= {"to": max(lasts).isoformat()} if len(lasts) == len(dated) else {}
        for condition in clause:
            span = condition.range if condition.facet == wanted.table.date else None
            is_ruled_out = isinstance(span, DateRange) and condition.is_negated and not span.months
            if is_ruled_out or not isinstance(span, DateRange):
                name, values = in_request(condition)
                facets.setdefault(name, []).extend(values)
    return filters | ({"facets": facets} if facets else {}) | ({"q": " ".join(wanted.words)} if wanted.words else {})


def _labels(wanted: Counting) -> list[str]:
    said_of_rows = labels(wanted.table, wanted.clauses)
    said = " ".join(wanted.words)
    # a phrase has quotes of its own
    quoted = said if _QUOTES & {*said} else f"“{said}”"
    return said_of_rows + ([f"with the words {quoted}"] if said else [])
