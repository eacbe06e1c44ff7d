"""What the candidates of a reading agree on, each counting by its probability. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quarry.reader.reading import Reading
from quarry.reader.said import SaidValue

NOT_EQUAL = "!="


def ruled_out(reading: Reading, least: float) -> list[SaidValue]:
    """The values that a question rules out, with at least this probability, and more likely than it asks for them."""
    found: list[SaidValue] = []
    for value in reading.said.values:
        meant = {link.value for link in value.links}
        asked_for = denied = 0.0
        for candidate, chance in reading.shares:
            said = [each for each in comparisons(candidate.query.get("where", ())) if meant & set(map(str, each[2]))]
            asked_for += chance * any(not each[3] for each in said)
            denied += chance * any(each[3] for each in said)
        if denied >= max(least, asked_for):
            found.append(value)
    return found


def comparisons(
    where: Sequence[Mapping[str, Any]], *, is_denied: bool = False
) -> Iterator[tuple[str, str, tuple[Any, ...], bool]]:
    """All comparisons: of each the field, the operator, the values, and whether it must not hold."""
    for each in where:
        if "not" in each:
            yield from comparisons([each["not"]], is_denied=not is_denied)
        elif "field" in each:
            values = each.get("values", [each["value"]] if "value" in each else [])
            if not any(isinstance(value, Mapping) for value in values):
                op = each.get("op", "=")
                yield each["field"], op, tuple(values), is_denied != (op == NOT_EQUAL)
        else:
            yield from comparisons(each.get("where") or each.get("any_of") or (), is_denied=is_denied)
