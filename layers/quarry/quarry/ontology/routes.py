"""HTTP for a project workspace. The search is imported with the first request, since a process may never get one."""

from __future__ import annotations

from typing import Annotated, Any

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
from quarry.platform.errors import Gone, NotFound
from quarry.platform.text import Identifier
from quarry.streaming.events import NDJSON
from quarry.web.problems import documented, request_id_of
from quarry.web.requests import PlainCaller, ServicesDependency
from quarry.web.streams import NDJSON_EVENT_SCHEMA, Reader, answer_response, rest_of_stream, wants_stream

_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "model": OntologyAnswer,
        "description": "The answer; as events, one a line, where `Accept` asks for `application/x-ndjson`: "
        "`docs/api/ontology-events.json` holds their schema.",
        "content": {"application/x-ndjson": {"itemSchema": NDJSON_EVENT_SCHEMA}},
    }
}

router = APIRouter(tags=["ontology"], responses=documented(NotFound))


@router.post("/ontology/search", response_model_exclude_none=True)
async def search(
    request: Request, body: OntologySearchRequest, caller: PlainCaller, services: ServicesDependency
) -> OntologySearchResponse:
    """The caller's own entities of every type, best first."""
    from quarry.ontology.search import search_ontology

    return await search_ontology(body, caller, services, request_id_of(request))


@router.post("/ontology/ask", response_class=JSONResponse, responses=_ANSWER | documented(NotFound, Gone))
async def ask(request: Request, body: OntologyAskRequest, reader: Reader, services: ServicesDependency) -> Response:
    """An answer about the caller's projects, and the entities that it speaks of."""
    from quarry.ontology.ask import answer_about_projects
    from quarry.ontology.search import project_name

    if wants_stream(request) and reader.place is not None:
        return await rest_of_stream(request, reader.place, reader.caller, services, NDJSON)
    if body.project_id is not None:
        # before the stream begins, so that another's project is a 404
        await project_name(services.reader, reader.caller, body.project_id)
    request_id = request_id_of(request)
    return await answer_response(
        request,
        lambda run_id: answer_about_projects(body, reader.caller, services, request_id, run_id),
        reader,
        services,
        "ontology",
    )


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
