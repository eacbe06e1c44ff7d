"""Runs a question's Query for numbers or groups over all companies, and puts the result into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quarry.agent.service import answer_query
from quarry.agent.sources import data_access
from quarry.companies.contract import Aggregation, Company
from quarry.companies.facets import COMPANIES
from quarry.companies.sources import PHRASES
from quarry.companies.store import companies_by_ids
from quarry.platform.errors import InvalidInput
from quarry.query.algebra import Column, Query
from quarry.query.contract import QueryResult
from quarry.query.describe import lines_of, reckoned, with_list
from quarry.services.services import Caller, Services

SHOWN_MAX = 10
"""How many of the counted companies are shown."""
LINES_MAX = 12


@dataclass(frozen=True)
class Counted:
    """The result of a query, and the first companies that it is about."""

    result: QueryResult
    companies: Sequence[Company] = ()

    @property
    def query(self) -> Query:
        return self.result.query


async def count(query: Query, caller: Caller, services: Services) -> Counted | None:
    """The result of a query over companies; None if it is invalid. Raises DatabaseUnavailable."""
    access = await data_access(caller, services)
    name = access.name_of(COMPANIES.name, COMPANIES.name)
    if name is None:
        return None
    today = access.today
    query = query.model_copy(update={"source": name})
    try:
        result = await answer_query(query, access, services, today, keeps_places=True)
        rows = result
        if not query.asks_for_rows:
            first = Query(source=name, where=result.query.where, limit=SHOWN_MAX)
            rows = await answer_query(first, access, services, today, keeps_places=True)
        elif query.select:
            keyed = result.query.model_copy(update={"select": (), "limit": query.limit or SHOWN_MAX})
            rows = await answer_query(keyed, access, services, today, keeps_places=True)
    except InvalidInput:
        return None
    ids = [str(row[0]) for row in rows.rows[:SHOWN_MAX]]
    return Counted(result, await companies_by_ids(services.reader, ids))


def counted_in_words(counted: Counted) -> str:
    """The answer: a sentence, then a line for each group or row."""
    result = counted.result
    return "\n".join(with_list(result.sentence, [*lines_of(result, PHRASES, LINES_MAX)]))


def value_in_words(counted: Counted, place: int) -> str:
    """The value that the query selects of the company at a place; empty for numbers and groups."""
    result = counted.result
    if not result.query.asks_for_rows or place >= len(result.rows) or len(result.columns) < 2:
        return ""
    column = result.columns[-1]
    shown = PHRASES.cell(Column(column.name, column.label, column.kind, column.unit), result.rows[place][-1])
    return f"{column.label} {shown}"


def aggregation_of(counted: Counted) -> Aggregation | None:
    """The same as values; None if the query asks for rows."""
    result, query = counted.result, counted.query
    if query.asks_for_rows:
        return None
    numbers = reckoned(result)
    in_groups = sum(each.count or 0 for each in numbers["groups"])
    is_count = [each.name for each in query.aggregate] == ["count"]
    # only counts add up to a remainder, which a company with several values would be in more than once
    everything = sum(int(str(row[-1])) for row in result.rows) if is_count and query.group else in_groups
    numbers["other"] = max(0, everything - in_groups)
    return Aggregation(**numbers, overlapping=everything > result.total, query=query, sentence=result.sentence)
