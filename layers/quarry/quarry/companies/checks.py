"""Checks the values that a request names against those of the data: an unknown value is refused, with the nearest ones."""

from __future__ import annotations

from quarry.companies.contract import FUNDING_STAGES, STATUSES, VALUES_MAX, ChatRequest, Condition
from quarry.companies.facets import COMPANIES, STAGE, STATUS
from quarry.postgres.pool import Database
from quarry.retrieval.facets import plain
from quarry.retrieval.known_values import NamedCondition, conditions_meant

_ALWAYS: dict[str, str] = {plain(value): value for value in (*STATUSES, *FUNDING_STAGES)}


async def check_constraints(request: ChatRequest, database: Database) -> ChatRequest:
    """The request, its constraints with the values as the data spells them. Raises InvalidInput and DatabaseUnavailable."""
    if request.constraints is None:
        return request
    given = request.constraints.conditions
    always = [_always(each) for each in given]
    named = [
        NamedCondition(
            each.field,
            each.values,
            f"/constraints/conditions/{place}/values",
            None if each.group is None else (each.strength, each.group),
            each.negated,
        )
        for place, each in enumerate(given)
        if not always[place]
    ]
    meant = iter(await conditions_meant(database, COMPANIES, named, request.question))
    values = [known or next(meant) for known in always]
    kept = [
        each.model_copy(update={"values": found[:VALUES_MAX]})
        for each, found in zip(given, values, strict=True)
        if found or not each.values
    ]
    return request.model_copy(update={"constraints": request.constraints.model_copy(update={"conditions": kept})})


def _always(condition: Condition) -> list[str]:
    """The values of a condition on a status or a stage, which exist even if no company has them. Empty unless all are known."""
    known = [_ALWAYS[plain(each)] for each in condition.values if plain(each) in _ALWAYS]
    is_fixed = condition.field in (STATUS, STAGE) and len(known) == len(condition.values)
    return list(dict.fromkeys(known)) if is_fixed else []
