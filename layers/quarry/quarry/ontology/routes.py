"""HTTP routes of a project workspace. The handlers are imported with the first request, since a process may never get one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request

from quarry.ontology.contract import EntityType, OntologySearchRequest, OntologySearchResponse, WholeEntity
from quarry.platform.errors import NotFound
from quarry.platform.text import Identifier
from quarry.web.problems import documented, request_id_of
from quarry.web.requests import PlainCaller, ServicesDependency

router = APIRouter(tags=["ontology"], responses=documented(NotFound))


@router.post("/ontology/search", response_model_exclude_none=True)
async def search(
    request: Request, body: OntologySearchRequest, caller: PlainCaller, services: ServicesDependency
) -> OntologySearchResponse:
    """The caller's own entities of every type, best first."""
    from quarry.ontology.search import search_ontology

    return await search_ontology(body, caller, services, request_id_of(request))


# an owner's id may hold a slash
@router.get("/ontology/{type}/{id:path}", response_model_exclude_none=True)
async def entity(
    type: Annotated[EntityType, Path(examples=["task"])],
    id: Annotated[Identifier, Path(examples=["riverside-bakery-task-01"])],
    caller: PlainCaller,
    services: ServicesDependency,
) -> WholeEntity:
    """One of the caller's entities, whole, with its project."""
    from quarry.ontology.retrieval import whole_entity

    return await whole_entity(services.reader, caller, type, id)
