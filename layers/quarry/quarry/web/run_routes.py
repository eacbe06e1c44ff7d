"""HTTP for runs of any domain: ending one, and feedback."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from quarry.platform.errors import NotFound
from quarry.runs.run_log import keep_feedback
from quarry.web.contract import Feedback
from quarry.web.problems import documented
from quarry.web.requests import PlainCaller, ServicesDependency

router = APIRouter(tags=["runs"])


@router.delete("/runs/{id}", status_code=202, response_class=Response, responses=documented(NotFound))
async def cancel_run(id: UUID, caller: PlainCaller, services: ServicesDependency) -> Response:
    """End a running stream of the caller's, in whatever process it runs; its last event is then an error. `id` is the first part
    of its events' ids.
    """
    await services.streams.cancel(id, caller.user_id)
    return Response(status_code=202)


@router.post("/runs/{id}/feedback", status_code=204, responses=documented(NotFound))
async def give_feedback(id: UUID, body: Feedback, caller: PlainCaller, services: ServicesDependency) -> None:
    """Say whether a run of the caller's helped; later feedback replaces earlier feedback."""
    # the run log is written after the answer
    await services.run_log.drain()
    await keep_feedback(services.database, id, caller.user_id, helpful=body.helpful, reason=body.reason)
