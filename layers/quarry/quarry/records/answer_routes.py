"""Shared answers: opening and revoking them. They need neither a user nor a model, and import none of the search."""

from __future__ import annotations

import datetime
import re

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from quarry.language.messages import gettext_noop
from quarry.platform.errors import NotFound
from quarry.platform.text import Identifier
from quarry.postgres.pool import Database
from quarry.records.answer_cache import changes_of
from quarry.records.contract import CachedAnswer, ChangedRecord, OwnAnswer, ShareRequest
from quarry.web.admission import unmetered
from quarry.web.problems import documented
from quarry.web.requests import PlainCaller, ServicesDependency

router = APIRouter(tags=["records"])
_CITED = re.compile(r"\[(\d{1,3})\]")


@router.get("/answers/{id}", responses=documented(NotFound))
@unmetered
async def cached_answer(id: Identifier, services: ServicesDependency) -> Response:
    """A finished answer, as it was given. Public: whoever knows the id may read it, where it is shared."""
    answer: CachedAnswer = await open_answer(services.database.reserve, id)
    return JSONResponse(answer.model_dump(mode="json", exclude_none=True))


@router.delete("/answers/{id}", status_code=204, responses=documented(NotFound))
async def revoke(id: Identifier, caller: PlainCaller, services: ServicesDependency) -> None:
    """Revoke an answer of the caller's. Its link stops working."""
    await revoke_answer(services.database, id, caller.user_id)


# on a path of its own, since opening a shared answer needs no user
@router.get("/me/answers/{id}")
async def own_answer(id: Identifier, caller: PlainCaller, services: ServicesDependency) -> OwnAnswer:
    """Whether an answer is yours, so that you can revoke it, and whether its link opens it."""
    shared = await is_shared(services.database, id, caller.user_id)
    return OwnAnswer(id=id, revocable=shared is not None, shared=bool(shared))


@router.post("/me/answers/{id}/share", status_code=204, responses=documented(NotFound))
async def share(id: Identifier, request: ShareRequest, caller: PlainCaller, services: ServicesDependency) -> None:
    """Share an answer of yours: whoever has its link can open it from now on."""
    await share_answer(services.database, id, caller.user_id)


async def open_answer(database: Database, answer_id: str) -> CachedAnswer:
    """The answer as it was given, and what changed since. Raises NotFound for one that does not exist or has expired."""
    row = await database.row(
        """select id, query, answer, sources, suggested_followups, source_count, confidence, confidence_label, created_at,
             expires_at, citations, unsupported, statements, record_hashes
           from answer_cache where id = %s and shared and expires_at > now()""",
        [answer_id],
    )
    if row is None:
        raise NotFound(
            gettext_noop("There is no such answer, it has expired, or it is not shared; ask the question again.")
        )
    for moment in ("created_at", "expires_at"):
        row[moment] = row[moment].astimezone(datetime.UTC)
    hashes = row.pop("record_hashes")
    answer = CachedAnswer.model_validate(row | {"changed_since": []})
    cited = {int(number) for number in _CITED.findall(answer.answer)}
    changes = await changes_of(database, answer.sources, hashes)
    changed = [
        ChangedRecord(**source.model_dump(include={"n", "type", "id", "title"}), change=changes[place])
        for place, source in enumerate(answer.sources)
        if place in changes and source.n in cited
    ]
    return answer.model_copy(update={"changed_since": changed})


async def is_shared(database: Database, answer_id: str, owner: str) -> bool | None:
    """Whether the link of the owner's answer opens it; None where the owner has no such answer."""
    row = await database.row(
        "select shared from answer_cache where id = %s and owner = %s and expires_at > now()", [answer_id, owner]
    )
    return row["shared"] if row is not None else None


async def share_answer(database: Database, answer_id: str, owner: str) -> None:
    """Let the link of an answer open it. Raises NotFound where the owner has no such answer."""
    statement = "update answer_cache set shared = true where id = %s and owner = %s and expires_at > now()"
    if not await database.execute(statement, [answer_id, owner]):
        raise NotFound(gettext_noop("There is no such answer, or it is not yours."))


async def revoke_answer(database: Database, answer_id: str, owner: str) -> None:
    """Delete an answer, so that its link stops working. Raises NotFound where the owner has no such answer."""
    if not await database.execute("delete from answer_cache where id = %s and owner = %s", [answer_id, owner]):
        raise NotFound(gettext_noop("There is no such answer, or it is not yours."))
