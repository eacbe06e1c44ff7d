"""What is known of an answer without a model: what the question's Query gives, where that is likely what it asks, else
whether the records found answer it.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from quarry.agent.service import answer_query
from quarry.platform.errors import InvalidInput
from quarry.query.algebra import Cell, Query
from quarry.query.contract import QueryResult, ResultColumn
from quarry.reader.constraints import doubt as in_doubt
from quarry.reader.reading import Reading, comparisons
from quarry.records.aggregation import aggregation_of
from quarry.records.answerability import facts_of
from quarry.records.evidence import EvidenceSource
from quarry.records.facts import Facts
from quarry.records.filters import NEGATED, TO, required
from quarry.records.reading import bounds
from quarry.records.tools import Searched, SearchToolset

LINES_MAX = 50
"""Rows, or groups, that an answer lists."""


async def known_facts(query: str, first: Searched, toolset: SearchToolset) -> Facts:
    """What the question's Query gives where it is surely asked; else what the records found answer, behind a doubted result where
    that is likelier right. Raises DatabaseUnavailable, and SourceUnavailable where a table cannot be read.
    """
    read = _read(toolset)
    if read is not None and read.is_sure and (facts := await read.facts()) is not None:
        return facts
    passages = doubted(await facts_of(query, first, toolset), first.sources, toolset.reading.read.unread)
    if read is None or not read.is_likelier_than(passages) or (facts := await read.facts()) is None:
        return passages
    # words that were not read may be answered by what the records say
    is_all = not read.reading.unread or passages.is_all or not first.sources
    return replace(facts, is_all=is_all, authors=passages.authors, quotes=passages.quotes)


def doubted(passages: Facts, sources: Sequence[EvidenceSource], unread: Sequence[str]) -> Facts:
    """What these sources answer where no query was read for sure: in doubt, if all of them are rows of values. What such rows
    answer is what a query asks of them; prose may say what no query asks for.
    """
    is_prose = any(source.text.is_prose for source in sources)
    if passages.is_all or passages.doubt or is_prose or not sources:
        return passages
    return replace(passages, doubt=in_doubt(unread))


@dataclass(frozen=True)
class _Read:
    """A question as the Query that it likely is, within the filters that hold. It has not run yet."""

    reading: Reading
    query: Query
    toolset: SearchToolset

    @property
    def is_sure(self) -> bool:
        """Whether it is right so often that nothing needs to be doubted."""
        return self.reading.verdict == "confident"

    def is_likelier_than(self, passages: Facts) -> bool:
        """Whether its result rather answers than what records say. Of two doubtful answers, a number does where the question
        names the records that it counts.
        """
        is_asked_by_name = bool(self.toolset.reading.named) and not self.query.asks_for_rows
        return self.reading.chance > passages.chance or (bool(passages.doubt) and is_asked_by_name)

    async def facts(self) -> Facts | None:
        """What the Query gives; None where it cannot be asked, and where it is doubted and no row meets it."""
        toolset, today = self.toolset, datetime.datetime.now(datetime.UTC).date()
        with toolset.run.step("records_count"):
            try:
                result = await answer_query(self.query, toolset.reading.asked, toolset.services, today)
            except InvalidInput:
                return None
        if not (self.is_sure or result.total):
            return None
        # a list without rows is seldom what was asked for; that there are none is an answer to how many
        is_empty = result.query.asks_for_rows and not result.total
        facts = _facts(self.reading, result, is_doubted=is_empty or not self.is_sure)
        counted = facts.counted
        if counted is not None:
            facts = replace(facts, counted=counted.model_copy(update={"filters": self._filters()}))
        return facts

    def _filters(self) -> dict[str, Any]:
        """The conditions by the names that a request has for them; what no request can ask is left to the query."""
        name = self.toolset.reading.asked.homes[self.query.source][1]
        table = self.toolset.reading.types.counted.get(name)
        filters: dict[str, Any] = {"types": [name]}
        facets = {
            f"{NEGATED if clause[0].is_negated else ''}{clause[0].facet}": [
                value for each in clause for value in each.values or [""]
            ]
            for clause in self.toolset.scope.facets
            if len({each.facet for each in clause}) == 1 and all(each.range is None for each in clause)
        }
        where = [each.model_dump(mode="json", exclude_defaults=True) for each in self.query.where]
        for field, op, values, is_denied in comparisons([each for each in where if "any_of" not in each]):
            if table is None or field not in table.by_name:
                continue
            days = table.by_name[field].kind == "date" and field == table.date and not is_denied
            first, last = bounds(op, values)
            if days and (first or last):
                filters |= {key: str(day) for key, day in (("from", first), ("to", last)) if day is not None}
            elif op in ("=", "!="):
                facets[f"{NEGATED if is_denied else ''}{field}"] = [str(value) for value in values]
            elif first is not None or last is not None:
                said = f"{'' if first is None else first}{TO}{'' if last is None else last}"
                facets[f"{NEGATED if is_denied else ''}{field}"] = [said]
        return {**filters, "facets": facets} if facets else filters


def _read(toolset: SearchToolset) -> _Read | None:
    """The Query that the question likely is; None where none is likely, or it cannot be asked within the filters."""
    reading, asked = toolset.reading.read, toolset.reading.asked
    if reading.query is None or reading.verdict == "refused" or not reading.best[0][0].mask:
        return None  # nothing of the question was read
    name = reading.query.source
    table = toolset.reading.types.counted.get(asked.homes[name][1])
    try:
        given = required(toolset.scope, table, asked.schema.sources[name]) if table is not None else []
    except InvalidInput:
        return None
    # what is filtered by and said is one condition
    where = (*given, *(each for each in reading.query.where if each not in given))
    query = reading.query.model_copy(update={"where": where})
    return _Read(reading, query, toolset)


def _facts(reading: Reading, result: QueryResult, *, is_doubted: bool) -> Facts:
    """The result in words; where it is doubted, with what was not read."""
    doubt = in_doubt(reading.unread) if is_doubted else ""
    lines = list(lines_of(result))
    text = "\n".join([*([doubt, ""] if doubt else []), _heading(result, lines), *([""] if lines else []), *lines])
    return Facts(
        text,
        aggregation_of([result]),
        is_all=True,
        doubt=doubt,
        basis=f"counted on {result.total:,} {'row' if result.total == 1 else 'rows'}",
    )


def _heading(result: QueryResult, lines: Sequence[str]) -> str:
    """The sentence; before a list it ends in a colon."""
    return f"{result.sentence.removesuffix('.')}:" if lines else result.sentence


def lines_of(result: QueryResult) -> Iterator[str]:
    """One line for each row or group: what it is called, then what else is shown of it. Of several numbers each has its line; a
    single one needs none. Rows that show the same are one line, which says how many they are.
    """
    query = result.query
    rows = [
        tuple((column.label, _shown(cell, column)) for cell, column in zip(row, result.columns, strict=True))
        for row in result.rows
    ]
    if not query.asks_for_rows and not query.group:
        if len(result.columns) > 1:
            yield from (_line(query.source.replace("_", " "), [each]) for row in rows for each in row)
        return
    times = Counter(row[_first(result) :] for row in rows)
    is_counted = query.asks_for_rows and len(times) < len(rows) and not result.truncated
    for ((_, title), *others), number in islice(times.items(), LINES_MAX):
        yield _line(title, [*others, ("rows", str(number))] if is_counted else others)
    if len(times) > LINES_MAX or (result.truncated and query.limit is None):
        yield f"- … {result.total:,} in all"


def _line(title: str, said: Sequence[tuple[str, str]]) -> str:
    """What something is called, and what is said of it, by labels."""
    labels, values = ", ".join(label for label, _ in said), ", ".join(value for _, value in said)
    return f"- {title} – {labels}: {values}" if said else f"- {title}"


def _first(result: QueryResult) -> int:
    """The first column that people read: not the key, where nothing was selected."""
    return 0 if result.query.select or result.query.group else 1


def _shown(cell: Cell, column: ResultColumn) -> str:
    """A value in words."""
    if isinstance(cell, list):
        return ", ".join(_shown(each, column) for each in cell)
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if cell is None:
        return "none"
    if isinstance(cell, float):
        return f"{cell:.2f}".rstrip("0").rstrip(".")
    unit = f" {column.unit}" if column.unit and isinstance(cell, int) else ""
    return f"{cell}{unit}"
