"""HTTP for the search for people, which is imported with the first request."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Request

from quarry.people.contract import PeopleSearchRequest, PeopleSearchResponse
from quarry.platform.errors import Conflict, NotFound, PaymentRequired
from quarry.runs.idempotency import KeyText
from quarry.web.problems import documented, request_id_of
from quarry.web.requests import ModelCaller, ServicesDependency

router = APIRouter(tags=["people"], responses=documented(PaymentRequired, NotFound, Conflict))


@router.post("/people/search")
async def search(
    request: Request,
    body: PeopleSearchRequest,
    caller: ModelCaller,
    services: ServicesDependency,
    idempotency_key: Annotated[
        KeyText | None,
        Header(
            alias="Idempotency-Key",
            description="A search that is sent again under its key within 24 hours gets the same answer again, free of charge.",
        ),
    ] = None,
    only_kept: Annotated[
        bool,
        Query(description="Return what was found under this key before, free of charge, or 404. Nothing is searched."),
    ] = False,
) -> PeopleSearchResponse:
    """The people who fit best, at most five, with reasons. Costs one credit, and nothing where nobody is shown."""
    from quarry.people.search import search_people

    return await search_people(
        body, caller, services, idempotency_key=idempotency_key, only_kept=only_kept, request_id=request_id_of(request)
    )
