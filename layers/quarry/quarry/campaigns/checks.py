"""What a request names, against the values of the data: what no campaign has is refused with what comes nearest."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.campaigns.conditions import named_values, resolve
from quarry.campaigns.contract import FILTER_VALUES, ChatRequest, ClauseOnWire
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.results import KnownValues
from quarry.platform.off_loop import off_loop
from quarry.postgres.pool import Database
from quarry.query.algebra import Condition
from quarry.retrieval.known_values import values_meant
from quarry.retrieval.named_values import NamedValue


async def check_filters(request: ChatRequest, known: KnownValues, database: Database) -> tuple[Condition, ...]:
    """The conditions of the page's filters, which hold in every search. Raises InvalidInput for a value that no campaign has, and
    DatabaseUnavailable.
    """
    filters = request.base_filters
    named = named_values(filters, pointer="/activeFilters")
    meant = await values_meant(database, CAMPAIGNS, named)
    return (await off_loop(resolve, filters, named, meant, known)).conditions


async def check_constraints(request: ChatRequest, database: Database) -> ChatRequest:
    """The request, its constraints with the values as they stand in the data. Raises InvalidInput and
    DatabaseUnavailable.
    """
    if request.constraints is None:
        return request
    constraints = request.constraints.model_copy(deep=True)
    given = [
        (
            condition,
            NamedValue((condition.field,), value, f"/constraints/conditions/{i}/any_of/{j}/values", elsewhere=beside),
        )
        for i, clause in enumerate(constraints.conditions)
        for beside in [_said_together(clause, constraints.conditions)]
        for j, condition in enumerate(clause.any_of)
        if condition.field in FILTER_VALUES
        for value in condition.values
    ]
    meant = await values_meant(database, CAMPAIGNS, [named for _, named in given], request.message)
    values: dict[int, list[str]] = {}
    for (condition, _), found in zip(given, meant, strict=True):
        values.setdefault(id(condition), []).extend(found)
    for clause in constraints.conditions:
        for condition in clause.any_of:
            condition.values = list(dict.fromkeys(values.get(id(condition), condition.values)))
        clause.any_of = [each for each in clause.any_of if values.get(id(each)) != []]
    constraints.conditions = [clause for clause in constraints.conditions if clause.any_of]
    return request.model_copy(update={"constraints": constraints})


def _said_together(clause: ClauseOnWire, clauses: Sequence[ClauseOnWire]) -> tuple[str, ...]:
    """The fields of which a clause says the same: alternatives, and what is ruled out in each of several."""
    beside = [clause]
    if len(clause.any_of) == 1 and clause.any_of[0].negated:
        beside = [each for each in clauses if [one.values for one in each.any_of] == [clause.any_of[0].values]]
    fields = (each.field for other in beside for each in other.any_of if each.field in FILTER_VALUES)
    return tuple(dict.fromkeys(fields))
