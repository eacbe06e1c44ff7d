"""HTTP for profiles of people. It imports neither the search nor a model."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import RedirectResponse

from quarry.people.access import discover, gated_profile, public_profile
from quarry.people.contract import DiscoverRequest, DiscoverResponse, GatedProfile, PublicProfile
from quarry.platform.errors import Gone, NotFound
from quarry.platform.text import Identifier
from quarry.web.problems import documented
from quarry.web.requests import PlainCaller, ServicesDependency

router = APIRouter(tags=["people"])


@router.get("/people", response_model=DiscoverResponse)
async def people(
    request: Request, query: Annotated[DiscoverRequest, Query()], caller: PlainCaller, services: ServicesDependency
) -> DiscoverResponse | RedirectResponse:
    """Everyone with a visible card, by name, a page at a time. A browser that opens the address gets the page."""
    if request.headers.get("accept", "").startswith("text/html"):
        # relative, as the service may stand below a prefix
        return RedirectResponse("search?domain=people", status_code=303, headers={"Vary": "Accept"})
    return await discover(query, services.reader)


# an owner's id may hold a slash: the longer path comes first
@router.get("/people/{id:path}/profile", responses=documented(NotFound))
async def profile(
    id: Annotated[Identifier, Path(examples=["p-anagha-venkataraman"])],
    caller: PlainCaller,
    services: ServicesDependency,
) -> PublicProfile:
    """What everyone may see of a person: who they are and their visible cards."""
    return await public_profile(id, services.reader)


@router.get("/people/{id:path}", responses=documented(NotFound, Gone))
async def person(
    id: Identifier, search_id: Annotated[Identifier, Query()], caller: PlainCaller, services: ServicesDependency
) -> GatedProfile:
    """A person whom a search of yours found, with contact details once you have unlocked them."""
    return await gated_profile(id, search_id, caller, services)
