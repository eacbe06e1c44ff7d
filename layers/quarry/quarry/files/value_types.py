"""The column types that can hold a value of a file."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Literal, get_args

ColumnType = Literal["boolean", "bigint", "numeric", "date", "timestamptz", "text[]", "text", "jsonb"]
"""In order of preference."""

COLUMN_TYPES: tuple[ColumnType, ...] = get_args(ColumnType)
ANY: frozenset[ColumnType] = frozenset({"text", "jsonb"})
"""The types of any single value."""
BIGINT_MAX = 2**63 - 1
BOOLEANS = (("true", "false"), ("yes", "no"), ("t", "f"), ("y", "n"))

WORDED: Mapping[ColumnType, str] = {
    "boolean": "true or false", "bigint": "a whole number", "numeric": "a number", "date": "a date as YYYY-MM-DD",
    "timestamptz": "a time as YYYY-MM-DDThh:mm:ssZ", "text[]": "a list of texts", "text": "one text", "jsonb": "JSON",
}  # fmt: skip

_BOOLEAN_WORDS = frozenset(word for pair in BOOLEANS for word in pair)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,30}")
_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,2})?")
_DATE = re.compile(r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    _DATE.pattern + r"[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)?"
)


def cell_types(text: str) -> set[ColumnType]:
    """The possible types of a cell in a format where everything is text."""
    if _INTEGER.fullmatch(text) and abs(int(text)) <= BIGINT_MAX:
        return {"bigint", "numeric", "text"}
    if _NUMBER.fullmatch(text):
        return {"numeric", "text"}
    return {"boolean", "text"} if text.lower() in _BOOLEAN_WORDS else value_types(text)


def value_types(value: object) -> set[ColumnType]:
    """The possible types of a value in a format that distinguishes numbers from text."""
    match value:
        case dict():
            return {"jsonb"}
        case list():
            return {"jsonb", "text[]"} if all(isinstance(item, str) for item in value) else {"jsonb"}
        case bool():
            return {"boolean", *ANY}
        case int() if abs(value) <= BIGINT_MAX:
            return {"bigint", "numeric", *ANY}
        case int() | float() | Decimal():
            return {"numeric", *ANY}
        case datetime.datetime():
            return {"timestamptz", *ANY}
        case datetime.date():
            return {"date", "timestamptz", *ANY}
        case str():
            return _date_types(value) | ANY
    return set(ANY)


def _date_types(text: str) -> set[ColumnType]:
    """Dates and times in ISO 8601. Other notations are ambiguous, such as 03/04/2031."""
    is_date = _DATE.fullmatch(text)
    if not is_date and not _TIME.fullmatch(text):
        return set()
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return set()
    return {"date", "timestamptz"} if is_date else {"timestamptz"}
