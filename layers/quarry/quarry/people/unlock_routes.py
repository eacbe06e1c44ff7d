"""HTTP for unlocking contacts, and for credits. It imports neither the search nor a model."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header

from quarry.people.access import balance_of, unlock_contact
from quarry.people.contract import CreditBalance, UnlockRequest, UnlockResponse
from quarry.platform.errors import Conflict, Forbidden, Gone, NotFound, PaymentRequired
from quarry.platform.text import Identifier
from quarry.runs.idempotency import KeyText
from quarry.web.problems import documented
from quarry.web.requests import PlainCaller, ServicesDependency

router = APIRouter(tags=["people"])


@router.post(
    "/people/{id:path}/unlock-contact", responses=documented(PaymentRequired, Forbidden, NotFound, Conflict, Gone)
)
async def unlock(
    id: Identifier,
    body: UnlockRequest,
    caller: PlainCaller,
    services: ServicesDependency,
    idempotency_key: Annotated[
        KeyText | None,
        Header(
            alias="Idempotency-Key",
            description="An unlock that is sent again under its key within 24 hours is answered as before.",
        ),
    ] = None,
) -> UnlockResponse:
    """The contact details of a person whom a search of yours found. The first time costs one credit, later ones nothing."""
    return await unlock_contact(id, body.search_id, caller, services, idempotency_key=idempotency_key)


@router.get("/credits")
async def credits(caller: PlainCaller, services: ServicesDependency) -> CreditBalance:
    """How many credits you have."""
    async with services.database.transaction() as connection:
        return CreditBalance(balance=await balance_of(connection, services.settings, caller.user_id))
