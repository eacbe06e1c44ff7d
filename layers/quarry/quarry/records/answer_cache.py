"""Finished answers: how far they can be trusted, and keeping them for a while under an unguessable id. Opening one never calls a
model.

The same question of the same caller gets a kept answer again while it would be made from the same: what its first search finds
has the same texts, the records that it was made from are what they were, and its queries give what they gave.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import secrets
from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import fsum
from typing import Any

from quarry.platform.errors import NotFound
from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.tables import KEEP
from quarry.postgres.pool import Database
from quarry.query.algebra import Query
from quarry.query.contract import QueryResult
from quarry.records.contract import CachedAnswer, ChangedRecord, Citation, ConfidenceLevel, RecordKey, Source

HIGH_SOURCES_MIN = 6
LOW_SOURCES_MAX = 2
SIMILARITY_BOUNDS = {LOCAL_EMBEDDING_MODEL: (0.4, 0.6)}
"""Of an embedding model that gives other similarities than `OTHER_BOUNDS` are for: a lower mean is low, a higher one may be high.
`docs/search-quality.md` says how often answers on each side of these are right.
"""

OTHER_BOUNDS = (0.5, 0.7)


def confidence(
    sources: Sequence[Source],
    basis: str = "",
    *,
    model: str = "",
    likely: ConfidenceLevel | None = None,
    is_doubtful: bool = False,
    is_partial: bool = False,
) -> tuple[ConfidenceLevel, str]:
    """How far the sources that an answer cites carry it, and a label that says so. `likely` is the level by the probability of an
    answer that is made of the sources' own sentences.

    Without one, high is six sources or more with a mean similarity above the upper bound for the embedding `model`, and low is
    two or fewer, or a mean below the lower bound. The mean is over the sources that have a similarity; where none has, the count
    alone decides between low and medium. A number that was counted exactly is high by its `basis`; medium, where more is said
    that nothing supports (`is_partial`). What may not answer the question (`is_doubtful`) is low.
    """
    level: ConfidenceLevel = "medium"
    if basis:
        level = "low" if is_doubtful else "medium" if is_partial else "high"
        return level, _label(level, basis)
    count = len(sources)
    similarities = [source.similarity for source in sources if source.similarity is not None]
    mean = fsum(similarities) / len(similarities) if similarities else None
    lower, upper = SIMILARITY_BOUNDS.get(model, OTHER_BOUNDS)
    if likely is not None and count and not is_doubtful:
        level = likely
    elif is_doubtful or count <= LOW_SOURCES_MAX or (mean is not None and mean < lower):
        level = "low"
    elif count >= HIGH_SOURCES_MIN and mean is not None and mean > upper:
        level = "high"
    return level, _label(level, _based_on(count))


def kept_label(level: ConfidenceLevel, source_count: int, *, has_queries: bool) -> str:
    """The label of an answer that was kept with this level and cites so many sources. It was counted where it cites none, or
    rests on queries and has a higher level than its sources give.
    """
    least = {"high": HIGH_SOURCES_MIN, "medium": 1, "low": 0}[level]
    is_counted = source_count < (least if has_queries else min(1, least))
    return _label(level, "counted on the records" if is_counted else _based_on(source_count))


def _label(level: ConfidenceLevel, basis: str) -> str:
    return f"{level.capitalize()} confidence, {basis}"


def _based_on(count: int) -> str:
    return f"based on {count} source{'' if count == 1 else 's'}"


ID_BYTES = 16
_CITED = re.compile(r"\[(\d{1,3})\]")
_CHANGES = """
select s.place, case when h.hash is null then 'gone' else 'changed' end as change
from unnest(%s::text[], %s::text[], %s::text[]) with ordinality s (type, id, hash, place)
left join record_hashes(%s::text[], %s::text[]) h on h.type = s.type and h.id = s.id
where h.hash is distinct from s.hash
"""


@dataclass(frozen=True)
class Keys:
    """What a kept answer is found by: `question` is what was asked, by whom and how, `found` what the first search found."""

    question: str
    found: str


@dataclass(frozen=True)
class AskedQuery:
    """A query that an answer rests on, and a digest of what it gave."""

    query: Query
    result: str

    @classmethod
    def of(cls, result: QueryResult) -> AskedQuery:
        """What is remembered of a result."""
        return cls(
            result.query, digest(result.columns and [each.name for each in result.columns], result.rows, result.total)
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query.model_dump(mode="json", by_alias=True, exclude_defaults=True),
            "result": self.result,
        }


@dataclass(frozen=True)
class FinishedAnswer:
    """An answer as it was given, and the queries that it rests on."""

    answer: str
    sources: Sequence[Source]
    followups: Sequence[str]
    confidence: ConfidenceLevel
    citations: Sequence[Citation]
    unsupported: Sequence[str]
    queries: Sequence[AskedQuery] = ()


@dataclass(frozen=True)
class KeptAnswer:
    """A finished answer and its id."""

    id: str
    finished: FinishedAnswer


def digest(*parts: Any) -> str:
    """One key for several values that JSON can hold."""
    return hashlib.sha256(json.dumps(parts, default=str, sort_keys=True).encode()).hexdigest()


async def store_answer(
    database: Database,
    *,
    query: str,
    owner: str,
    finished: FinishedAnswer,
    keys: Keys | None,
    changed: Set[RecordKey],
    lifetime_days: int,
) -> str | None:
    """Keep a finished answer; its id, or None where something that it quotes was forgotten meanwhile. Of records that `changed`
    since the answer was made from them it is said when it is opened. Without `keys` it answers no other question.
    """
    answer_id = secrets.token_urlsafe(ID_BYTES)
    types, ids = [each.type for each in finished.sources], [each.id for each in finished.sources]
    statement = """insert into answer_cache (id, query, answer, sources, suggested_followups, source_count, confidence,
             expires_at, owner, question_key, found_key, citations, unsupported, queries, record_hashes)
           select %s, %s, %s, %s::jsonb, %s, %s, %s, now() + make_interval(days => %s), %s, %s, %s, %s::jsonb, %s, %s::jsonb,
             array(select case when s.has_changed then '' else coalesce(h.hash, '') end
               from unnest(%s::text[], %s::text[], %s::bool[]) with ordinality s (type, id, has_changed, place)
               left join record_hashes(%s::text[], %s::text[]) h on h.type = s.type and h.id = s.id order by s.place)
           where not exists (select from unnest(%s::text[], %s::text[]) s (type, id) where was_forgotten(s.type, s.id))"""
    async with database.transaction() as connection:
        await connection.execute(KEEP)
        stored = await connection.execute(
            statement,
            [
                answer_id,
                query,
                finished.answer,
                json.dumps([_whole(source) for source in finished.sources]),
                list(finished.followups),
                len({each.n for each in finished.citations}),
                finished.confidence,
                lifetime_days,
                owner,
                keys and keys.question,
                keys and keys.found,
                json.dumps([citation.model_dump(mode="json", exclude_none=True) for citation in finished.citations]),
                list(finished.unsupported),
                json.dumps([each.to_json() for each in finished.queries]),
                types,
                ids,
                [(each.type, each.id) in changed for each in finished.sources],
                *(types, ids) * 2,
            ],
        )
    return answer_id if stored.rowcount else None


async def find_answer(database: Database, keys: Keys) -> KeptAnswer | None:
    """The latest answer to the same question that would be made from the same; None where there is none."""
    row = await database.row(
        """select id, answer, sources, suggested_followups as followups, confidence, citations, unsupported, queries,
             record_hashes
           from answer_cache where question_key = %s and found_key = %s and expires_at > now()
           order by created_at desc limit 1""",
        [keys.question, keys.found],
    )
    if row is None:
        return None
    id, hashes = row.pop("id"), row.pop("record_hashes")
    sources = [Source.model_validate(source) for source in row.pop("sources")]
    citations = [Citation.model_validate(citation) for citation in row.pop("citations")]
    queries = [AskedQuery(Query.model_validate(each["query"]), each["result"]) for each in row.pop("queries")]
    if await _changes(database, sources, hashes):
        return None
    return KeptAnswer(id, FinishedAnswer(sources=sources, citations=citations, queries=queries, **row))


async def open_answer(database: Database, answer_id: str) -> CachedAnswer:
    """The answer as it was given, and what changed since. Raises NotFound when there is none, or none any more."""
    row = await database.row(
        """select id, query, answer, sources, suggested_followups, source_count, confidence, created_at, expires_at, citations,
             unsupported, record_hashes, queries <> '[]' as has_queries
           from answer_cache where id = %s and expires_at > now()""",
        [answer_id],
    )
    if row is None:
        raise NotFound("There is no such answer, or it has expired; ask the question again.")
    for moment in ("created_at", "expires_at"):
        row[moment] = row[moment].astimezone(datetime.UTC)
    hashes = row.pop("record_hashes")
    label = kept_label(row["confidence"], row["source_count"], has_queries=row.pop("has_queries"))
    answer = CachedAnswer.model_validate(row | {"confidence_label": label, "changed_since": []})
    cited = {int(number) for number in _CITED.findall(answer.answer)}
    changes = await _changes(database, answer.sources, hashes)
    changed = [
        ChangedRecord(**source.model_dump(include={"n", "type", "id", "title"}), change=changes[place])
        for place, source in enumerate(answer.sources)
        if place in changes and source.n in cited
    ]
    return answer.model_copy(update={"changed_since": changed})


async def is_revocable(database: Database, answer_id: str, owner: str) -> bool:
    """Whether there is such an answer, and it is the owner's."""
    row = await database.row(
        "select from answer_cache where id = %s and owner = %s and expires_at > now()", [answer_id, owner]
    )
    return row is not None


async def revoke_answer(database: Database, answer_id: str, owner: str) -> None:
    """Forget an answer, so that its link leads nowhere. Raises NotFound for what is no answer of the owner's."""
    if not await database.execute("delete from answer_cache where id = %s and owner = %s", [answer_id, owner]):
        raise NotFound("There is no such answer, or it is not yours.")


async def _changes(database: Database, sources: Sequence[Source], hashes: Sequence[str]) -> dict[int, Any]:
    """What became of sources since they had these hashes, by their place; an answer of old has none."""
    if not hashes or not sources:
        return {}
    types, ids = [each.type for each in sources], [each.id for each in sources]
    rows = await database.rows(_CHANGES, [types, ids, list(hashes), types, ids])
    return {row["place"] - 1: row["change"] for row in rows}


def _whole(source: Source) -> dict[str, Any]:
    """A source with its address, which does not go out."""
    return source.model_dump(mode="json", exclude_none=True) | ({"url": source.url} if source.url else {})
