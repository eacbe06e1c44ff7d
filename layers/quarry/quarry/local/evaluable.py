"""The domains that `quarry eval` can evaluate: how each is asked, and what it found by the names that a judgement uses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from quarry.core.services import Caller, Services
from quarry.local.judged import JudgedQuery

EVALUATING_USER = "eval"
"""Who asks: nobody else is charged, limited or found in the run log."""


@dataclass(frozen=True)
class Found:
    """What a search found: keys, best first. `degraded` names the steps that less than was asked for served."""

    keys: Sequence[str]
    degraded: Sequence[str] = ()


@dataclass(frozen=True)
class Evaluable:
    """How a domain answers a judged query. `prepare` runs once before the first, to give the caller what a search takes."""

    find: Callable[[JudgedQuery, Caller, Services], Awaitable[Found]]
    prepare: Callable[[Caller, Services], Awaitable[None]] | None = None


def _records() -> Evaluable:
    from quarry.records.contract import SearchRequest
    from quarry.records.search import search_records

    async def find(query: JudgedQuery, caller: Caller, services: Services) -> Found:
        response = await search_records(SearchRequest(q=query.query), caller, services)
        return Found([f"{result.type}:{result.id}" for result in response.results], response.degraded)

    return Evaluable(find)


EVALUABLE: dict[str, Callable[[], Evaluable]] = {"records": _records}
"""Each imports its domain when it is called."""
