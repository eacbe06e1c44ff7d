"""What a request names, against the values of the data: what no company has is refused with what comes nearest."""

from __future__ import annotations

from itertools import chain

from quarry.companies.contract import FUNDING_STAGES, STATUSES, VALUES_MAX, ChatRequest, Condition
from quarry.companies.facets import COMPANIES, STAGE, STATUS
from quarry.postgres.pool import Database
from quarry.retrieval.facets import NamedValue, plain
from quarry.retrieval.known_values import values_meant

_ALWAYS: dict[str, str] = {plain(value): value for value in (*STATUSES, *FUNDING_STAGES)}


async def check_constraints(request: ChatRequest, database: Database) -> ChatRequest:
    """The request, its constraints with the values as they stand in the data. Raises InvalidInput and DatabaseUnavailable."""
    if request.constraints is None:
        return request
    conditions = request.constraints.conditions
    fields: dict[object, list[str]] = {}
    for condition in conditions:
        fields.setdefault(_said_together(condition), []).append(condition.field)
    named = [
        NamedValue(
            (condition.field,),
            value,
            f"/constraints/conditions/{place}/values",
            elsewhere=tuple(fields[_said_together(condition)]),
        )
        for place, condition in enumerate(conditions)
        for value in condition.values
        if not _always(condition, value)
    ]
    meant = iter(await values_meant(database, COMPANIES, named, request.question))
    kept = []
    for condition in conditions:
        found = [[known] if (known := _always(condition, value)) else next(meant) for value in condition.values]
        values = list(dict.fromkeys(chain.from_iterable(found)))[:VALUES_MAX]
        if values or not condition.values:
            kept.append(condition.model_copy(update={"values": values}))
    return request.model_copy(update={"constraints": request.constraints.model_copy(update={"conditions": kept})})


def _said_together(condition: Condition) -> object:
    """What conditions share that say the same of several fields: alternatives, and what is ruled out in each of them."""
    if condition.group is not None:
        return condition.strength, condition.group
    return tuple(map(str.casefold, condition.values)) if condition.negated else id(condition)


def _always(condition: Condition, value: str) -> str | None:
    """The value where it exists whether a company has it or not."""
    return _ALWAYS.get(plain(value)) if condition.field in (STATUS, STAGE) else None
