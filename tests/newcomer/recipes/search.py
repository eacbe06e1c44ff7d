"""The search for recipes, by words and meaning, and the answer to a question about them."""

from __future__ import annotations

import datetime
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from quarry.agent.sources import data_access
from quarry.agent.tools import Hit
from quarry.answering.asking import Asking, answered
from quarry.answering.contract import RESULTS_MAX, Answer, AnswerData, FinalAnswerEvent, Result, SearchResponse
from quarry.answering.toolset import Toolset
from quarry.platform.text import mark, unmark
from quarry.postgres.pool import half_vector
from quarry.query.execute import RowConditions
from quarry.retrieval.fusion import Scored, fuse
from quarry.runs.run_log import ResultRecord, Run
from quarry.schema.algebra import Comparison
from quarry.schema.source import Schema
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event

from .contract import AskRequest, SearchRequest
from .prompts import ABOUT, NOTES

DOMAIN = NAME = "recipes"
SCORE_MIN = 0.15
"""The least score of a recipe that counts as found."""

_FOUND = """
select c.id, c.text_score, c.similarity, t.title, t.method
from weigh_query(array['recipes'], %(text)s) w,
  hybrid_candidates('recipes', 'recipes_embeddings', w, %(vector)s::halfvec, %(limit)s, %(condition)s) c
  join recipes t using (id)
"""
_NAMED = """
select t.id, t.title, t.method from unnest(%(ids)s::text[]) with ordinality k (id, place) join recipes t using (id)
order by k.place
"""


async def find(
    text: str, run: Run, services: Services, limit: int = RESULTS_MAX, condition: str | None = None
) -> list[Result]:
    """The recipes for a text, best first, that meet an SQL condition on a row `t`. Raises DatabaseUnavailable."""
    vector = half_vector(await services.queries.embed_for(run, text))
    values = {"text": text, "vector": vector, "limit": limit, "condition": condition}
    with run.step("retrieve"):
        rows = {row["id"]: row for row in await services.reader.rows(_FOUND, values)}
    found = fuse([Scored(id, row["text_score"], row["similarity"]) for id, row in rows.items()])
    best = [each for each in found if each.score >= SCORE_MIN][:limit]
    run.results = [ResultRecord(NAME, each.key, each.score) for each in best]
    return [_result(rows[each.key], each.score) for each in best]


def _result(row: dict[str, Any], score: float) -> Result:
    return Result(id=row["id"], title=row["title"], snippet=mark(row["method"]), score=score)


async def search(
    request: SearchRequest, caller: Caller, services: Services, request_id: str | None = None
) -> SearchResponse:
    """The recipes for some words. Raises DatabaseUnavailable."""
    with services.run(DOMAIN, caller, request.query, request.as_asked(), request_id=request_id) as run:
        condition = None if request.minutes_max is None else await _takes(request.minutes_max, caller, services)
        results = await find(request.query, run, services, condition=condition)
        run.end_reason = "answered"
    return SearchResponse(results=results)


async def _takes(minutes: int, caller: Caller, services: Services) -> str:
    """The SQL condition that a recipe takes no longer."""
    access = await data_access(caller, services)
    shorter = Comparison(field="minutes", op="<=", value=minutes)
    rows = RowConditions(NAME, Schema(access.schema.sources), access.today, None)
    return rows.met([shorter]).as_string(None)


@dataclass
class AskingRecipes(Asking[Result]):
    """A question about recipes."""

    step = "recipes_answer"
    about = ABOUT
    notes = NOTES

    async def search(self, text: str) -> str:
        self.matches = await find(text, self.tools.run, self.tools.services)
        self.total = len(self.matches)
        return f"{self.total} recipes come near." if self.matches else "No recipe comes near."

    async def rows(self, keys: Sequence[tuple[str, str]]) -> Sequence[Result]:
        rows = await self.tools.services.reader.rows(_NAMED, {"ids": [id for _, id in keys]})
        return [_result(row, 1.0) for row in rows]

    def hit(self, row: Result) -> Hit:
        return Hit(source=NAME, id=row.id, title=row.title, text=unmark(row.snippet))

    def final(self, data: AnswerData) -> Event:
        return FinalAnswerEvent(data=Answer(results=list(self.matches[:RESULTS_MAX]), **dict(data)))


def answer(
    request: AskRequest, caller: Caller, services: Services, request_id: str | None = None, run_id: UUID | None = None
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps; a failing database ends the stream."""

    async def begin(run: Run) -> AskingRecipes:
        access = await data_access(caller, services)
        name = access.name_of(DOMAIN, NAME)
        today = datetime.datetime.now(datetime.UTC).date()
        names = [] if name is None else [name]
        tools = Toolset(services=services, caller=caller, run=run, access=access, today=today, names=names)
        return AskingRecipes(request, tools)

    return answered(request, DOMAIN, begin, caller, services, request_id, run_id)
