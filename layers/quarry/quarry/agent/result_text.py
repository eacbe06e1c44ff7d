"""The result of a query in the forms in which an answer may write it. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from quarry.query.contract import QueryResult
from quarry.query.phrases import Phrases
from quarry.query.result import Cell, Column
from quarry.spans.quantities import in_other_units


def result_text(result: QueryResult) -> str:
    """What a result says, with its values as an answer may write them: numbers rounded, in other units, and parts of one as
    percentages; dates in words; and how many rows it has.
    """
    units = [each.unit or "" for each in result.columns]
    forms = [form for row in result.rows for cell, unit in zip(row, units, strict=True) for form in _forms(cell, unit)]
    labels = [each.label for each in result.columns]
    return "\n".join([result.sentence, f"{result.total} {len(result.rows)}", *labels, " ".join(forms)])


def lines_of(result: QueryResult, phrases: Phrases, most: int) -> Iterator[str]:
    """The first rows or groups of a result as a Markdown list: what each is, and its numbers in brackets."""
    periods = [each.period for each in result.query.group]
    columns = [Column(each.name, each.label, each.kind, each.unit) for each in result.columns]
    for row in result.rows[:most]:
        cells = [
            phrases.cell(column, cell, periods[place] if place < len(periods) else None)
            for place, (column, cell) in enumerate(zip(columns, row, strict=True))
        ]
        names, numbers = cells[: len(periods) or None], cells[len(periods) :] if periods else []
        said = f" ({', '.join(numbers)})" if numbers else ""
        yield f"- {' – '.join(names)}{said}"
    if len(result.rows) > most or result.truncated:
        yield f"- and more, of {result.total:,} in all"


def _forms(cell: Cell, unit: str) -> list[str]:
    if isinstance(cell, list):
        return [form for each in cell for form in _forms(each, unit)]
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return [] if cell is None else [str(cell), *_in_words(str(cell))]
    rounded = [f"{cell:.{digits}f}" for digits in range(4)] if isinstance(cell, float) else []
    shares = [f"{cell * 100:.{digits}f}%" for digits in range(2)] if isinstance(cell, float) and 0 <= cell <= 1 else []
    converted = [f"{other:.{digits}f}" for other in in_other_units(cell, unit) for digits in range(3)]
    return list(dict.fromkeys([str(cell), *rounded, *shares, *converted]))


def _in_words(text: str) -> list[str]:
    """The day of an ISO date or time as it is written out; nothing for other texts."""
    try:
        day = datetime.datetime.fromisoformat(text).date()
    except ValueError:
        return []
    return [f"{day:%B} {day.day}, {day.year}"]
