"""HTTP for what costs credits beside the search, and for the credits themselves. It imports neither the search nor a model."""

from __future__ import annotations

from fastapi import APIRouter

from quarry.people.access.credits import balance_of
from quarry.people.access.unlock import unlock_contact
from quarry.people.contract import CreditBalance, UnlockRequest, UnlockResponse
from quarry.platform.errors import Forbidden, Gone, NotFound, PaymentRequired
from quarry.platform.text import Identifier
from quarry.web.identity import ServicesDependency
from quarry.web.problems import documented
from quarry.web.rate_limit import PlainCaller

router = APIRouter(tags=["people"])


@router.post("/people/{id:path}/unlock-contact", responses=documented(PaymentRequired, Forbidden, NotFound, Gone))
async def unlock(
    id: Identifier, body: UnlockRequest, caller: PlainCaller, services: ServicesDependency
) -> UnlockResponse:
    """The contact details of a person whom a search of yours found. The first time costs one credit, later ones nothing."""
    return await unlock_contact(id, body.search_id, caller, services)


@router.get("/credits")
async def credits(caller: PlainCaller, services: ServicesDependency) -> CreditBalance:
    """How many credits you have."""
    async with services.database.transaction() as connection:
        return CreditBalance(balance=await balance_of(connection, services.settings, caller.user_id))
