"""HTTP for shared answers: they need neither a user nor a model, and import none of the search."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from quarry.platform.errors import NotFound
from quarry.platform.text import Identifier
from quarry.records.answer_cache import is_revocable, open_answer, revoke_answer
from quarry.records.contract import CachedAnswer, OwnAnswer
from quarry.web.admission import without_place
from quarry.web.problems import documented
from quarry.web.requests import PlainCaller, ServicesDependency

router = APIRouter(tags=["records"])


@router.get("/answers/{id}", responses=documented(NotFound))
@without_place
async def cached_answer(id: Identifier, services: ServicesDependency) -> Response:
    """A finished answer, as it was given. Public: whoever knows the id may read it."""
    answer: CachedAnswer = await open_answer(services.database.reserve, id)
    return JSONResponse(answer.model_dump(mode="json", exclude_none=True))


@router.delete("/answers/{id}", status_code=204, responses=documented(NotFound))
async def revoke(id: Identifier, caller: PlainCaller, services: ServicesDependency) -> None:
    """Take back an answer of the caller's: its link leads nowhere then."""
    await revoke_answer(services.database, id, caller.user_id)


# by a path of its own: who opens a shared answer is nobody who could be told from others
@router.get("/me/answers/{id}")
async def own_answer(id: Identifier, caller: PlainCaller, services: ServicesDependency) -> OwnAnswer:
    """Whether an answer is yours: then you can take it back."""
    return OwnAnswer(id=id, revocable=await is_revocable(services.database, id, caller.user_id))
