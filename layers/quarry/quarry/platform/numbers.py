"""Numbers as every reader of JSON has them."""

from __future__ import annotations

from typing import Any

EXACT_MAX = 2**53 - 1
"""The largest whole number that is exact in every reader of JSON: many hold numbers in 64 bits of floating point."""


def exact(value: Any) -> Any:
    """A value of JSON with its whole numbers beyond `EXACT_MAX` as text."""
    match value:
        case bool():
            return value
        case int():
            return value if abs(value) <= EXACT_MAX else str(value)
        case list():
            return [exact(each) for each in value]
        case dict():
            return {key: exact(each) for key, each in value.items()}
        case _:
            return value
