"""Turns cells of text into the fields of a row: lists and objects. The row's own type parses everything else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import get_args, get_origin

from quarry.platform.tables import Row

LIST_SEPARATOR = ";"


def read_cells(row: type[Row], cells: Mapping[str, object]) -> dict[str, object]:
    """The fields of a row from its cells. A list is a JSON array or texts separated by semicolons; an object is JSON. Numbers
    and dates of a spreadsheet are treated as text.
    """
    lists, objects = _fields_of(row, list), _fields_of(row, dict)
    written = ((name, str(cell)) for name, cell in cells.items())
    return {
        name: _list(cell) if name in lists else _json(cell, dict) if name in objects else cell for name, cell in written
    }


def _list(cell: str) -> object:
    value = _json(cell, list)
    if isinstance(value, list):
        return value
    return [item for part in cell.split(LIST_SEPARATOR) if (item := part.strip())]


def _json(cell: str, kind: type) -> object:
    """The JSON value of that kind in a cell; the cell itself where it holds none."""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    return value if isinstance(value, kind) else cell


@cache
def _fields_of(row: type[Row], kind: type) -> frozenset[str]:
    """The fields whose values are of that kind, or null."""
    return frozenset(
        name
        for name, field in row.model_fields.items()
        if kind in (get_origin(field.annotation), *map(get_origin, get_args(field.annotation)))
    )
