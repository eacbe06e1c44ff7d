"""The filters of a request as conditions on a source."""

from __future__ import annotations

from quarry.platform.errors import FieldError, InvalidInput
from quarry.query.algebra import Condition
from quarry.query.of_filters import condition_of
from quarry.query.schema import Source
from quarry.records.retrieval import Scope
from quarry.retrieval.facets import SearchTable
from quarry.spans.mention import Clause


def required(scope: Scope, table: SearchTable, source: Source) -> list[Condition]:
    """The filters as conditions. Raises InvalidInput where the source has no such field."""
    return [_condition(clause, table, source) for clause in (*scope.dated, *scope.facets)]


def _condition(clause: Clause, table: SearchTable, source: Source) -> Condition:
    lacking = [each.facet for each in clause if each.facet not in table.by_name]
    condition = None if lacking else condition_of(clause, table, source)
    if condition is None:
        facets = ", ".join(dict.fromkeys(lacking or [each.facet for each in clause]))
        message = f"the user's filter on {facets} must hold, and {source.name} has no such field: ask another source"
        raise InvalidInput([FieldError("/source", message)])
    return condition
