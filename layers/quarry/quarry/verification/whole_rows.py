"""A row that was read whole as the text that the check reads: a line for each value, with the unit that its name has. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quarry.spans.quantities import currency_code, unit_named


def row_text(row: Mapping[str, Any]) -> str:
    """Lines such as "total funding: USD 14500000" for `{"total_funding_usd": 14500000}`. Nested values have their own names."""
    return "\n".join(_lines("", row))


def _lines(name: str, value: Any) -> Iterator[str]:
    match value:
        case None | "" | [] | {}:
            return
        case Mapping():
            for key, each in value.items():
                yield from _lines(key, each)
        case [*items] if any(isinstance(each, Mapping) for each in items):
            for each in items:
                yield from _lines(name, each)
        case [*items]:
            yield _line(name, ", ".join(map(str, items)))
        case bool():
            yield _line(name, "yes" if value else "no")
        case int() | float():
            yield _line(*_measured(name, value))
        case _:
            yield _line(name, str(value))


def _line(name: str, value: str) -> str:
    return f"{name.replace('_', ' ')}: {value}".removeprefix(": ")


def _measured(name: str, value: float) -> tuple[str, str]:
    """The name of a number without its unit, and the number with it."""
    head, _, last = name.rpartition("_")
    if code := currency_code(last.casefold()):
        return head or name, f"{code} {value}"
    unit = unit_named([name])
    return name, f"{value} {unit}" if unit else str(value)
