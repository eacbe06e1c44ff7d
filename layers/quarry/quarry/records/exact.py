"""The exact result of a question without a model: the Query that it was read as, run within the filters that hold, in words, with
how it was read.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from quarry.agent.results import as_read, lines_of, with_list
from quarry.agent.service import answer_query
from quarry.platform.errors import FieldError, InvalidInput
from quarry.query.algebra import Query
from quarry.query.contract import QueryResult
from quarry.query.phrases import Phrases
from quarry.query.understanding import understood
from quarry.query.understood import DECIDING
from quarry.reader.reading import Reading
from quarry.records.by_rule import ByRule
from quarry.records.contract import UnderstoodEvent
from quarry.records.evidence import aggregation_of
from quarry.records.finding import SearchToolset
from quarry.records.scope import as_requested, required
from quarry.verification.levels import Exact


@dataclass(frozen=True)
class LikelyQuery:
    """A question as the Query that it likely is, within the filters that hold. It has not run yet. Without a `reading` it is the
    one that the request gives.
    """

    reading: Reading | None
    query: Query
    toolset: SearchToolset

    @property
    def is_sure(self) -> bool:
        """Whether such a reading is right often enough to be given before any passage is looked at."""
        return self.reading is None or self.reading.verdict == "confident"

    def is_likelier_than(self, chance: float) -> bool:
        """Whether its result rather answers than passages that do with this `chance`. Where the question names the records that
        are asked for, a number does, and rows do if nothing is left unread.
        """
        is_named, is_number = bool(self.toolset.read.named), not self.query.asks_for_rows
        if self.reading is None:
            return True
        return self.reading.chance > chance or (is_named and (is_number or not self.reading.unread))

    async def answer(self) -> ByRule | None:
        """The result in words; None where the Query cannot run, and where its reading is doubted and no row is like it.
        Raises InvalidInput for one that the request gives and that cannot run.
        """
        toolset, today = self.toolset, self.toolset.access.today
        with toolset.run.step("records_count"):
            try:
                result = await answer_query(self.query, toolset.access, toolset.services, today, keeps_places=True)
            except InvalidInput:
                if self.reading is None:
                    raise
                return None
        if not (self.is_sure or result.total):
            return None
        return self._in_words(result, today)

    def _in_words(self, result: QueryResult, today: datetime.date) -> ByRule:
        schema, unread = self.toolset.access.schema, [*self.reading.unread] if self.reading is not None else []
        phrases = Phrases(schema, schema.sources[self.query.source], today)
        read = understood(result.query, phrases, unread=unread, choices=DECIDING)
        lines = with_list(result.sentence, [*lines_of(result, phrases)])
        # an empty list, or a number that no row has, is seldom what was meant; zero is an answer to "how many"
        is_empty = (result.query.last.asks_for_rows and not result.total) or _lacks_number(result)
        counted = aggregation_of([result])
        return ByRule(
            ("\n".join(lines), f"\n\n{as_read(read.sentence, unread, phrases)}"),
            understood=UnderstoodEvent(**dict(read)),
            counted=counted.model_copy(update={"filters": self._filters()}) if counted is not None else None,
            basis=Exact.read(is_sure=self.is_sure and not is_empty, unread=unread) if self.reading else Exact("given"),
        )

    def _filters(self) -> dict[str, Any]:
        """The conditions as a request writes them. The query says the others."""
        name = self.toolset.access.homes[self.query.source][1]
        table = self.toolset.record_types.counted.get(name)
        conditions = (*self.toolset.scope.facets, *self.query.where)
        return {"types": [name], **(as_requested(conditions, table) if table is not None else {})}


def _lacks_number(result: QueryResult) -> bool:
    """Whether something was computed from no value, or there is nothing to compute it from."""
    query = result.query.last
    if query.asks_for_rows or all(each.fn in ("count", "count_distinct") for each in query.aggregate):
        return False
    return not result.total or (not query.group and any(None in row for row in result.rows))


def given_query(toolset: SearchToolset, query: Query) -> LikelyQuery:
    """The Query that a request gives, within the filters that hold. Raises InvalidInput for one that asks of no record type."""
    names = [name for name, (_, own) in toolset.access.homes.items() if own in toolset.record_types.counted]
    if query.source not in names:
        raise InvalidInput([FieldError("/understood/query/source", f"use one of {', '.join(names)}")])
    table = toolset.record_types.counted[toolset.access.homes[query.source][1]]
    required_conditions = required(toolset.scope, table, toolset.access.schema.sources[query.source])
    where = (*required_conditions, *(each for each in query.where if each not in required_conditions))
    return LikelyQuery(None, query.model_copy(update={"where": where}), toolset)


def likely_query(toolset: SearchToolset) -> LikelyQuery | None:
    """The Query that the question likely is; None where none is likely, or it cannot be asked within the filters."""
    reading, access = toolset.read.read, toolset.access
    if reading.query is None or reading.verdict == "refused" or not reading.best[0][0].mask:
        return None  # nothing of the question was read
    name = reading.query.source
    table = toolset.record_types.counted.get(access.homes[name][1])
    try:
        required_conditions = required(toolset.scope, table, access.schema.sources[name]) if table is not None else []
    except InvalidInput:
        return None
    # a filter that the question repeats is one condition
    where = (*required_conditions, *(each for each in reading.query.where if each not in required_conditions))
    return LikelyQuery(reading, reading.query.model_copy(update={"where": where}), toolset)
