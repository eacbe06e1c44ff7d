"""Checks the values that a request names against those of the data: an unknown value is refused, with the nearest ones."""

from __future__ import annotations

from quarry.campaigns.conditions import named_values, resolve
from quarry.campaigns.contract import FILTER_VALUES, ChatRequest
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.results import KnownValues
from quarry.platform.off_loop import off_loop
from quarry.postgres.pool import Database
from quarry.query.algebra import Condition
from quarry.retrieval.known_values import NamedCondition, conditions_meant, values_meant


async def check_filters(request: ChatRequest, known: KnownValues, database: Database) -> tuple[Condition, ...]:
    """The conditions of the page's filters, which hold in every search. Raises InvalidInput for a value that no campaign has, and
    DatabaseUnavailable.
    """
    filters = request.base_filters
    named = named_values(filters, pointer="/activeFilters")
    meant = await values_meant(database, CAMPAIGNS, named)
    return (await off_loop(resolve, filters, named, meant, known)).conditions


async def check_constraints(request: ChatRequest, database: Database) -> ChatRequest:
    """The request, its constraints with the values as the data spells them. Raises InvalidInput and DatabaseUnavailable."""
    if request.constraints is None:
        return request
    constraints = request.constraints.model_copy(deep=True)
    named = [
        (
            condition,
            NamedCondition(
                condition.field,
                condition.values,
                f"/constraints/conditions/{i}/any_of/{j}/values",
                i if len(clause.any_of) > 1 else None,
                condition.negated,
            ),
        )
        for i, clause in enumerate(constraints.conditions)
        for j, condition in enumerate(clause.any_of)
        if condition.field in FILTER_VALUES and condition.values
    ]
    meant = await conditions_meant(database, CAMPAIGNS, [each for _, each in named], request.message)
    for (condition, _), values in zip(named, meant, strict=True):
        condition.values = values
    emptied = {id(condition) for condition, _ in named if not condition.values}
    for clause in constraints.conditions:
        clause.any_of = [each for each in clause.any_of if id(each) not in emptied]
    constraints.conditions = [clause for clause in constraints.conditions if clause.any_of]
    return request.model_copy(update={"constraints": constraints})
