"""The result of a query as lines of an answer. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from quarry.language.writing import IN_ENGLISH
from quarry.query.algebra import Cell, Column, Query
from quarry.query.contract import QueryResult
from quarry.query.describe import GROUPS_NAMED_MAX
from quarry.query.phrases import Phrases

LINES_MAX = 50
"""Rows or groups that an answer lists."""


UNREAD_MAX = 6
"""Most unread words to name."""


def as_read(how: str, unread: Sequence[str], phrases: Phrases) -> str:
    """How a question was read, and which of its words no part of the query reads: always beside an exact result."""
    sentences = [phrases.say("read_as", what=how)]
    if unread:
        sentences.append(phrases.say("not_read", words=", ".join(unread[:UNREAD_MAX])))
    return " ".join(sentences)


def with_list(sentence: str, lines: Sequence[str]) -> list[str]:
    """The lines of a sentence and its Markdown list. A sentence before a list ends in a colon."""
    return [f"{sentence.removesuffix('.')}:", "", *lines] if lines else [sentence]


def lines_of(result: QueryResult, phrases: Phrases, most: int = LINES_MAX) -> Iterator[str]:
    """The first rows, values or groups of a result as a Markdown list: the name of each, then its other values. Nothing if the
    result's sentence already has the number, or all groups with theirs. Equal rows are one line with their number.
    """
    query = result.query.last
    columns = [Column(each.name, each.label, each.kind, each.unit, each.share) for each in result.columns]
    if not query.asks_for_rows and not query.group:
        if len(columns) > 1:
            for column, cell in zip(columns, result.rows[0], strict=True):
                yield _line(phrases.noun(), [_shown(column, cell, phrases)])
        return
    if query.group and query.aggregate and len(result.rows) <= GROUPS_NAMED_MAX:
        return
    if query.group:
        lines = [_group_line(query, columns, row, phrases) for row in result.rows]
    else:
        lines = [*dict.fromkeys(_row_lines(result, columns, phrases))]
    yield from islice(lines, most)
    if len(lines) > most or (result.truncated and query.limit is None):
        yield f"- and more, of {result.total:,} in all"


def _row_lines(result: QueryResult, columns: Sequence[Column], phrases: Phrases) -> Iterator[str]:
    """The name of each row, and its other values after their labels. Without a selection, the key comes first."""
    first = 0 if result.query.last.select else 1
    rows = [
        tuple(_shown(column, cell, phrases) for column, cell in zip(columns, row, strict=True))[first:]
        for row in result.rows
    ]
    times = Counter(rows)
    is_counted = len(times) < len(rows) and not result.truncated
    for ((_, title), *others), number in times.items():
        yield _line(title, [*others, (f"number of {phrases.noun()}", str(number))] if is_counted else others)


def _line(title: str, cells: Sequence[tuple[str, str]]) -> str:
    labels, values = ", ".join(label for label, _ in cells), ", ".join(value for _, value in cells)
    return f"- {title} – {labels}: {values}" if cells else f"- {title}"


def _shown(column: Column, cell: Cell, phrases: Phrases) -> tuple[str, str]:
    """The label and the value of a cell. Numbers have no separators, since commas stand between values."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return column.label, phrases.cell(column, cell)
    text = IN_ENGLISH.measured(cell).replace(",", "") if isinstance(cell, float) else str(cell)
    return column.label, f"{text} {column.unit}" if column.unit and isinstance(cell, int) else text


def _group_line(query: Query, columns: Sequence[Column], row: Sequence[Cell], phrases: Phrases) -> str:
    """The name of a group and its numbers: "January 2025: 4 motions"."""
    keys = [
        phrases.cell(column, cell, group.period) for column, cell, group in zip(columns, row, query.group, strict=False)
    ]
    numbers: list[str] = []
    for aggregate, column, cell in zip(query.aggregate, columns[len(keys) :], row[len(keys) :], strict=True):
        cells = phrases.cell(column, cell)
        if aggregate.name == "count" and not aggregate.where and isinstance(cell, int):
            cells = f"{cells} {phrases.noun(cell)}"
        elif len(query.aggregate) > 1:
            cells = f"{column.label} {cells}"
        numbers.append(cells)
    return f"- {' – '.join(keys)}{': ' if numbers else ''}{', '.join(numbers)}"
