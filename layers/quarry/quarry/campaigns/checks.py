"""Checks the values that a request names against those of the data: an unknown value is refused, with the nearest ones."""

from __future__ import annotations

from quarry.agent.checks import ConditionChecks
from quarry.campaigns.conditions import NAME, SCHEMA, named_values, resolve, understood_as
from quarry.campaigns.contract import ChatRequest
from quarry.campaigns.facets import CAMPAIGNS
from quarry.campaigns.results import KnownValues
from quarry.platform.off_loop import off_loop
from quarry.postgres.pool import Database
from quarry.query.algebra import Condition
from quarry.retrieval.known_values import values_meant


async def check_filters(request: ChatRequest, known: KnownValues, database: Database) -> tuple[Condition, ...]:
    """The conditions of the page's filters, which hold in every search. Raises InvalidInput for a value that no campaign has, and
    DatabaseUnavailable.
    """
    filters = request.base_filters
    named = named_values(filters, pointer="/activeFilters")
    meant = await values_meant(database, CAMPAIGNS, named)
    return (await off_loop(resolve, filters, named, meant, known)).conditions


async def check_understood(request: ChatRequest, database: Database) -> ChatRequest:
    """The request, its conditions with the values as the data spells them, in the one form. Raises InvalidInput and
    DatabaseUnavailable.
    """
    checked = await _CHECKS.checked(request.understood, request.constraints, understood_as, request.message, database)
    return request.model_copy(update={"understood": checked})


_CHECKS = ConditionChecks(NAME, SCHEMA, CAMPAIGNS)
