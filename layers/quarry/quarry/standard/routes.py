"""HTTP for a domain: a search, a question, and a row. The search is imported with the first request."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import JSONResponse, Response

from quarry.answering.contract import Answer, AskRequest, SearchRequest, SearchResponse
from quarry.domains import module
from quarry.platform.errors import NotFound
from quarry.platform.text import Identifier
from quarry.web.problems import documented, request_id_of
from quarry.web.requests import PlainCaller, ServicesDependency
from quarry.web.streams import Reader, answer_response, documented_answer


def of(domain: str) -> SimpleNamespace:
    contract = module(domain, "contract")
    router = APIRouter(tags=[domain])

    async def search(
        request: Request, body: SearchRequest, caller: PlainCaller, services: ServicesDependency
    ) -> SearchResponse:
        """The rows for some words, best first."""
        response: SearchResponse = await module(domain, "search").search(body, caller, services, request_id_of(request))
        return response

    async def ask(request: Request, body: AskRequest, reader: Reader, services: ServicesDependency) -> Response:
        """An answer, and the rows that it speaks of."""
        events = module(domain, "search").answer
        return await answer_response(request, body, events, reader, services, domain)

    async def row(
        id: Annotated[Identifier, Path()], caller: PlainCaller, services: ServicesDependency
    ) -> dict[str, Any]:
        """One row, whole."""
        whole: dict[str, Any] = await module(domain, "agent_tools").read_whole("", id, caller, services)
        return whole

    # their types and names are the domain's own: the API's description needs them
    search.__annotations__["body"], ask.__annotations__["body"] = contract.SearchRequest, contract.AskRequest
    for route in (search, ask, row):
        route.__name__ = f"{route.__name__}_{domain}"
    router.post(f"/{domain}/search")(search)
    router.post(f"/{domain}/ask", response_class=JSONResponse, responses=documented_answer(Answer, domain))(ask)
    # an owner's id may hold a slash
    router.get(f"/{domain}/{{id:path}}", responses=documented(NotFound))(row)
    return SimpleNamespace(router=router)
