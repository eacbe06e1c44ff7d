"""Records search: one ranked list over all types.

Each type is searched by one SQL function in both halves, words and meaning; the halves are comparable between types, so two
lists over all types, one by words and one by meaning, are fused here by reciprocal rank.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from quarry.core.budget import Budget
from quarry.core.errors import ModelError
from quarry.core.retrieval.questions import standings
from quarry.core.run_log import ResultRecord, Run
from quarry.core.services import Caller, Services
from quarry.core.snippet import mark
from quarry.core.text import significant_words
from quarry.records.candidates import Candidate, RecordText
from quarry.records.contract import Matched, RecordType, Result, SearchRequest, SearchResponse
from quarry.records.facets import SEARCHED_BY_TYPE
from quarry.records.intent import classify_intent
from quarry.records.ranking import RankedRecord, fuse_types
from quarry.records.reading import RecordsReading, read_records
from quarry.records.retrieval import EVERYTHING, Scope, describe, find_candidates
from quarry.records.search_plan import SearchPlan, plan_search

DEPTH = 100
"""Candidates of each type. Deeper pages than these hold nothing."""


async def search_records(
    request: SearchRequest, caller: Caller, services: Services, request_id: str | None = None
) -> SearchResponse:
    """The ranked list for a query. Raises DatabaseUnavailable; a failing embedding model only degrades."""
    run = Run("records", caller.user_id, request.q, _budget(services), chat=None, request_id=request_id)
    with services.run_log.record(run):
        reading = await read_records(services.database, request.q)
        ranked = await rank_records(
            request.q,
            request.types,
            services,
            run,
            reading=reading,
            date_from=request.from_date,
            date_to=request.to_date,
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
    date_from: datetime.date | None = None,
    date_to: datetime.date | None = None,
) -> list[RankedRecord]:
    """All candidates over `types`, fused, best first. A query without a word that carries meaning finds nothing.

    `reading` is what the query asks beside its words; it is None where the query is to be taken for words alone.
    """
    candidates = await gather_candidates(query, types, services, run, reading=reading, given=Scope(date_from, date_to))
    return fuse_types(candidates, (await services.tuned.read()).records_semantic_weight)


async def gather_candidates(
    query: str,
    types: Sequence[RecordType],
    services: Services,
    run: Run,
    *,
    reading: RecordsReading | None = None,
    given: Scope = EVERYTHING,
) -> list[Candidate]:
    """What `rank_records` ranks, in no order."""
    if not significant_words(query):
        return []
    vector = await query_vector(query, services, run)
    with run.step("retrieve") as record:
        plan = await plan_search(services.database, query, types, given, reading)
        candidates = await _candidates(plan, vector, services)
        if not candidates and plan.must_hold:
            everything = await plan_search(services.database, query, types, given, None)
            candidates = await _candidates(everything, vector, services)
        record.counts["candidates"] = len(candidates)
    return candidates


async def _candidates(plan: SearchPlan, vector: list[float] | None, services: Services) -> list[Candidate]:
    candidates = await find_candidates(services.database, plan.arms, vector=vector, depth=DEPTH)
    candidates += [Candidate(name, id, 0.0, None) for name, id in plan.listed]
    for name, clauses in plan.unchecked.items():
        table = SEARCHED_BY_TYPE[name]
        keys = [item.id for item in candidates if item.type == name]
        met = {
            key
            for key, standing in (await standings(services.database, table, clauses, keys)).items()
            if not standing.misses
        }
        candidates = [
            item for item in candidates if item.type != name or item.id in met or not (plan.must_hold or item.is_apart)
        ]
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


def _budget(services: Services) -> Budget:
    return Budget(max_turns=0, max_calls=0, max_seconds=services.settings.database_timeout_seconds, max_tokens=1)
