"""What the candidates of a reading agree on, each counting by its probability. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quarry.reader.candidates import Candidate
from quarry.reader.reading import Reading
from quarry.reader.said import SaidValue

NOT_EQUAL = "!="


def ruled_out(reading: Reading, least: float) -> list[SaidValue]:
    """The values that a question rules out, with at least this probability, and more likely than it asks for them."""
    found: list[SaidValue] = []
    for value in reading.said.values:
        chances = chances_of(value, reading.shares)
        if chances.denied >= max(least, chances.asked_for):
            found.append(value)
    return found


@dataclass(frozen=True)
class ValueChances:
    """How likely a value is asked for, how likely it is ruled out, and how likely each field is compared with it."""

    asked_for: float
    denied: float
    of_field: Mapping[str, float]


def chances_of(value: SaidValue, candidates: Iterable[tuple[Candidate, float]]) -> ValueChances:
    """What candidates, each with its probability, make of a value."""
    meant = {link.value for link in value.links}
    asked_for = denied = 0.0
    of_field: defaultdict[str, float] = defaultdict(float)
    for candidate, chance in candidates:
        said = [each for each in comparisons(candidate.query.get("where", ())) if meant & set(map(str, each[2]))]
        asked_for += chance * any(not each[3] for each in said)
        denied += chance * any(each[3] for each in said)
        for name in {each[0] for each in said}:
            of_field[name] += chance
    return ValueChances(asked_for, denied, of_field)


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
