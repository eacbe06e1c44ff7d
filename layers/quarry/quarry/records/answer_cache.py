"""Finished answers, kept for a while under an unguessable id. Opening one never calls a model."""

from __future__ import annotations

import datetime
import json
import secrets
from collections.abc import Sequence

from quarry.core.errors import NotFound
from quarry.core.postgres.pool import Database
from quarry.records.contract import CachedAnswer, ConfidenceLevel, Source

ID_BYTES = 16


async def store_answer(
    database: Database,
    *,
    query: str,
    answer: str,
    sources: Sequence[Source],
    followups: Sequence[str],
    confidence: ConfidenceLevel,
    lifetime_days: int,
) -> str:
    """Keep a finished answer; its id."""
    answer_id = secrets.token_urlsafe(ID_BYTES)
    await database.execute(
        """insert into answer_cache (id, query, answer, sources, suggested_followups, source_count, confidence, expires_at)
           values (%s, %s, %s, %s::jsonb, %s, %s, %s, now() + make_interval(days => %s))""",
        [
            answer_id,
            query,
            answer,
            json.dumps([source.model_dump(mode="json", exclude_none=True) for source in sources]),
            list(followups),
            len(sources),
            confidence,
            lifetime_days,
        ],
    )
    return answer_id


async def open_answer(database: Database, answer_id: str) -> CachedAnswer:
    """The answer as it was given. Raises NotFound when there is none, or none any more."""
    row = await database.row(
        """select id, query, answer, sources, suggested_followups, source_count, confidence, created_at, expires_at
           from answer_cache where id = %s and expires_at > now()""",
        [answer_id],
    )
    if row is None:
        raise NotFound("There is no such answer, or it has expired; ask the question again.")
    for moment in ("created_at", "expires_at"):
        row[moment] = row[moment].astimezone(datetime.UTC)
    return CachedAnswer.model_validate(row)
