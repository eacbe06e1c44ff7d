"""Results of tools in the size that an agent's context takes: long texts and long lists are cut, and that is said. Pure."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from quarry.platform.errors import BodyTooLarge
from quarry.query.algebra import Cell, Column
from quarry.query.contract import QueryResult
from quarry.query.describe import GROUPS_NAMED_MAX
from quarry.query.phrases import Phrases
from quarry.spans.quantities import in_other_units

RESULT_CHARACTERS_MAX = 40_000
"""Of a tool's result, as JSON."""
RESOURCE_CHARACTERS_MAX = 200_000
"""Of a resource that an agent's user chose to read."""

LINES_MAX = 50
"""Rows or groups that an answer lists."""
DEPTH_MAX = 6
"""In a result that is too long, deeper levels become text."""
NAMES_MAX = 40
"""The most fields of one object in a result that is too long; our own objects have fewer."""

# the longest text, and the longest list, of one try after another
_TRIES = ((20_000, 400), (8_000, 200), (3_000, 100), (1_000, 50), (400, 30), (150, 15), (60, 6), (20, 2))

TOO_LONG = BodyTooLarge("This result is too long, even with shortened texts. Ask for fewer rows or fields.")


def bounded(found: dict[str, Any], characters_max: int = RESULT_CHARACTERS_MAX) -> dict[str, Any]:
    """`found`, cut where its JSON would be longer than `characters_max`; then `shortened` is true in it.

    Raises BodyTooLarge for what stays too long.
    """
    if _size(found) <= characters_max:
        return found
    for text_max, items_max in _TRIES:
        cut = {name: _cut(value, text_max, items_max, 1) for name, value in found.items()} | {"shortened": True}
        if _size(cut) <= characters_max:
            return cut
    raise TOO_LONG


def _cut(value: Any, text_max: int, items_max: int, depth: int) -> Any:
    if isinstance(value, dict | list) and depth >= DEPTH_MAX:
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        left_out = len(value) - text_max
        return value if left_out <= 0 else f"{value[:text_max]}… [{left_out:,} characters more]"
    if isinstance(value, list):
        return [_cut(each, text_max, items_max, depth + 1) for each in value[:items_max]]
    if isinstance(value, dict):
        return {name: _cut(each, text_max, items_max, depth + 1) for name, each in islice(value.items(), NAMES_MAX)}
    return value


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def result_text(result: QueryResult) -> str:
    """What a result says, with its values as an answer may write them: numbers rounded, in other units, and parts of one as
    percentages; dates in words; and how many rows it has.
    """
    units = [each.unit or "" for each in result.columns]
    forms = [form for row in result.rows for cell, unit in zip(row, units, strict=True) for form in _forms(cell, unit)]
    labels = [each.label for each in result.columns]
    return "\n".join([result.sentence, f"{result.total} {len(result.rows)}", *labels, " ".join(forms)])


def with_list(sentence: str, lines: Sequence[str]) -> list[str]:
    """The lines of a sentence and its Markdown list. Before a list the sentence ends in a colon."""
    return [f"{sentence.removesuffix('.')}:", "", *lines] if lines else [sentence]


def lines_of(result: QueryResult, phrases: Phrases, most: int = LINES_MAX) -> Iterator[str]:
    """The rows or groups that the result's sentence does not name, at most `most` of them, as a Markdown list. Rows that read the
    same are one line with their number.
    """
    query = result.query
    if not query.asks_for_rows and (not query.group or len(result.rows) <= GROUPS_NAMED_MAX):
        return
    names = len(query.group) or 1
    periods = [each.period for each in query.group]
    # the key comes first where no column was selected
    first = 0 if query.select or query.group else 1
    columns = [Column(each.name, each.label, each.kind, each.unit) for each in result.columns][first:]
    times = Counter(
        tuple(
            phrases.cell(column, cell, periods[place] if place < len(periods) else None)
            for place, (column, cell) in enumerate(zip(columns, row[first:], strict=True))
        )
        for row in result.rows
    )
    for cells, number in islice(times.items(), most):
        said = cells[names:]
        if len(said) > 1 or query.asks_for_rows:
            said = tuple(f"{column.label}: {cell}" for column, cell in zip(columns[names:], said, strict=True))
        same = f", {number} {phrases.noun(number)}" if number > 1 else ""
        numbers = f" ({', '.join(said)})" if said else ""
        yield f"- {' – '.join(cells[:names])}{numbers}{same}"
    if len(times) > most or (result.truncated and query.limit is None):
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
