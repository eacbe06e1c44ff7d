"""What a request asks: the question in its conversation, and the conditions that its filters put on records.

A request writes a filter as `FACET=value` (any of several) or `-FACET=value` (none of them). An empty value stands for records
without one.
"""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from quarry.language.messages import gettext
from quarry.language.writing import listed_label
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.platform.text import QUERY_MAX_CHARACTERS, significant_words, words
from quarry.postgres.pool import Database
from quarry.query.filters import RANGES, as_queried, between, compared, facets_of, labels, parts_of, typed
from quarry.records.contract import Applied, AskFilters, AskRequest, PriorTurn, RecordType
from quarry.records.reading import RecordsReading, read_records
from quarry.records.sources import RecordTypes, SearchedType
from quarry.retrieval.known_values import existing_values
from quarry.retrieval.values import Owners
from quarry.schema.algebra import AllOf, AnyOf, Comparison, Condition, Not, Operator, comparisons_of, mapped
from quarry.schema.source import DATE, NamedValue, Source
from quarry.services.services import Caller, Services

STANDALONE_WORDS_MIN = 4
"""A question with fewer words of its own leans on the previous one."""
NEW_WORDS_MIN = 2
"""This many new words make a topic where few are known: an answer mentions many words in passing."""
_PRONOUNS = frozenset("it its this that these those they them their he him his she her hers".split())
"""A question that ends in one of these refers back ("who voted against it?"), and so does one with a single other word of its own
("what did it cost?")."""
_DEFINITE = _PRONOUNS | {"the"}
"""Words that refer to something already mentioned."""


class Conversation(NamedTuple):
    """A question in its place. `history` is what still matters; `search_query` is what to search for, so that "who was
    against it?" finds the same thing.
    """

    question: str
    history: Sequence[PriorTurn]
    topic_changed: bool
    search_query: str


def resolve_conversation(question: str, history: Sequence[PriorTurn], *, stays: bool = False) -> Conversation:
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
    question_words = words(question)
    if question_words[-1] in _PRONOUNS or (len(own) == 1 and not _PRONOUNS.isdisjoint(question_words)):
        return False
    words_before = {word for turn in history for word in significant_words(turn.question)}
    answered = {word for turn in history for word in significant_words(turn.answer)}
    shared = own & (words_before | answered)
    if not shared or not words_before or own & words_before or not _DEFINITE.isdisjoint(question_words):
        return not shared
    return len(own - shared) >= max(NEW_WORDS_MIN, 2 * len(shared))


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


async def with_known_values(
    database: Database, scope: SearchScope, types: Sequence[SearchedType], owners: Owners
) -> SearchScope:
    """The scope with its values spelt as in the data: `defeated` means "Defeated". Where rows have owners, only the values of
    those in `owners` are known.
    """
    tables = [each.table for each in types]
    exact = {facet.name for table in tables for facet in table.facets.values() if facet.facet in _EXACT_KINDS}
    named = {
        (each.field, str(value)): NamedValue((each.field,), str(value))
        for each in comparisons_of(scope.facets)
        if each.field in exact and each.op not in RANGES
        for value in each.scalars
    }
    if not named:
        return scope
    found = await existing_values(database, tables, [*named.values()], owners, whole=True)
    known = {key: values for key, values in zip(named, found, strict=True) if values}

    def in_data(condition: Condition, _: str = "") -> Condition:
        if not isinstance(condition, Comparison):
            return mapped(condition, in_data)
        spelt = [known.get((condition.field, str(value)), [value]) for value in condition.scalars]
        is_named = bool(spelt) and condition.op not in RANGES
        return compared(condition.field, condition.op, [*chain.from_iterable(spelt)]) if is_named else condition

    return scope._replace(facets=tuple(map(in_data, scope.facets)))


NEGATED = "-"
TO = ".."
"""Stands between the ends of a range. Either end may be missing."""
_RANGED = ("number", "money", "year", "date")
_DENIED = ("!=", "not_null")
FACETS_MAX = 12
NEAREST = 3
NAME_CHARACTERS_MAX = 64


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
    made: list[Condition] = []
    wrong: list[FieldError] = []
    for name, values in parameters.items():
        facet = name.removeprefix(NEGATED)
        try:
            if facet not in tables:
                raise ValueError(nearest_facets(facet, types))
            conditions = _conditions(facet, values, tables[facet], is_denied=name != facet)
            for each in conditions:
                typed(each, tables[facet])
            made += conditions
        except ValueError as error:
            place = name.replace("~", "~0").replace("/", "~1")
            wrong.append(FieldError(f"{at}/{place}", f"{name}: {error}"))
    if wrong:
        raise InvalidInput(wrong)
    return tuple(made)


def types_with(conditions: Sequence[Condition], types: Sequence[SearchedType], *also: str) -> tuple[SearchedType, ...]:
    """The types that have the facets of all conditions, and the facets `also`."""
    facets = {*facets_of(conditions), *also}
    return tuple(each for each in types if facets <= each.table.facets.keys())


def _conditions(name: str, values: Sequence[str], table: Source, *, is_denied: bool) -> list[Condition]:
    """The conditions for the values of one facet: any of them or, denied, none. An empty value stands for records without one."""
    kind, set_values, found = table.facets[name].facet, [value for value in values if value], list[Condition]()
    span = _range(name, values[0], kind) if len(values) == 1 and kind in _RANGED else None
    if span is not None:
        found.append(Not(negated=span) if is_denied else span)
    elif set_values:
        found.append(compared(name, "!=" if is_denied else "=", set_values))
    if len(set_values) < len(values):
        found.append(Comparison(field=name, op="not_null" if is_denied else "is_null"))
    return found if is_denied else [AnyOf.of(found)]


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
    facets = dict.fromkeys(name for each in types for name in each.table.facets)
    near = difflib.get_close_matches(name[:NAME_CHARACTERS_MAX], facets, n=NEAREST, cutoff=0)
    return f"the records searched have no such facet; the nearest are {', '.join(near)}"


def required(scope: SearchScope, source: Source) -> list[Condition]:
    """The filters as conditions on a source. Raises InvalidInput where it has no such field."""
    return [_required(each, source) for each in scope.required_conditions]


def _required(condition: Condition, source: Source) -> Condition:
    try:
        return as_queried(condition, source)
    except ValueError as error:
        facets = ", ".join(facets_of([condition]))
        message = f"the user's filter on {facets} must hold, and {source.name} has no such field: ask another source"
        raise InvalidInput([FieldError("/source", message)]) from error


def as_requested(conditions: Iterable[Condition], table: Source) -> dict[str, Any]:
    """The conditions as a request writes them: `from` and `to` for the date of the rows, and `facets`. What no request can ask is
    left out.
    """
    days: dict[str, str] = {}
    facets: dict[str, list[str]] = {}
    for condition in conditions:
        met = condition.negated if isinstance(condition, Not) else condition
        parts = [part for part in parts_of(met) if isinstance(part, Comparison)]
        is_alike = len(parts) == 1 or all(part.op in ("=", "is_null") for part in parts)
        is_of_one = len(parts) == len(parts_of(met)) and len({part.field for part in parts}) == 1
        if not (is_alike and is_of_one) or parts[0].field not in table.facets:
            continue
        facet, (first, last) = table.facets[parts[0].field], _ends(parts[0])
        is_denied = isinstance(condition, Not) != (parts[0].op in _DENIED)
        if facet.name == table.dated and facet.facet == "date" and not is_denied and (first or last):
            days |= {key: day for key, day in (("from", first), ("to", last)) if day}
        elif values := [value for part in parts for value in _values(part)]:
            facets[f"{NEGATED if is_denied else ''}{facet.name}"] = values
    return {**days, **({"facets": facets} if facets else {})}


def _ends(comparison: Comparison) -> tuple[str | None, str | None]:
    """The ends of what a comparison allows; None where it is open."""
    values, op = [str(value) for value in comparison.scalars], comparison.op
    low = values[0] if values and op in ("=", "between", ">", ">=") else None
    high = values[-1] if values and op in ("=", "between", "<", "<=") else None
    return low, high


def _values(comparison: Comparison) -> list[str]:
    """What a request writes for a comparison."""
    if comparison.op in ("is_null", "not_null"):
        return [""]
    if comparison.op not in RANGES:
        return [str(value) for value in comparison.scalars] if comparison.op in ("=", "!=") else []
    least, most = _ends(comparison)
    return [f"{least or ''}{TO}{most or ''}"]


LABELLED_TYPES_MAX = 4


def with_filters_in_force(request: AskRequest, history: Sequence[PriorTurn]) -> AskRequest:
    """The request with the types and filters of the turn before, unless it has its own."""
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


def scope_of(filters: AskFilters, types: Sequence[SearchedType], *, at: str = "/filters/facets") -> SearchScope:
    """The scope for a request's filters. Raises InvalidInput; `at` is the pointer to the facets."""
    return SearchScope(filters.from_date, filters.to_date, facets=facet_conditions(filters.facets, types, at=at))


def applied(request: AskRequest, types: RecordTypes, scope: SearchScope) -> Applied | None:
    """The types and filters in force, with a label; None where all records are searched."""
    if not request.types and not scope.required_conditions:
        return None
    chosen = types.named(request.types)
    table = chosen[0].table if len(chosen) == 1 else types.union
    named = [each.label.lower() for each in chosen[:LABELLED_TYPES_MAX]] if request.types else [gettext("records")]
    if len(chosen) > LABELLED_TYPES_MAX and request.types:
        named[-1] = gettext("{number} other types", number=len(chosen) - LABELLED_TYPES_MAX + 1)
    label = ", ".join([listed_label(named, is_choice=False), *labels(table, scope.required_conditions)])
    return Applied(types=request.types, filters=request.filters, label=label)


class RecordsInquiry(NamedTuple):
    """What is asked of the types that can be read: the request with the filters in force, the question in its conversation, and
    `applied`, the types and filters that hold, in words. `reading` is how the question was read, None where a model reads it.
    """

    types: RecordTypes
    request: AskRequest
    conversation: Conversation
    scope: SearchScope
    applied: Applied | None
    reading: RecordsReading | None = None

    @property
    def left_out(self) -> list[RecordType]:
        """The requested collections that cannot be read."""
        return self.types.left_out(self.request.types)


async def read_request(
    request: AskRequest, caller: Caller, services: Services, types: RecordTypes, *, by_rule: bool
) -> RecordsInquiry:
    """The request over these types. Its question is read here if it is answered `by_rule`, and nowhere else."""
    history = request.recent_history
    if by_rule:
        conversation, reading = await _read(request, caller, services, types)
    else:
        stays = len(significant_words(request.question)) < NEW_WORDS_MIN
        conversation, reading = resolve_conversation(request.question, history, stays=stays), None
    request = with_filters_in_force(request, conversation.history)
    chosen = types.named(request.types)
    scope = await with_known_values(services.reader, scope_of(request.filters, chosen), chosen, types.owners)
    return RecordsInquiry(types, request, conversation, scope, applied(request, types, scope), reading)


async def _read(
    request: AskRequest, caller: Caller, services: Services, types: RecordTypes
) -> tuple[Conversation, RecordsReading]:
    """The question in its conversation, and how it is read: after the question before it, unless it begins a new topic. A
    question with nothing but conditions does not begin one: "and in March?".
    """
    history = request.recent_history
    read = partial(read_records, caller, services, types, request.question, request.types)
    conversation = await off_loop(resolve_conversation, request.question, history)
    if conversation.topic_changed:
        alone = await read()
        if not alone.only_conditions:
            return conversation, alone
        conversation = resolve_conversation(request.question, history, stays=True)
    earlier = next((turn.question for turn in reversed(conversation.history) if turn.question), "")
    return conversation, await read(earlier=earlier)
