"""HTTP for a project workspace. The search is imported with the first request, since a process may never get one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import JSONResponse, Response

from quarry.ontology.contract import (
    EntityType,
    OntologyAnswer,
    OntologyAskRequest,
    OntologySearchRequest,
    OntologySearchResponse,
    WholeEntity,
)
from quarry.platform.errors import NotFound
from quarry.platform.text import Identifier
from quarry.web.problems import documented, request_id_of
from quarry.web.requests import PlainCaller, ServicesDependency
from quarry.web.streams import Reader, answer_response, documented_answer

router = APIRouter(tags=["ontology"], responses=documented(NotFound))


@router.post("/ontology/search", response_model_exclude_none=True)
async def search(
    request: Request, body: OntologySearchRequest, caller: PlainCaller, services: ServicesDependency
) -> OntologySearchResponse:
    """The caller's own entities of every type, best first."""
    from quarry.ontology.search import search_ontology

    return await search_ontology(body, caller, services, request_id_of(request))


@router.post("/ontology/ask", response_class=JSONResponse, responses=documented_answer(OntologyAnswer, "ontology"))
async def ask(request: Request, body: OntologyAskRequest, reader: Reader, services: ServicesDependency) -> Response:
    """An answer about the caller's projects, and the entities that it speaks of."""
    from quarry.ontology.search import answer_about_projects, project_name

    if body.project_id is not None:
        # before the stream begins, so that another's project is a 404
        await project_name(services.reader, reader.caller, body.project_id)
    return await answer_response(request, body, answer_about_projects, reader, services, "ontology")


# an owner's id may hold a slash
@router.get("/ontology/{type}/{id:path}", response_model_exclude_none=True)
async def entity(
    type: Annotated[EntityType, Path(examples=["task"])],
    id: Annotated[Identifier, Path(examples=["riverside-bakery-task-01"])],
    caller: PlainCaller,
    services: ServicesDependency,
) -> WholeEntity:
    """One of the caller's entities, whole, with its project."""
    from quarry.ontology.search import whole_entity

    return await whole_entity(services.reader, caller, type, id)
