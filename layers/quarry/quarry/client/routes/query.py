"""Queries about any source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quarry.client.calls import route
from quarry.client.wire import Sent
from quarry.query.algebra import Query
from quarry.query.contract import QueryResult


class QueryRoutes:
    @route("POST /query", QueryResult)
    def query(self, query: Query | Mapping[str, Any]) -> Sent:
        """The exact result of one Query, as a value or as JSON has it: rows, numbers or groups of any source."""
        return Sent(body=query if isinstance(query, Query) else Query.model_validate(query))
