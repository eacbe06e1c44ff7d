"""The facets that a request filters records by, as conditions: `FACET=value` (any of several), `-FACET=value` (none of them). An
empty value stands for records that have none.
"""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from quarry.platform.errors import FieldError, InvalidInput
from quarry.query import algebra
from quarry.query.of_filters import condition_of
from quarry.query.schema import Source
from quarry.query.worded import condition as asked_of
from quarry.records.retrieval import Scope
from quarry.records.searched_types import SearchedType
from quarry.retrieval.facets import Facet, SearchTable
from quarry.spans.mention import DateRange, NumberRange
from quarry.spans.question import Clause, Condition

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
