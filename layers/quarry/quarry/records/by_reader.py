"""Questions about declared collections, read as Queries: what they give is told as rows, groups or numbers."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quarry.agent.reading import read_over
from quarry.agent.service import answer_query
from quarry.agent.sources import Asked, what_may_be_asked
from quarry.platform.errors import InvalidInput
from quarry.query.algebra import Query
from quarry.query.contract import QueryResult, ResultColumn
from quarry.query.result import Cell
from quarry.reader.reading import Reading
from quarry.records.aggregation import aggregation_of
from quarry.records.facts import Facts
from quarry.records.retrieval import EVERYTHING
from quarry.records.searched_types import BUILT_IN
from quarry.records.tools import SearchToolset

LINES_MAX = 50
"""Rows, or groups, that an answer lists."""
UNREAD_MAX = 6


@dataclass(frozen=True)
class Read:
    """A question as the Query that it likely is, which has not run yet."""

    reading: Reading
    query: Query
    asked: Asked
    toolset: SearchToolset
    today: datetime.date

    @property
    def is_sure(self) -> bool:
        """Whether it is right so often that nothing needs to be doubted."""
        return self.reading.verdict == "confident"

    @property
    def has_unread(self) -> bool:
        """Whether words say something more."""
        return bool(self.reading.unread)

    async def facts(self) -> Facts | None:
        """What the Query gives; None where it cannot be asked. Raises DatabaseUnavailable, and SourceUnavailable where a table
        cannot be read.
        """
        with self.toolset.run.step("records_count"):
            try:
                result = await answer_query(self.query, self.asked, self.toolset.services, self.today)
            except InvalidInput:
                return None
        return _facts(self.reading, result)


async def read(question: str, earlier: str, toolset: SearchToolset) -> Read | None:
    """What a question asks of the declared collections, where it may go on from an `earlier` one; None where no Query is likely
    what it asks, and where others are searched too, or only some of their rows. Raises DatabaseUnavailable.
    """
    services = toolset.services
    own = [each.name for each in toolset.types if each.name not in BUILT_IN]
    if toolset.scope != EVERYTHING or not own or len(own) < len(toolset.types):
        return None
    asked = await what_may_be_asked(toolset.caller, services)
    names = _sources(toolset, asked)
    today = datetime.datetime.now(datetime.UTC).date()
    with toolset.run.step("records_read"):
        before = await read_over(earlier, names, asked, services, today) if earlier else None
        reading = await read_over(question, names, asked, services, today, before)
    if reading.query is None or reading.verdict == "refused":
        return None
    return Read(reading, reading.query, asked, toolset, today)


def _sources(toolset: SearchToolset, asked: Asked) -> list[str]:
    """The sources that may be asked: the collections that are searched, with all that are only counted where none is left out."""
    searched = {each.name for each in toolset.types}
    others = {*toolset.reading.types} - searched
    return [
        name
        for name, (domain, own) in asked.homes.items()
        if domain == "records"
        and own not in BUILT_IN
        and name in asked.schema.sources
        and (own in searched or not others)
    ]


def _facts(reading: Reading, result: QueryResult) -> Facts:
    """The result in words; where it is doubted, with what was not read."""
    is_doubted = reading.verdict == "doubted"
    doubt = _doubt(reading.unread) if is_doubted else ""
    lines = list(_lines(result))
    text = "\n".join([*([doubt, ""] if doubt else []), _heading(result, lines), *([""] if lines else []), *lines])
    return Facts(
        text,
        aggregation_of([result]),
        is_all=True,
        doubt=doubt,
        basis="" if is_doubted else f"counted on {result.total:,} {'row' if result.total == 1 else 'rows'}",
    )


def _doubt(unread: Sequence[str]) -> str:
    """That the answer may be to another question, and what was left unread."""
    if not unread:
        return "This may not answer the question."
    named = ", ".join(f"“{word}”" for word in unread[:UNREAD_MAX])
    return f"This may not answer the question: {named} was not read."


def _heading(result: QueryResult, lines: Sequence[str]) -> str:
    """The sentence; before a list it ends in a colon."""
    return f"{result.sentence.removesuffix('.')}:" if lines else result.sentence


def _lines(result: QueryResult) -> Iterator[str]:
    """One line for each row or group: what it is called, then what else is shown of it. A single number needs none."""
    names, query = result.columns, result.query
    if not query.asks_for_rows and not query.group:
        if len(names) > 1 and result.rows:
            numbers = ", ".join(_shown(cell, each) for cell, each in zip(result.rows[0], names, strict=True))
            yield f"- {query.source.replace('_', ' ')} – {', '.join(each.label for each in names)}: {numbers}"
        return
    for row in result.rows[:LINES_MAX]:
        cells = list(zip(row, names, strict=True))[_first(result) :]
        (first, column), *others = cells
        title = _shown(first, column)
        if not others:
            yield f"- {title}"
            continue
        labels = ", ".join(each.label for _, each in others)
        yield f"- {title} – {labels}: {', '.join(_shown(cell, each) for cell, each in others)}"
    if len(result.rows) > LINES_MAX or (result.truncated and query.limit is None):
        yield f"- … {result.total:,} in all"


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
