"""Records search: one ranked list over all types.

Each type is searched in both halves, words and meaning, in one statement. The scores of the halves mean the same in every
type, so one list over all types is fused from them here.
"""

from __future__ import annotations

from collections.abc import Sequence

from quarry.core.budget import Budget
from quarry.core.errors import ModelError
from quarry.core.retrieval.fusion import Method
from quarry.core.run_log import ResultRecord, Run
from quarry.core.services import Caller, Services
from quarry.core.snippet import mark
from quarry.core.text import significant_words
from quarry.records.candidates import Candidate, RecordText
from quarry.records.contract import Matched, Result, SearchRequest, SearchResponse
from quarry.records.intent import classify_intent
from quarry.records.ranking import RankedRecord, fuse_types
from quarry.records.reading import RecordsReading, read_records
from quarry.records.retrieval import EVERYTHING, Scope, describe, find_candidates, ids_meeting
from quarry.records.search_plan import search_plans
from quarry.records.types import RecordType

DEPTH = 100
"""Candidates of each type. Deeper pages than these hold nothing."""


async def search_records(
    request: SearchRequest, caller: Caller, services: Services, request_id: str | None = None
) -> SearchResponse:
    """The ranked list for a query. Raises DatabaseUnavailable; a failing embedding model only degrades."""
    budget = Budget.without_model(services.settings.database_timeout_seconds)
    run = Run("records", caller.user_id, request.q, budget, chat=None, request_id=request_id)
    with services.run_log.record(run):
        reading = await read_records(services.database, request.q)
        ranked = await rank_records(
            request.q,
            request.types,
            services,
            run,
            reading=reading,
            scope=Scope(request.from_date, request.to_date, request.must),
            method="reciprocal_rank" if request.ranking == "seed" else "scores",
        )
        page = ranked[request.offset : request.offset + request.limit]
        with run.step("describe") as record:
            texts = await describe(services.database, [item.key for item in page], request.q)
            record.counts["records"] = len(texts)
        run.results = [ResultRecord(*item.key, item.score) for item in page]
        run.end_reason = "answered"
        found = {text.key: text for text in texts}
        return SearchResponse(
            query=request.q,
            intent=classify_intent(request.q),
            results=[_result(item, found[item.key]) for item in page if item.key in found],
            counts={name: sum(item.key[0] == name for item in ranked) for name in request.types},
            degraded=run.degraded,
        )


async def rank_records(
    query: str,
    types: Sequence[RecordType],
    services: Services,
    run: Run,
    *,
    reading: RecordsReading | None = None,
    scope: Scope = EVERYTHING,
    method: Method = "scores",
) -> list[RankedRecord]:
    """All candidates over `types`, fused, best first. A query without a word that carries meaning finds nothing.

    `reading` is what the query asks beside its words; it is None where the query is to be taken for words alone.
    """
    candidates = await gather_candidates(query, types, services, run, reading=reading, scope=scope)
    return fuse_types(candidates, (await services.tuned.read()).records_semantic_weight, method)


async def gather_candidates(
    query: str,
    types: Sequence[RecordType],
    services: Services,
    run: Run,
    *,
    reading: RecordsReading | None = None,
    scope: Scope = EVERYTHING,
) -> list[Candidate]:
    """What `rank_records` ranks, in no order."""
    if not significant_words(query):
        return []
    vector = await query_vector(query, services, run)
    candidates: list[Candidate] = []
    with run.step("retrieve") as record:
        for plan in search_plans(query, types, reading, scope):
            candidates = await find_candidates(
                services.database, plan.arms, vector=vector, depth=DEPTH, is_strict=scope.is_strict
            )
            listed = await ids_meeting(services.database, plan.listed, DEPTH)
            candidates += [Candidate(name, id, 0.0, None) for name, ids in listed.items() for id in ids]
            if candidates:
                break
        record.counts["candidates"] = len(candidates)
    return candidates


async def query_vector(query: str, services: Services, run: Run) -> list[float] | None:
    """The query's vector, or None: then the search goes by words alone, and says so if the model failed."""
    with run.step("query_embedding") as record:
        try:
            return await services.queries.embed(query, seconds=run.budget.seconds_left)
        except ModelError:
            run.degrade("query_embedding", record)
            return None


def _result(item: RankedRecord, text: RecordText) -> Result:
    return Result(
        type=text.type,
        id=text.id,
        title=text.title,
        snippet=mark(text.snippet),
        score=item.score,
        date=text.date,
        meeting_id=text.meeting_id,
        url=text.url,
        matched=Matched(text_rank=item.text_rank, semantic_rank=item.semantic_rank),
    )
