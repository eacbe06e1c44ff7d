"""Records search: one ranked list over all types.

Each type is searched by one SQL function in both halves, words and meaning; the halves are comparable between types, so two
lists over all types, one by words and one by meaning, are fused here by reciprocal rank.
"""

from __future__ import annotations

import datetime
import html
from collections.abc import Sequence
from dataclasses import dataclass

from quarry.core.budget import Budget
from quarry.core.errors import ModelError
from quarry.core.fusion import Fused, reciprocal_rank_fusion
from quarry.core.run_log import ResultRecord, Run
from quarry.core.services import Caller, Services
from quarry.core.text import significant_words
from quarry.records.contract import RECORD_TYPES, Matched, RecordType, Result, SearchRequest, SearchResponse
from quarry.records.intent import classify_intent
from quarry.records.retrieval import MATCH_END, MATCH_START, Candidate, RecordKey, RecordText, describe, find_candidates

DEPTH = 100
"""Candidates of each type. Deeper pages than these hold nothing."""

SIMILARITY_MIN = 0.2
"""A record less similar than this (cosine) was not found by its meaning: something is always nearest."""


@dataclass(frozen=True)
class RankedRecord:
    """A record in the fused list over all types."""

    key: RecordKey
    score: float
    text_rank: int | None
    semantic_rank: int | None
    similarity: float | None


async def search_records(
    request: SearchRequest, caller: Caller, services: Services, request_id: str | None = None
) -> SearchResponse:
    """The ranked list for a query. Raises DatabaseUnavailable; a failing embedding model only degrades."""
    run = Run("records", caller.user_id, request.q, _budget(services), chat=None, request_id=request_id)
    with services.run_log.record(run):
        ranked = await rank_records(
            request.q, request.types, services, run, date_from=request.from_date, date_to=request.to_date
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
    date_from: datetime.date | None = None,
    date_to: datetime.date | None = None,
) -> list[RankedRecord]:
    """All candidates over `types`, fused, best first. A query without a word that carries meaning finds nothing."""
    if not significant_words(query):
        return []
    vector = await query_vector(query, services, run)
    with run.step("retrieve") as record:
        candidates = await find_candidates(
            services.database,
            query=query,
            vector=vector,
            types=types,
            depth=DEPTH,
            date_from=date_from,
            date_to=date_to,
        )
        record.counts["candidates"] = len(candidates)
    return fuse_types(candidates)


async def query_vector(query: str, services: Services, run: Run) -> list[float] | None:
    """The query's vector, or None: then the search goes by words alone, and says so if the model failed."""
    with run.step("query_embedding") as record:
        try:
            return await services.queries.embed(query)
        except ModelError:
            run.degrade("query_embedding", record)
            return None


def fuse_types(candidates: Sequence[Candidate]) -> list[RankedRecord]:
    """One list out of the candidates of all types: reciprocal rank fusion of their order by words and by meaning."""
    by_key = {candidate.key: candidate for candidate in candidates}
    by_words = sorted(
        (item for item in candidates if item.text_score is not None),
        key=lambda item: (-(item.text_score or 0.0), RECORD_TYPES.index(item.type), item.id),
    )
    by_meaning = sorted(
        (item for item in candidates if item.similarity is not None and item.similarity >= SIMILARITY_MIN),
        key=lambda item: (-(item.similarity or 0.0), RECORD_TYPES.index(item.type), item.id),
    )
    fused: list[Fused[RecordKey]] = reciprocal_rank_fusion(
        {"text": [item.key for item in by_words], "semantic": [item.key for item in by_meaning]}
    )
    return [
        RankedRecord(
            item.key, item.score, item.ranks.get("text"), item.ranks.get("semantic"), by_key[item.key].similarity
        )
        for item in fused
    ]


def mark(snippet: str) -> str:
    """A snippet as HTML: everything escaped but `<mark>` around the matched words."""
    return html.escape(snippet).replace(MATCH_START, "<mark>").replace(MATCH_END, "</mark>")


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
