"""Sends the events of an answer with its check, and stores it for a while under an unguessable id.

A caller who asks the same question again gets the stored answer while its basis is unchanged: the first search finds the same
texts, the sources are what they were, and the queries give the same results. Shared answers are opened and revoked here too,
which needs neither a user nor a model, and imports none of the search.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import logging
import re
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

import quarry
from quarry.language.messages import gettext, gettext_noop, language
from quarry.platform.errors import NotFound
from quarry.platform.tables import KEEP
from quarry.platform.text import Identifier
from quarry.postgres.connections import UNREADABLE
from quarry.postgres.pool import Database
from quarry.query.contract import QueryResult
from quarry.records.contract import (
    AggregationEvent,
    AnswerChunkEvent,
    AskRequest,
    CachedAnswer,
    ChangedRecord,
    Citation,
    CitationsEvent,
    ConfidenceEvent,
    DoneEvent,
    FollowupsEvent,
    OwnAnswer,
    RecordKey,
    ShareRequest,
    Source,
    SourcesEvent,
    UnderstoodEvent,
)
from quarry.runs.run_log import ResultRecord
from quarry.schema.algebra import Query
from quarry.streaming.events import Event
from quarry.verification.wire import SourceText, Trust, checked_statements
from quarry.web.admission import unmetered
from quarry.web.problems import documented
from quarry.web.requests import PlainCaller, ServicesDependency

if TYPE_CHECKING:
    # opening a shared answer imports none of the search
    from quarry.records.answer import RecordsInquiry
    from quarry.records.finding import Searched, SearchToolset
    from quarry.records.retrieval import EvidenceSource
    from quarry.verification.check import Exact, Passages, Verification

logger = logging.getLogger(__name__)

ID_BYTES = 16
_CHANGES = """
select s.place, case when h.hash is null then 'gone' else 'changed' end as change
from unnest(%s::text[], %s::text[], %s::text[]) with ordinality s (type, id, hash, place)
left join record_hashes(%s::text[], %s::text[]) h on h.type = s.type and h.id = s.id
where h.hash is distinct from s.hash
"""
_STORE = """
insert into answer_cache (id, query, answer, sources, suggested_followups, source_count, confidence,
    expires_at, owner, question_key, found_key, citations, unsupported, queries, statements, confidence_label,
    shared, record_hashes)
  select %s, %s, %s, %s::jsonb, %s, %s, %s, now() + make_interval(days => %s), %s, %s, %s, %s::jsonb, %s, %s::jsonb,
    %s::jsonb, %s, %s,
    array(select case when s.has_changed then '' else coalesce(h.hash, '') end
      from unnest(%s::text[], %s::text[], %s::bool[]) with ordinality s (type, id, has_changed, place)
      left join record_hashes(%s::text[], %s::text[]) h on h.type = s.type and h.id = s.id order by s.place)
  where not exists (select from unnest(%s::text[], %s::text[]) s (type, id) where was_forgotten(s.type, s.id))
"""


class Keys(NamedTuple):
    """Identifies a stored answer: `question` by who asked what and how, `basis` by what the first search found."""

    question: str
    basis: str


class QueryDigest(NamedTuple):
    """A query that an answer rests on, and a digest of what it gave."""

    query: Query
    result: str

    @classmethod
    def of(cls, result: QueryResult) -> QueryDigest:
        """The query of a result, with a digest of its rows."""
        return cls(
            result.query, digest(result.columns and [each.name for each in result.columns], result.rows, result.total)
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query.model_dump(mode="json", by_alias=True, exclude_defaults=True),
            "result": self.result,
        }


class FinishedAnswer(NamedTuple):
    """An answer as it was given, and the queries that it rests on."""

    answer: str
    sources: Sequence[Source]
    followups: Sequence[str]
    trust: Trust | None
    checked: CitationsEvent
    queries: Sequence[QueryDigest] = ()
    shared: bool = True
    """Whether whoever has its link may open it."""


class StoredAnswer(NamedTuple):
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
    shared: bool = True,
) -> str | None:
    """Store a finished answer and return its id; None where something that it quotes was forgotten meanwhile. Readers of the
    answer learn which records have `changed` since. Without `keys` it answers no other question.
    """
    answer_id = secrets.token_urlsafe(ID_BYTES)
    types, ids = [each.type for each in finished.sources], [each.id for each in finished.sources]
    async with database.transaction() as connection:
        await connection.execute(KEEP)
        stored = await connection.execute(
            _STORE,
            [
                answer_id,
                query,
                finished.answer,
                json.dumps([_whole(source) for source in finished.sources]),
                list(finished.followups),
                len({each.n for each in finished.checked.citations}),
                finished.trust and finished.trust.level,
                lifetime_days,
                owner,
                keys and keys.question,
                keys and keys.basis,
                json.dumps([each.model_dump(mode="json", exclude_none=True) for each in finished.checked.citations]),
                list(finished.checked.unsupported),
                json.dumps([each.to_json() for each in finished.queries]),
                json.dumps([each.model_dump(mode="json", exclude_none=True) for each in finished.checked.statements]),
                finished.trust and finished.trust.label,
                shared,
                types,
                ids,
                [(each.type, each.id) in changed for each in finished.sources],
                *(types, ids) * 2,
            ],
        )
    return answer_id if stored.rowcount else None


async def find_answer(database: Database, keys: Keys) -> StoredAnswer | None:
    """The latest answer to the same question whose basis is unchanged; None where there is none."""
    row = await database.row(
        """select id, answer, sources, suggested_followups as followups, confidence, confidence_label, citations, unsupported,
             statements, queries, shared, record_hashes
           from answer_cache where question_key = %s and found_key = %s and expires_at > now()
           order by created_at desc limit 1""",
        [keys.question, keys.basis],
    )
    if row is None:
        return None
    id, hashes = row.pop("id"), row.pop("record_hashes")
    sources = [Source.model_validate(source) for source in row.pop("sources")]
    names = ("citations", "unsupported", "statements")
    checked = CitationsEvent.model_validate({"type": "citations", **{name: row.pop(name) for name in names}})
    level, label = row.pop("confidence"), row.pop("confidence_label")
    trust = Trust(level, label or "") if level else None
    queries = [QueryDigest(Query.model_validate(each["query"]), each["result"]) for each in row.pop("queries")]
    if await changes_of(database, sources, hashes):
        return None
    return StoredAnswer(id, FinishedAnswer(sources=sources, trust=trust, checked=checked, queries=queries, **row))


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
class RuleAnswer:
    """An answer in `pieces` of Markdown, and the sources that it shows. An exact result says how the question was `understood`
    and has its numbers as `aggregation`; passages do not. `basis` is what the answer rests on. `is_found` is false where no
    record is near.
    """

    pieces: Sequence[str]
    basis: Exact | Passages
    sources: Sequence[EvidenceSource] = ()
    understood: UnderstoodEvent | None = None
    aggregation: AggregationEvent | None = None
    is_found: bool = True

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(self.pieces)

    @property
    def own(self) -> Sequence[str]:
        """The pieces that state nothing of a source."""
        return () if self.is_found and self.understood is None else self.pieces

    @property
    def identity(self) -> Sequence[Any]:
        """What identifies the answer beside the texts that were found, as JSON."""
        return [self.text, self.aggregation.to_json() if self.aggregation is not None else None]


class AnswerContext(NamedTuple):
    """An answer whose first search is done. `rule_answer` is the answer without a model; None where a model leads."""

    inquiry: RecordsInquiry
    toolset: SearchToolset
    first: Searched
    rule_answer: RuleAnswer | None

    @property
    def missing(self) -> str:
        """A sentence that names the collections that could not be searched; else empty."""
        names = ", ".join(self.inquiry.left_out)
        text = gettext("Not searched, because it cannot be read at the moment: {names}.", names=names)
        return f"\n\n{text}" if names else ""

    def keys(self, *also: Any) -> Keys:
        """The keys of the answer: everything that it is made from, `also` included."""
        texts, request = self.toolset.pool.values(), self.inquiry.request
        return Keys(
            digest(
                self.toolset.caller.user_id,
                # only the claims that decide which rows are visible: others, such as a token's time, differ with each sign-in
                self.toolset.record_types.settings(self.toolset.caller.claims),
                _request_key(request),
                [turn.model_dump() for turn in request.recent_history],
                self.toolset.services.chat.name if self.toolset.services.chat else None,
                self.toolset.services.embeddings.name,
                quarry.__version__,
                language(),
            ),
            digest([(text.type, text.id, text.title, text.body, text.date) for text in texts], *also),
        )

    async def stored_answer(self, keys: Keys) -> StoredAnswer | None:
        """A stored answer to the same question over the same records; None also where the look-up fails."""
        if self.inquiry.request.fresh or self.inquiry.left_out:
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
                query=self.inquiry.request.question,
                owner=self.toolset.caller.user_id,
                finished=finished,
                keys=keys,
                changed=await self.toolset.changed(finished.sources),
                lifetime_days=self.toolset.services.settings.answer_lifetime_days,
                shared=self._is_shared,
            )
        except UNREADABLE:
            logger.warning("an answer could not be stored")
            return None

    def sources_event(self, evidence: Sequence[EvidenceSource]) -> SourcesEvent:
        """The event with the sources, which the run log gets with their weights."""
        self.toolset.run.results = [ResultRecord(*each.text.key, each.weight) for each in evidence]
        return SourcesEvent(sources=[each.to_source() for each in evidence])

    def stored_events(
        self, stored: StoredAnswer, aggregation: AggregationEvent | None, understood: UnderstoodEvent | None = None
    ) -> Iterator[Event]:
        """The events of a stored answer, with how it was read, and the numbers that it rests on."""
        answer, run = stored.finished, self.toolset.run
        run.end_reason, run.answer_id = "kept_answer", stored.id
        run.results = [ResultRecord(each.type, each.id, each.similarity or 0.0) for each in answer.sources]
        if understood is not None:
            yield understood
        yield SourcesEvent(sources=[*answer.sources])
        if aggregation is not None:
            yield aggregation
        yield AnswerChunkEvent(chunk=answer.answer)
        yield answer.checked
        yield from confidence_event(answer.trust, answer.checked.citations)
        yield FollowupsEvent(questions=[*answer.followups])
        yield self._done(stored.id, [], shared=answer.shared, cached=True)

    async def ending(
        self,
        answer: str,
        evidence: Sequence[EvidenceSource],
        checked: CitationsEvent,
        trust: Trust | None,
        followups: Callable[[], Awaitable[list[str]]] | None,
        keys: Keys,
        queries: Sequence[QueryDigest] = (),
        *,
        is_found: bool,
    ) -> AsyncGenerator[Event]:
        """The events after the text of a new answer, which is then stored."""
        yield checked
        for event in confidence_event(trust, checked.citations):
            yield event
        questions = await followups() if followups is not None else []
        yield FollowupsEvent(questions=questions)
        sources, run = [each.to_source() for each in evidence], self.toolset.run
        finished = FinishedAnswer(answer, sources, questions, trust, checked, queries)
        run.answer_id = await self._keep(finished, None if run.degraded else keys)
        run.end_reason = "answered" if is_found else "nothing_found"
        yield self._done(run.answer_id, run.degraded, shared=self._is_shared)

    @property
    def _is_shared(self) -> bool:
        return self.toolset.services.settings.shared_answers == "link"

    def _done(self, answer_id: str | None, degraded: list[str], *, shared: bool, cached: bool = False) -> DoneEvent:
        return DoneEvent(
            answer_id=answer_id,
            cached=cached,
            topic_changed=self.inquiry.conversation.topic_changed,
            degraded=degraded,
            applied=self.inquiry.applied,
            shared=shared,
        )


def _request_key(request: AskRequest) -> dict[str, Any]:
    """The request, the same for any order of types and values."""
    fields = request.model_dump(mode="json", exclude={"fresh", "history"})
    facets = {name: sorted({*values}) for name, values in request.filters.facets.items()}
    return fields | {"types": sorted({*request.types}), "filters": fields["filters"] | {"facets": facets}}


def source_texts(evidence: Iterable[EvidenceSource]) -> list[SourceText]:
    """The sources as the check reads them."""
    return [
        SourceText(
            each.n, each.text.title, each.text.body, each.text.topic or "", each.text.author or "", each.text.date
        )
        for each in evidence
    ]


def citations_event(verification: Verification) -> CitationsEvent:
    """What the check found, citation by citation and statement by statement."""
    return CitationsEvent(
        citations=[
            Citation(
                n=each.n,
                sentence=each.sentence,
                quote=each.quote or None,
                start=each.start if each.quote else None,
                end=each.end if each.quote else None,
                support=each.support,
                verified=each.verified,
            )
            for each in verification.citations
        ],
        unsupported=[each.text for each in verification.of("flagged")],
        statements=checked_statements(verification),
    )


def confidence_event(trust: Trust | None, citations: Sequence[Citation]) -> list[ConfidenceEvent]:
    """The event with the level of an answer; none for one that claims nothing."""
    count = len({citation.n for citation in citations})
    return [ConfidenceEvent(level=trust.level, source_count=count, label=trust.label)] if trust is not None else []


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
