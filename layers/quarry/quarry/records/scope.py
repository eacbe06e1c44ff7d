"""Which records are searched: the question in its conversation, the records that the request's filters leave, and the plan
of the search.

A facet filters as a request writes it: `FACET=value` (any of several), `-FACET=value` (none of them). An empty value stands for
records that have none.
"""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain

from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.text import QUERY_MAX_CHARACTERS, significant_words, words
from quarry.postgres.pool import Database
from quarry.query import algebra
from quarry.query.of_filters import condition as asked_of
from quarry.query.of_filters import condition_of, labels
from quarry.query.schema import Source
from quarry.records.contract import Applied, AskFilters, AskRequest, PriorTurn
from quarry.records.reading import RecordsReading, words_to_look_up
from quarry.records.searched_types import RecordTypes, SearchedType
from quarry.retrieval.facets import Facet, NamedValue, SearchTable
from quarry.retrieval.known_values import existing_values
from quarry.retrieval.values import Owners
from quarry.spans.mention import Clause, Condition, DateRange, NumberRange

STANDALONE_WORDS_MIN = 4
"""A question with fewer words of its own leans on the previous one."""
NEW_WORDS_MIN = 2
"""So many words that were not said before make a topic, where few others were: an answer says many words by the way."""
_PRONOUNS = frozenset("it its this that these those they them their he him his she her hers".split())
"""A question that ends in one of these asks of what was said ("who voted against it?"), and so does one with a single word of its
own beside one ("what did it cost?")."""
_DEFINITE = _PRONOUNS | {"the"}
"""What refers to something that is known already."""


@dataclass(frozen=True)
class Conversation:
    """A question in its place. `history` is what still matters; `search_query` is what to search for, so that "who was
    against it?" finds the same thing.
    """

    question: str
    history: Sequence[PriorTurn]
    topic_changed: bool
    search_query: str


def take_up(question: str, history: Sequence[PriorTurn], *, stays: bool = False) -> Conversation:
    """Place `question` in its conversation. `stays`: it is known to go on.

    A question that shares no significant word with the history starts a new topic and forgets the history; so does one that
    shares few, none of them asked about before, and refers to nothing known. One without any significant word of its own
    ("why?") cannot, nor can one that ends in a pronoun ("who moved it?") or has one beside a single such word ("what did it
    cost?").
    """
    own = set(significant_words(question))
    if history and own and not stays and _is_new(question, own, history):
        return Conversation(question, (), topic_changed=True, search_query=question)
    search_query = question
    if history and len(own) < STANDALONE_WORDS_MIN:
        previous = history[-1].question or history[-1].answer
        search_query = f"{question} {previous}"[:QUERY_MAX_CHARACTERS]
    return Conversation(question, tuple(history), topic_changed=False, search_query=search_query)


def _is_new(question: str, own: Set[str], history: Sequence[PriorTurn]) -> bool:
    said = words(question)
    if said[-1] in _PRONOUNS or (len(own) == 1 and not _PRONOUNS.isdisjoint(said)):
        return False
    asked = {word for turn in history for word in significant_words(turn.question)}
    answered = {word for turn in history for word in significant_words(turn.answer)}
    shared = own & (asked | answered)
    if not shared or not asked or own & asked or not _DEFINITE.isdisjoint(said):
        return not shared
    return len(own - shared) >= max(NEW_WORDS_MIN, 2 * len(shared))


@dataclass(frozen=True)
class Scope:
    """Which records are searched: of these dates and facets, and where the search `is_strict`, with the phrases in quotes."""

    date_from: datetime.date | None = None
    date_to: datetime.date | None = None
    is_strict: bool = False
    facets: Sequence[Clause] = ()

    @property
    def dated(self) -> list[Clause]:
        """The condition of the dates, if there are any."""
        if self.date_from is None and self.date_to is None:
            return []
        return [(Condition("date", range=DateRange(self.date_from, self.date_to)),)]

    def within(self, date_from: datetime.date | None, date_to: datetime.date | None) -> Scope:
        """What of it is of these dates too."""
        first = [day for day in (self.date_from, date_from) if day is not None]
        last = [day for day in (self.date_to, date_to) if day is not None]
        return replace(self, date_from=max(first, default=None), date_to=min(last, default=None))


EVERYTHING = Scope()
_EXACT_KINDS = ("value", "array", "name")
"""Facets that a value is compared with as it is written."""


async def with_known_values(database: Database, scope: Scope, types: Sequence[SearchedType], owners: Owners) -> Scope:
    """The scope with the values of its facets as the data has them: who asks for `defeated` means "Defeated". Of types with
    owners the values of those in `owners` are known.
    """
    tables = [each.table for each in types]
    exact = {facet.name for table in tables for facet in table.facets if facet.kind in _EXACT_KINDS}
    named = [
        NamedValue((condition.facet,), value)
        for clause in scope.facets
        for condition in clause
        if condition.facet in exact
        for value in condition.values
    ]
    if not named:
        return scope
    found = await existing_values(database, tables, named, owners, whole=True)
    known = {(*each.facets, each.value): values for each, values in zip(named, found, strict=True) if values}

    def meant(condition: Condition) -> Condition:
        values = (known.get((condition.facet, value), [value]) for value in condition.values)
        return replace(condition, values=tuple(chain.from_iterable(values)))

    return replace(scope, facets=tuple(tuple(map(meant, clause)) for clause in scope.facets))


NEGATED = "-"
TO = ".."
"""Between the ends of a range, either of which may be left out."""
_RANGED = ("number", "money", "year", "date")
FACETS_MAX = 12
NEAREST = 3
NAME_CHARACTERS_MAX = 64


def facet_clauses(
    given: Mapping[str, Sequence[str]], types: Sequence[SearchedType], *, at: str = ""
) -> tuple[Clause, ...]:
    """The clauses for each facet that is given, by its name or, negated, with a dash before it.

    Raises InvalidInput for a facet that no record of `types` has, and for a value that it cannot have; `at` is the pointer to
    what holds them.
    """
    if len(given) > FACETS_MAX:
        raise InvalidInput([FieldError(at, f"at most {FACETS_MAX} facets at once")])
    facets = _facets_of(types)
    conditions = {name: list(_conditions(name, values, facets)) for name, values in given.items()}
    wrong = [
        FieldError(f"{at}/{name.replace('~', '~0').replace('/', '~1')}", f"{name}: {message}")
        for name, said in conditions.items()
        for message in chain.from_iterable(_objections(each, types) for each in said)
    ]
    if wrong:
        raise InvalidInput(wrong)
    return tuple(clause for name, said in conditions.items() for clause in _any_or_none_of(name, said))


def types_with(clauses: Sequence[Clause], types: Sequence[SearchedType], *also: str) -> tuple[SearchedType, ...]:
    """Those of the types that have the facets of all clauses, and those named `also`."""
    facets = {condition.facet for clause in clauses for condition in clause} | {*also}
    return tuple(each for each in types if facets <= each.table.by_name.keys())


def _any_or_none_of(name: str, conditions: Sequence[Condition]) -> Iterator[Clause]:
    """What is asked for holds if any of the conditions does; what is ruled out, if all do."""
    if name.startswith(NEGATED):
        yield from ((each,) for each in conditions)
    else:
        yield tuple(conditions)


def _conditions(name: str, values: Sequence[str], facets: Mapping[str, Facet]) -> Iterator[Condition]:
    """The condition of the values, and that of records without a value, where an empty one is given."""
    given = [value for value in values if value]
    if given:
        yield _condition(name, given, facets)
    if len(given) < len(values):
        yield Condition(name.removeprefix(NEGATED), is_negated=not name.startswith(NEGATED))


def _condition(name: str, values: Sequence[str], facets: Mapping[str, Facet]) -> Condition:
    facet, is_negated = name.removeprefix(NEGATED), name.startswith(NEGATED)
    kind = facets[facet].kind if facet in facets else None
    span = _range(values[0], kind) if len(values) == 1 and kind in _RANGED else None
    # programs write a truth as "True" too
    said = [value.lower() for value in values] if kind == "boolean" else values
    return Condition(facet, () if span else tuple(said), span, is_negated=is_negated)


def _range(value: str, kind: str | None) -> DateRange | NumberRange | None:
    """The range that a value says; None where it says none."""
    first, dots, last = value.partition(TO)
    if not dots or not (first or last):
        return None
    try:
        if kind == "date":
            begin, end = (datetime.date.fromisoformat(each) if each else None for each in (first, last))
            return DateRange(begin, end)
        least, most = (float(each.lstrip(">").lstrip("<")) if each else None for each in (first, last))
    except ValueError:
        return None
    return NumberRange(least, most, not first.startswith(">"), not last.startswith("<"))


def nearest_facets(name: str, types: Sequence[SearchedType]) -> str:
    """That no record of these types has a facet of that name, and which they have that are called most like it."""
    near = difflib.get_close_matches(name[:NAME_CHARACTERS_MAX], _facets_of(types), n=NEAREST, cutoff=0)
    return f"no facet of the records searched; the nearest are {', '.join(near)}"


def _facets_of(types: Sequence[SearchedType]) -> dict[str, Facet]:
    return {facet.name: facet for each in types for facet in each.table.facets}


def _objections(condition: Condition, types: Sequence[SearchedType]) -> Iterator[str]:
    """What is wrong with it, at most one thing."""
    table = next((each.table for each in reversed(types) if condition.facet in each.table.by_name), None)
    if table is None:
        yield nearest_facets(condition.facet, types)
        return
    try:
        asked_of(table, (condition,))
    except ValueError as error:
        yield str(error)


def required(scope: Scope, table: SearchTable, source: Source) -> list[algebra.Condition]:
    """The filters as conditions. Raises InvalidInput where the source has no such field."""
    return [_required(clause, table, source) for clause in (*scope.dated, *scope.facets)]


def _required(clause: Clause, table: SearchTable, source: Source) -> algebra.Condition:
    lacking = [each.facet for each in clause if each.facet not in table.by_name]
    condition = None if lacking else condition_of(clause, table, source)
    if condition is None:
        facets = ", ".join(dict.fromkeys(lacking or [each.facet for each in clause]))
        message = f"the user's filter on {facets} must hold, and {source.name} has no such field: ask another source"
        raise InvalidInput([FieldError("/source", message)])
    return condition


LABELLED_TYPES_MAX = 4


def with_filters_in_force(request: AskRequest, history: Sequence[PriorTurn]) -> AskRequest:
    """The request with the types and filters of the last turn that it follows, where it gives none of its own."""
    if request.filters_itself or not history:
        return request
    last = history[-1]
    return request.model_copy(update={"types": last.types, "filters": last.filters})


def check_filters(
    request: AskRequest, types: RecordTypes, *, types_at: str = "/types", facets_at: str = "/filters/facets"
) -> None:
    """Raises InvalidInput for a type that there is not and a facet that no such type has, also of the turn before; `types_at` and
    `facets_at` are the pointers to the request's own.
    """
    scope_of(request.filters, types.named(request.types, at=types_at), at=facets_at)
    if request.history and not request.filters_itself:
        last, at = request.history[-1], f"/history/{len(request.history) - 1}"
        scope_of(last.filters, types.named(last.types, at=f"{at}/types"), at=f"{at}/filters/facets")


def scope_of(filters: AskFilters, types: Sequence[SearchedType], *, at: str = "/filters/facets") -> Scope:
    """What of these types is searched. Raises InvalidInput; `at` is the pointer to the facets."""
    return Scope(filters.from_date, filters.to_date, facets=facet_clauses(filters.facets, types, at=at))


def applied(request: AskRequest, types: RecordTypes, scope: Scope) -> Applied | None:
    """What is told of the types and filters that hold; None where all records are searched."""
    clauses = [*scope.dated, *scope.facets]
    if not request.types and not clauses:
        return None
    chosen = types.named(request.types)
    table = chosen[0].table if len(chosen) == 1 else types.united
    named = [each.label.lower() for each in chosen[:LABELLED_TYPES_MAX]] if request.types else ["records"]
    if len(chosen) > LABELLED_TYPES_MAX and request.types:
        named[-1] = f"{len(chosen) - LABELLED_TYPES_MAX + 1} other types"
    label = ", ".join([" and ".join(named), *labels(table, clauses)])
    return Applied(types=request.types, filters=request.filters, label=label)


@dataclass(frozen=True)
class Arm:
    """One type searched for some words, among the records that meet the clauses. `is_apart`: they are those of the question."""

    type: SearchedType
    query: str
    clauses: Sequence[Clause] = ()
    is_apart: bool = False


@dataclass(frozen=True)
class SearchPlan:
    """The searches to make. `listed` are types of which records are found for meeting the clauses, however far from the question
    in their words.
    """

    arms: Sequence[Arm]
    listed: Mapping[SearchedType, Sequence[Clause]] = field(default_factory=dict)


def search_plans(
    query: str,
    types: Sequence[SearchedType],
    reading: RecordsReading | None,
    scope: Scope = EVERYTHING,
) -> Iterator[SearchPlan]:
    """The plans for `query` among `types`, each for the case that those before it find nothing.

    Dates that are given hold above what the question says of dates, facets beside it; without `reading` it says nothing. Where
    conditions must hold, types that cannot tell one are left out, and others than those asked for by name come after these.
    """
    given = [*scope.dated, *scope.facets]
    types = types_with(scope.facets, types)
    looked_up = words_to_look_up(query)
    everything = [Arm(each, looked_up, given) for each in types]
    # where nothing is said but which records are meant, there is nothing that they could be ranked by
    lists_all = reading is not None and reading.lists(given)
    if reading is not None and (reading.clauses or lists_all):
        words = words_to_look_up(reading.words) if reading.words else looked_up
        conditions = {
            each: [*given, *besides(clauses, scope)]
            for each in types
            if (clauses := reading.clauses_for(each.table)) is not None
        }
        if not reading.must_hold:
            apart = [Arm(each, words, clauses, is_apart=True) for each, clauses in conditions.items()]
            yield SearchPlan([*everything, *apart])
            return
        named = {each: clauses for each, clauses in conditions.items() if each.name in reading.named}
        for held in (named, conditions):
            if held:
                arms = [Arm(each, words, clauses) for each, clauses in held.items()]
                yield SearchPlan(arms, held if lists_all else {})
        if not lists_all and (rows := {each: clauses for each, clauses in named.items() if each.table.reckons}):
            # what else is said of them may be no word of theirs: "a class B licence" where it is `licence: B`
            yield SearchPlan((), rows)
    yield SearchPlan(everything)


def besides(clauses: Sequence[Clause], scope: Scope) -> list[Clause]:
    """The clauses of a question that hold beside what is given: where days are, all but those of spans of days."""
    return [clause for clause in clauses if not (scope.dated and _is_span(clause))]


def _is_span(clause: Clause) -> bool:
    if len(clause) != 1:
        return False
    [condition] = clause
    days = condition.range
    is_dated = condition.facet == "date" and not condition.is_negated
    return is_dated and isinstance(days, DateRange) and not days.months
