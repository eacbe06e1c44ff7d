"""Sending an answer's events, rating how far it can be trusted, and keeping it for a while under an unguessable id.

A caller who asks the same question again gets the kept answer while its basis is unchanged: the first search finds the same
texts, the sources are what they were, and the queries give the same results.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

import quarry
from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.tables import KEEP
from quarry.postgres.failures import UNREADABLE
from quarry.postgres.pool import Database
from quarry.query.algebra import Query
from quarry.query.contract import QueryResult
from quarry.records.contract import (
    AggregationEvent,
    AnswerChunkEvent,
    AskRequest,
    Citation,
    CitationsEvent,
    ConfidenceEvent,
    ConfidenceLevel,
    DoneEvent,
    FollowupsEvent,
    RecordKey,
    Source,
    SourcesEvent,
)
from quarry.runs.run_log import ResultRecord
from quarry.services.services import Caller
from quarry.streaming.events import Event

if TYPE_CHECKING:
    # opening a shared answer imports none of the search
    from quarry.records.evidence import EvidenceSource
    from quarry.records.extraction import Facts
    from quarry.records.finding import Searched, SearchToolset
    from quarry.records.scope import Asked
    from quarry.records.support import Support

logger = logging.getLogger(__name__)

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
) -> ConfidenceEvent:
    """How far an answer can be trusted by the sources that it cites. `likely` is the level of an answer made of the sources' own
    sentences, by its probability.

    Without one, high is six sources or more with a mean similarity above the upper bound for the embedding `model`, and low is
    two or fewer, or a mean below the lower bound. The mean is over the sources that have a similarity; where none has, the count
    alone decides between low and medium. A number that was counted exactly is high by its `basis`; medium, where more is said
    that nothing supports (`is_partial`). What may not answer the question (`is_doubtful`) is low.
    """
    level: ConfidenceLevel = "medium"
    count = len(sources)
    if basis:
        level = "low" if is_doubtful else "medium" if is_partial else "high"
        return ConfidenceEvent(level=level, source_count=count, label=_label(level, basis))
    similarities = [source.similarity for source in sources if source.similarity is not None]
    mean = fsum(similarities) / len(similarities) if similarities else None
    lower, upper = SIMILARITY_BOUNDS.get(model, OTHER_BOUNDS)
    if likely is not None and count and not is_doubtful:
        level = likely
    elif is_doubtful or count <= LOW_SOURCES_MAX or (mean is not None and mean < lower):
        level = "low"
    elif count >= HIGH_SOURCES_MIN and mean is not None and mean > upper:
        level = "high"
    return ConfidenceEvent(level=level, source_count=count, label=_label(level, _based_on(count)))


def cited_of(sources: Sequence[Source], citations: Sequence[Citation]) -> list[Source]:
    """The sources that an answer with these citations cites."""
    numbers = {citation.n for citation in citations}
    return [source for source in sources if source.n in numbers]


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
_CHANGES = """
select s.place, case when h.hash is null then 'gone' else 'changed' end as change
from unnest(%s::text[], %s::text[], %s::text[]) with ordinality s (type, id, hash, place)
left join record_hashes(%s::text[], %s::text[]) h on h.type = s.type and h.id = s.id
where h.hash is distinct from s.hash
"""


@dataclass(frozen=True)
class Keys:
    """Identifies a kept answer: `question` by who asked what and how, `found` by what the first search found."""

    question: str
    found: str


@dataclass(frozen=True)
class AskedQuery:
    """A query that an answer rests on, and a digest of what it gave."""

    query: Query
    result: str

    @classmethod
    def of(cls, result: QueryResult) -> AskedQuery:
        """The query of a result, with a digest of its rows."""
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
    """One key for several JSON values."""
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
    """The latest answer to the same question whose basis is unchanged; None where there is none."""
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
    if await changes_of(database, sources, hashes):
        return None
    return KeptAnswer(id, FinishedAnswer(sources=sources, citations=citations, queries=queries, **row))


async def changes_of(database: Database, sources: Sequence[Source], hashes: Sequence[str]) -> dict[int, Any]:
    """Which sources changed or went since they had these hashes, by place. Old answers have no hashes."""
    if not hashes or not sources:
        return {}
    types, ids = [each.type for each in sources], [each.id for each in sources]
    rows = await database.rows(_CHANGES, [types, ids, list(hashes), types, ids])
    return {row["place"] - 1: row["change"] for row in rows}


def _whole(source: Source) -> dict[str, Any]:
    """A source with its URL, which clients do not get."""
    return source.model_dump(mode="json", exclude_none=True) | ({"url": source.url} if source.url else {})


@dataclass(frozen=True)
class Begun:
    """An answer whose first search is done. `facts` are what is known without a model; None where a model leads."""

    asked: Asked
    caller: Caller
    toolset: SearchToolset
    first: Searched
    facts: Facts | None

    @property
    def missing(self) -> str:
        """A sentence that names the collections that could not be searched; else empty."""
        names = ", ".join(self.asked.left_out)
        return f"\n\nNot searched, because it cannot be read at the moment: {names}." if names else ""

    def keys(self, *known: Any) -> Keys:
        """The keys of the answer: everything that it is made from, `known` included."""
        found, request = self.toolset.pool.values(), self.asked.request
        return Keys(
            digest(
                self.caller.user_id,
                # only the claims that decide which rows are visible: others, such as a token's time, differ with each sign-in
                self.toolset.record_types.settings(self.caller.claims),
                _asked(request),
                [turn.model_dump() for turn in request.recent_history],
                self.toolset.services.chat.name if self.toolset.services.chat else None,
                self.toolset.services.embeddings.name,
                quarry.__version__,
            ),
            digest([(text.type, text.id, text.title, text.body, text.date) for text in found], *known),
        )

    async def kept(self, keys: Keys) -> KeptAnswer | None:
        """A kept answer to the same question over the same records; None also where the look-up fails."""
        if self.asked.request.fresh or self.asked.left_out:
            return None
        try:
            return await find_answer(self.toolset.services.database, keys)
        except UNREADABLE:
            return None

    async def _keep(self, finished: FinishedAnswer, keys: Keys | None) -> str | None:
        """Store the answer; its id, or None where that failed: the reader has the answer anyway."""
        try:
            return await store_answer(
                self.toolset.services.database,
                query=self.asked.conversation.question,
                owner=self.caller.user_id,
                finished=finished,
                keys=keys,
                changed=await self.toolset.changed(finished.sources),
                lifetime_days=self.toolset.services.settings.answer_lifetime_days,
            )
        except UNREADABLE:
            logger.warning("an answer could not be stored")
            return None

    def sent(self, evidence: Sequence[EvidenceSource]) -> SourcesEvent:
        """The event with the sources, which the run log gets with their weights."""
        self.toolset.run.results = [ResultRecord(*each.text.key, each.weight) for each in evidence]
        return SourcesEvent(sources=[each.to_source() for each in evidence])

    def given_again(
        self, kept: KeptAnswer, counted: AggregationEvent | None, trust: ConfidenceEvent
    ) -> Iterator[Event]:
        """The events of a kept answer, with the numbers that it rests on."""
        given, run = kept.finished, self.toolset.run
        run.end_reason, run.answer_id = "kept_answer", kept.id
        run.results = [ResultRecord(each.type, each.id, each.similarity or 0.0) for each in given.sources]
        yield SourcesEvent(sources=[*given.sources])
        if counted is not None:
            yield counted
        yield AnswerChunkEvent(chunk=given.answer)
        yield CitationsEvent(citations=[*given.citations], unsupported=[*given.unsupported])
        yield trust
        yield FollowupsEvent(questions=[*given.followups])
        yield self._done(kept.id, [], cached=True)

    async def ending(
        self,
        answer: str,
        evidence: Sequence[EvidenceSource],
        supported: Support,
        trust: ConfidenceEvent,
        followups: Callable[[], Awaitable[list[str]]],
        keys: Keys,
        queries: Sequence[AskedQuery] = (),
    ) -> AsyncGenerator[Event]:
        """The events after the text of a new answer, which is then kept."""
        yield CitationsEvent(citations=[*supported.citations], unsupported=[*supported.unsupported])
        yield trust
        asked = await followups()
        yield FollowupsEvent(questions=asked)
        sources, run = [each.to_source() for each in evidence], self.toolset.run
        citations, unsupported = supported.citations, supported.unsupported
        finished = FinishedAnswer(answer, sources, asked, trust.level, citations, unsupported, queries)
        run.answer_id = await self._keep(finished, None if run.degraded else keys)
        run.end_reason = "answered" if sources or queries else "nothing_found"
        yield self._done(run.answer_id, run.degraded)

    def _done(self, answer_id: str | None, degraded: list[str], *, cached: bool = False) -> DoneEvent:
        return DoneEvent(
            answer_id=answer_id,
            cached=cached,
            topic_changed=self.asked.conversation.topic_changed,
            degraded=degraded,
            applied=self.asked.told,
        )


def _asked(request: AskRequest) -> dict[str, Any]:
    """The request, the same for any order of types and values."""
    asked = request.model_dump(mode="json", exclude={"fresh", "history"})
    facets = {name: sorted({*values}) for name, values in request.filters.facets.items()}
    return asked | {"types": sorted({*request.types}), "filters": asked["filters"] | {"facets": facets}}
