"""The facets that a request filters records by, as conditions: `FACET=value` (any of several), `-FACET=value` (none of them)."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from quarry.core.errors import FieldError, InvalidInput
from quarry.core.query.question import Clause, Condition
from quarry.core.retrieval.facets import Facet
from quarry.core.retrieval.filters import Arguments, value_condition
from quarry.records.searched_types import SearchedType

NEGATED = "-"
FACETS_MAX = 12
NEAREST = 3
NAME_CHARACTERS_MAX = 64


def facet_clauses(
    given: Mapping[str, Sequence[str]], types: Sequence[SearchedType], *, at: str = ""
) -> tuple[Clause, ...]:
    """A clause for each facet that is given, by its name or, negated, with a dash before it.

    Raises InvalidInput for a facet that no record of `types` has, and for a value that it cannot have; `at` is the pointer to
    what holds them.
    """
    if len(given) > FACETS_MAX:
        raise InvalidInput([FieldError(at, f"at most {FACETS_MAX} facets at once")])
    clauses = [(_condition(name, values),) for name, values in given.items()]
    wrong = [
        FieldError(f"{at}/{name.replace('~', '~0').replace('/', '~1')}", f"{name}: {message}")
        for name, [condition] in zip(given, clauses, strict=True)
        for message in _objections(condition, types)
    ]
    if wrong:
        raise InvalidInput(wrong)
    return tuple(clauses)


def types_with(clauses: Sequence[Clause], types: Sequence[SearchedType], *also: str) -> tuple[SearchedType, ...]:
    """Those of the types that have the facets of all clauses, and those named `also`."""
    facets = {condition.facet for clause in clauses for condition in clause} | {*also}
    return tuple(each for each in types if facets <= {facet.name for facet in each.table.facets})


def _condition(name: str, values: Sequence[str]) -> Condition:
    return Condition(name.removeprefix(NEGATED), tuple(values), is_negated=name.startswith(NEGATED))


def nearest_facets(name: str, types: Sequence[SearchedType]) -> str:
    """That no record of these types has a facet of that name, and which they have that are called most like it."""
    near = difflib.get_close_matches(name[:NAME_CHARACTERS_MAX], _facets_of(types), n=NEAREST, cutoff=0)
    return f"no facet of the records searched; the nearest are {', '.join(near)}"


def _facets_of(types: Sequence[SearchedType]) -> dict[str, Facet]:
    return {facet.name: facet for each in types for facet in each.table.facets}


def _objections(condition: Condition, types: Sequence[SearchedType]) -> Iterator[str]:
    """What is wrong with it, at most one thing."""
    facet = _facets_of(types).get(condition.facet)
    if facet is None:
        yield nearest_facets(condition.facet, types)
        return
    try:
        value_condition(facet, condition, Arguments())
    except ValueError as error:
        yield str(error)
