"""The facets that a request filters records by, as conditions: `FACET=value` (any of several), `-FACET=value` (none of them)."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from quarry.core.errors import FieldError, InvalidInput
from quarry.core.query.question import Clause, Condition
from quarry.core.retrieval.facets import SearchTable
from quarry.core.retrieval.filters import Arguments, value_condition
from quarry.records.types import SEARCHED_BY_TYPE, RecordType

FACETS = tuple({facet.name: None for table in SEARCHED_BY_TYPE.values() for facet in table.facets})
"""The names of all facets."""

NEGATED = "-"
FACETS_MAX = 12
NEAREST = 3
NAME_CHARACTERS_MAX = 64


def facet_clauses(
    given: Mapping[str, Sequence[str]], types: Sequence[RecordType], *, at: str = ""
) -> tuple[Clause, ...]:
    """A clause for each facet that is given, by its name or, negated, with a dash before it.

    Raises InvalidInput for a facet that no record of `types` has, and for a value that it cannot have; `at` is the pointer to
    what holds them.
    """
    if len(given) > FACETS_MAX:
        raise InvalidInput([FieldError(at, f"at most {FACETS_MAX} facets at once")])
    clauses = [(_condition(name, values),) for name, values in given.items()]
    tables = [SEARCHED_BY_TYPE[name] for name in types]
    wrong = [
        FieldError(f"{at}/{name.replace('~', '~0').replace('/', '~1')}", f"{name}: {message}")
        for name, [condition] in zip(given, clauses, strict=True)
        for message in _objections(condition, tables)
    ]
    if wrong:
        raise InvalidInput(wrong)
    return tuple(clauses)


def types_with(clauses: Sequence[Clause], types: Sequence[RecordType]) -> tuple[RecordType, ...]:
    """Those of the types that have the facets of all clauses."""
    facets = {condition.facet for clause in clauses for condition in clause}
    return tuple(name for name in types if facets <= {facet.name for facet in SEARCHED_BY_TYPE[name].facets})


def _condition(name: str, values: Sequence[str]) -> Condition:
    return Condition(name.removeprefix(NEGATED), tuple(values), is_negated=name.startswith(NEGATED))


def _objections(condition: Condition, tables: Sequence[SearchTable]) -> Iterator[str]:
    """What is wrong with it, at most one thing."""
    facets = {facet.name: facet for table in tables for facet in table.facets}
    facet = facets.get(condition.facet)
    if facet is None:
        near = difflib.get_close_matches(condition.facet[:NAME_CHARACTERS_MAX], facets, n=NEAREST, cutoff=0)
        yield f"no facet of the records searched; the nearest are {', '.join(near)}"
        return
    try:
        value_condition(facet, condition, Arguments())
    except ValueError as error:
        yield str(error)
