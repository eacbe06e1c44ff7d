"""HTTP for shared answers: they need neither a user nor a model, and import none of the search."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from quarry.core.errors import NotFound
from quarry.core.text import Identifier
from quarry.core.web.admission import without_place
from quarry.core.web.identity import ServicesDependency
from quarry.core.web.problems import documented
from quarry.records.answer_cache import open_answer
from quarry.records.contract import CachedAnswer

router = APIRouter(tags=["records"])


@router.get("/answers/{id}", responses=documented(NotFound))
@without_place
async def cached_answer(id: Identifier, services: ServicesDependency) -> Response:
    """A finished answer, as it was given. Public: whoever knows the id may read it."""
    answer: CachedAnswer = await open_answer(services.database.reserve, id)
    return JSONResponse(answer.model_dump(mode="json", exclude_none=True))
