"""An answer whose first search is done, and what every way of answering needs: keeping answers, and finding kept ones."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import quarry
from quarry.postgres.failures import UNREADABLE
from quarry.records.answer_cache import FinishedAnswer, KeptAnswer, Keys, digest, find_answer, store_answer
from quarry.records.candidates import RecordKey
from quarry.records.contract import Applied, AskRequest, DoneEvent, RecordType, Source
from quarry.records.conversation import Conversation
from quarry.records.facts import Facts
from quarry.records.reading import RecordsReading
from quarry.records.record_texts import describe
from quarry.records.retrieval import Scope
from quarry.records.searched_types import RecordTypes
from quarry.records.tools import Searched, SearchToolset
from quarry.runs.run_log import ResultRecord, Run
from quarry.services.services import Caller, Services

BROKEN_OFF = "\n\n*The answer broke off here. From the sources themselves:*\n\n"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asked:
    """What is asked of the types that can be read: the request with the filters in force, the question in its conversation, and
    `told`, the types and filters that hold, in words.
    """

    types: RecordTypes
    request: AskRequest
    conversation: Conversation
    reading: RecordsReading
    scope: Scope
    told: Applied | None

    @property
    def left_out(self) -> list[RecordType]:
        """The collections that it asks for too, and that cannot be read."""
        return self.types.left_out(self.request.types)


@dataclass(frozen=True)
class Begun:
    """An answer whose first search is done. `facts` are what is known for sure without a model, where none leads."""

    asked: Asked
    caller: Caller
    toolset: SearchToolset
    first: Searched
    facts: Facts | None

    @property
    def conversation(self) -> Conversation:
        return self.asked.conversation

    @property
    def told(self) -> Applied | None:
        return self.asked.told

    @property
    def run(self) -> Run:
        return self.toolset.run

    @property
    def services(self) -> Services:
        return self.toolset.services

    @property
    def missing(self) -> str:
        """A sentence that names the collections that could not be searched; else empty."""
        names = ", ".join(self.asked.left_out)
        return f"\n\nNot searched, because it cannot be read at the moment: {names}." if names else ""

    def keys(self, *known: Any) -> Keys:
        """What the answer is kept by: all that it is made from before it is written, `known` included."""
        found, request = self.toolset.pool.values(), self.asked.request
        return Keys(
            digest(
                self.caller.user_id,
                # only the claims that decide which rows are found: others, such as a token's time, differ with each sign-in
                self.toolset.reading.types.settings(self.caller.claims),
                _asked(request),
                [turn.model_dump() for turn in request.recent_history],
                self.services.chat.name if self.services.chat else None,
                self.services.embeddings.name,
                quarry.__version__,
            ),
            digest([(text.type, text.id, text.title, text.body, text.date) for text in found], *known),
        )

    async def kept(self, keys: Keys) -> KeptAnswer | None:
        """A kept answer to the same question over the same records; none where that cannot be looked up."""
        if self.asked.request.fresh or self.asked.left_out:
            return None
        try:
            return await find_answer(self.services.database, keys)
        except UNREADABLE:
            return None

    async def keep(self, finished: FinishedAnswer, keys: Keys | None) -> str | None:
        """The id under which the answer was stored; None when it could not be: the reader has it all the same."""
        try:
            return await store_answer(
                self.services.database,
                query=self.conversation.question,
                owner=self.caller.user_id,
                finished=finished,
                keys=keys,
                changed=await self._changed_since_read(finished.sources),
                lifetime_days=self.services.settings.answer_lifetime_days,
            )
        except UNREADABLE:
            logger.warning("an answer could not be stored")
            return None

    async def _changed_since_read(self, sources: Sequence[Source]) -> set[RecordKey]:
        """Those of the sources that say something else by now, or did when a replica that was behind was read."""
        keys = {(each.type, each.id) for each in sources}
        texts = [source.text for source in self.toolset.evidence.sources if source.text.key in keys]
        texts_now = await describe(self.services.database, [text.key for text in texts], self.toolset.reading.types, "")
        now = {text.key: replace(text, snippet="") for text in texts_now}
        return {text.key for text in texts if now.get(text.key) != replace(text, snippet="")}

    def note_results(self, sources: Iterable[tuple[Source, float]]) -> None:
        """Note the sources in the run log, each with its weight."""
        self.run.results = [ResultRecord(source.type, source.id, weight) for source, weight in sources]

    def done(self, answer_id: str | None, degraded: list[str], *, cached: bool = False) -> DoneEvent:
        return DoneEvent(
            answer_id=answer_id,
            cached=cached,
            topic_changed=self.conversation.topic_changed,
            degraded=degraded,
            applied=self.told,
        )


def _asked(request: AskRequest) -> dict[str, Any]:
    """What is asked, whatever the order in which types and values are named: any of them is meant."""
    asked = request.model_dump(mode="json", exclude={"fresh", "history"})
    facets = {name: sorted({*values}) for name, values in request.filters.facets.items()}
    return asked | {"types": sorted({*request.types}), "filters": asked["filters"] | {"facets": facets}}
