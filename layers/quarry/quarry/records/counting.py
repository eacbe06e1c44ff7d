"""Numbers that a question asks for: counted over all records of a type, exactly, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

from quarry.core.contract import AggregationGroup
from quarry.core.postgres.pool import Database
from quarry.core.query.mention import Asked, Cue, DateRange, FacetName, Known, Mention, NumberRange, Phrase, Word
from quarry.core.query.question import Ask, Clause, Condition, Evidence
from quarry.core.retrieval import questions
from quarry.core.retrieval.answers import Group
from quarry.core.retrieval.facets import SearchTable
from quarry.core.retrieval.filters import Among
from quarry.core.retrieval.wording import clause_label, grouped_by_label, value_label
from quarry.records.contract import AggregationEvent
from quarry.records.reading import CLAUSES_MAX, RecordsReading, is_soft, tellable
from quarry.records.retrieval import EVERYTHING, Scope
from quarry.records.search_plan import besides
from quarry.records.searched_types import SearchedType

GROUPS_MAX = 50
GROUPS_SAID_MAX = 8
RELAXATIONS_MAX = 2


@dataclass(frozen=True)
class Counting:
    """What is to be counted: the rows of one table that meet the clauses and hold the words."""

    type: str
    table: SearchTable
    ask: Ask
    clauses: Sequence[Clause]
    words: Sequence[str] = ()


@dataclass(frozen=True)
class Counted:
    """A number, exactly, with what is said about it in a sentence."""

    event: AggregationEvent
    sentence: str


def what_to_count(reading: RecordsReading, types: Sequence[SearchedType], scope: Scope = EVERYTHING) -> Counting | None:
    """What the question wants counted of one type of `types`, or of what else is counted, in `scope`; None where it asks
    for no number of records, and where these do not tell what it asks.
    """
    question = reading.question
    if question.unanswerable or question.excluded_words or len(question.clauses) > CLAUSES_MAX:
        return None
    if not _asks_for_number(reading):
        return None
    named = reading.counted or _types_grouped(reading)
    clauses = [
        clause
        for clause in question.clauses
        if not is_soft(clause, reading.types.united) and not _is_unknown(clause, reading)
    ]
    for name in named or _types_by_clauses(reading, clauses):
        is_searched = name in reading.types
        if is_searched and name not in (each.name for each in types):
            continue
        table = reading.types.counted[name]
        facets = {facet.name for facet in table.facets}
        given = {condition.facet for clause in scope.facets for condition in clause}
        told = [tellable(clause, table) for clause in besides(clauses, scope)]
        if not all(told) or not _facets_named(reading) | given <= facets:
            continue
        used = {evidence for clause in clauses for condition in clause for evidence in condition.evidence}
        counted = {facet.name for facet in table.facets if facet.is_counted}
        for condition in _said_whole(reading, counted, used):
            told, used = [*told, (condition,)], used | {*condition.evidence}
        words = list(_words(reading, used))
        is_told = is_searched and question.ask.kind != "distinct"
        return (
            Counting(name, table, question.ask, [*scope.dated, *scope.facets, *told], words)
            if is_told or not words
            else None
        )
    return None


async def count(database: Database, wanted: Counting) -> Counted | None:
    """The number; None where no record holds the words. Raises DatabaseUnavailable."""
    among = Among(words=" ".join(wanted.words))
    answer = await questions.answer(database, wanted.table, wanted.ask, wanted.clauses, among)
    number = answer.rows if wanted.ask.kind == "groups" or answer.number is None else answer.number
    if wanted.words and not number:
        # what is said in other words is not counted
        return None
    event = AggregationEvent(
        by=_by(wanted),
        groups=[AggregationGroup(value=group.value, count=group.rows) for group in _in_order(wanted, answer.groups)],
        total=number,
        filters=_filters(wanted),
    )
    nearest = "" if number else await _nearest(database, wanted)
    return Counted(event, _sentence(wanted, event) + nearest)


async def _nearest(database: Database, wanted: Counting) -> str:
    """What there would be without one of the conditions that leave nothing."""
    if len(wanted.clauses) < 2:
        return ""
    relaxed = [each for each in await questions.relaxations(database, wanted.table, wanted.clauses) if each.rows]
    return "".join(f" Without “{each.label}”: {each.rows:,}." for each in relaxed[:RELAXATIONS_MAX])


def _in_order(wanted: Counting, groups: Sequence[Group]) -> list[Group]:
    """Groups as they are told: those with most records first, or, where all periods are asked for, in the order of time."""
    if wanted.ask.grain and wanted.ask.limit is None:
        return sorted(groups, key=lambda group: str(group.value))[:GROUPS_MAX]
    return list(groups[:GROUPS_MAX])


# ---- what is counted ----


def _asks_for_number(reading: RecordsReading) -> bool:
    asked = {mention.value.what for mention in reading.parsed.mentions if isinstance(mention.value, Asked)}
    if reading.question.ask.kind == "groups":
        return bool(asked & {"group", "most", "least", "count"})
    return reading.question.ask.kind in ("count", "distinct")


def _types_grouped(reading: RecordsReading) -> Sequence[str]:
    """Of groups, the type that is named anywhere."""
    if reading.question.ask.kind != "groups":
        return ()
    nouns = (mention for mention in reading.parsed.mentions if mention.value == Cue("noun"))
    return next((reading.types.called(reading.parsed.text[noun.start : noun.end]) for noun in nouns), ())


def _facets_named(reading: RecordsReading) -> set[str]:
    """What is asked for, and what else of records the question names, in the sense that comes first."""
    asked = {reading.question.ask.facet} if reading.question.ask.facet else set[str]()
    return asked | {
        mention.value.facets[0] for mention in reading.parsed.mentions if isinstance(mention.value, FacetName)
    }


def _types_by_clauses(reading: RecordsReading, clauses: Sequence[Clause]) -> list[str]:
    """Where no type is named: the only one that can tell the conditions and what is asked for."""
    facet = reading.question.ask.facet
    told = [
        name
        for name, table in reading.types.counted.items()
        if all(tellable(clause, table) for clause in clauses)
        and (facet is None or any(each.name == facet for each in table.facets))
    ]
    return told if len(told) == 1 else []


def _said_whole(reading: RecordsReading, facets: Set[str], used: Set[Evidence]) -> Iterator[Condition]:
    """Values of these facets that are words like others in prose, and here say what is counted ("ordinances", "by the mayor")."""
    for mention in reading.parsed.mentions:
        said = Evidence(mention.start, mention.end)
        if said in used or not isinstance(mention.value, Known) or mention.assertion == "negated":
            continue
        known = [each for each in mention.value.values if each.facet in facets and each.is_whole]
        if known:
            values = tuple(each.value for each in known if each.facet == known[0].facet)
            yield Condition(known[0].facet, values, evidence=(said,))


def _is_unknown(clause: Clause, reading: RecordsReading) -> bool:
    """Whether a clause is of a name that the data does not know as a value; it may stand in the text."""
    unknown = {missing.evidence for missing in reading.question.missing}
    return any(evidence in unknown for condition in clause for evidence in condition.evidence)


def _words(reading: RecordsReading, used: set[Evidence]) -> Iterator[str]:
    """The words that records must hold: those that no condition says."""
    if reading.question.follows_up:
        yield from [reading.question.topic] if reading.question.topic else []
        return
    for mention in reading.parsed.mentions:
        if Evidence(mention.start, mention.end) not in used and _says_something(mention):
            yield reading.parsed.text[mention.start : mention.end]


def _says_something(mention: Mention) -> bool:
    return isinstance(mention.value, (Word, Phrase, Known, NumberRange)) and mention.assertion != "negated"


# ---- what is said about it ----


def _by(wanted: Counting) -> str | None:
    return wanted.ask.grain or wanted.ask.facet


def _filters(wanted: Counting) -> dict[str, Any]:
    """The conditions in the names of a request: types, from, to, facets (with a dash: ruled out), and words."""
    filters: dict[str, Any] = {"types": [wanted.type]}
    facets: dict[str, list[str]] = {}
    for clause in wanted.clauses:
        for condition in clause:
            if isinstance(condition.range, DateRange):
                ends = {"from": condition.range.first, "to": condition.range.last}
                filters |= {name: day.isoformat() for name, day in ends.items() if day and not condition.is_negated}
            elif condition.values:
                facets.setdefault(f"{'-' if condition.is_negated else ''}{condition.facet}", []).extend(
                    condition.values
                )
    return filters | ({"facets": facets} if facets else {}) | ({"q": " ".join(wanted.words)} if wanted.words else {})


def _sentence(wanted: Counting, event: AggregationEvent) -> str:
    said = "".join(f", {label}" if place else f" {label}" for place, label in enumerate(_labels(wanted)))
    if wanted.ask.kind == "distinct":
        of = f" of {_noun(wanted.table, 2)}{said}" if said else ""
        return f"The records tell {event.total:,} different {_asked_for(wanted, event.total)}{of}."
    counted = f"{event.total:,}" if event.total else "no"
    sentence = f"The records hold {counted} {_noun(wanted.table, event.total)}{said}."
    if not event.groups:
        return sentence
    named = [
        f"{value_label(group.value, wanted.ask.grain)} {group.count:,}" for group in event.groups[:GROUPS_SAID_MAX]
    ]
    if wanted.ask.limit is not None:
        which = "Fewest" if wanted.ask.ascending else "Most"
        return f"{which} {_noun(wanted.table, 2)}{said}, by {_asked_for(wanted, 1)}: {'; '.join(named)}."
    more = f"; and {len(event.groups) - GROUPS_SAID_MAX} more" if len(event.groups) > GROUPS_SAID_MAX else ""
    return f"{sentence} By {_asked_for(wanted, 1)}: {'; '.join(named)}{more}."


def _labels(wanted: Counting) -> list[str]:
    labels = [clause_label(wanted.table, clause) for clause in wanted.clauses]
    return labels + ([f"with the words “{' '.join(wanted.words)}”"] if wanted.words else [])


def _asked_for(wanted: Counting, number: int) -> str:
    return grouped_by_label(wanted.table, wanted.ask, number)


def _noun(table: SearchTable, number: int) -> str:
    noun = table.nouns[0]
    return noun if number == 1 else f"{noun}s"
