"""Checks the conditions that a request names against the data."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.agent.checks import ConditionChecks
from quarry.companies.constraints import understood_as
from quarry.companies.contract import FUNDING_STAGES, STATUSES, ChatRequest
from quarry.companies.facets import COMPANIES, STAGE, STATUS
from quarry.companies.sources import SEARCHED
from quarry.postgres.pool import Database
from quarry.query.algebra import Comparison
from quarry.retrieval.facets import plain

_ALWAYS: dict[str, str] = {plain(value): value for value in (*STATUSES, *FUNDING_STAGES)}


async def check_understood(request: ChatRequest, database: Database) -> ChatRequest:
    """The request, its conditions with the values as the data spells them, in the one form. Raises InvalidInput and
    DatabaseUnavailable.
    """
    checked = await _CHECKS.checked(request.understood, request.constraints, understood_as, request.question, database)
    return request.model_copy(update={"understood": checked})


def _always(comparison: Comparison) -> Sequence[str]:
    """The values of a condition on a status or a stage, which exist even if no company has them. Empty unless all are known."""
    texts = [plain(str(each)) for each in comparison.scalars]
    is_fixed = comparison.field in (STATUS, STAGE) and all(each in _ALWAYS for each in texts)
    return list(dict.fromkeys(_ALWAYS[each] for each in texts)) if is_fixed else []


_CHECKS = ConditionChecks(COMPANIES.name, SEARCHED, COMPANIES, _always)
