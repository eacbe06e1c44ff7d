"""Queries about any source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quarry.client.calls import route
from quarry.client.wire import Sent
from quarry.query.algebra import Query
from quarry.query.contract import Explanation, ExplanationRequest, QueryResult


class QueryRoutes:
    @route("POST /query", QueryResult)
    def query(self, query: Query | Mapping[str, Any]) -> Sent:
        """The exact result of one Query, as a value or as JSON has it: rows, numbers or groups of any source."""
        return Sent(body=query if isinstance(query, Query) else Query.model_validate(query))

    @route("POST /query/explain", Explanation)
    def explain(
        self, question: str, *, sources: Sequence[str] = (), domain: str | None = None, after: str | None = None
    ) -> Sent:
        """How a question is read without a chat model, over these sources or those of a domain. No query is run."""
        return Sent(body=ExplanationRequest(question=question, sources=[*sources], domain=domain, after=after))
