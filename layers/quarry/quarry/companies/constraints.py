"""Converts what a question seeks to constraints on the wire, and back if a caller has changed them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import get_args

from quarry.companies import contract
from quarry.companies.facets import TAG_FACETS
from quarry.companies.query import Sought, TagGroup, fields_of
from quarry.companies.sources import labels
from quarry.platform.contract import EVIDENCE_MAX
from quarry.platform.text import QUERY_MAX_CHARACTERS, significant_words
from quarry.query.algebra import AnyOf, Comparison, Condition, Not, Scalar

_STRENGTHS: tuple[contract.Strength, ...] = get_args(contract.Strength)


def constraints_of(sought: Sought) -> contract.Constraints:
    """What a question seeks, with the characters of the question that say so."""
    said: list[tuple[Condition, str]] = [
        *((each, "required") for each in sought.stated),
        *((each, "assumed") for each in sought.assumed),
        *((each, "preferred") for each in _preferred(sought)),
    ]
    conditions = [
        _on_the_wire(one, strength, place if isinstance(each, AnyOf) else None)
        for place, (each, strength) in enumerate(said[: contract.CONDITIONS_MAX])
        for one in _comparisons(each)
    ]
    return contract.Constraints(
        # the topic of a follow-up may be longer than a question may be
        topic=sought.topic[:QUERY_MAX_CHARACTERS].strip(),
        conditions=conditions[: contract.CONDITIONS_MAX],
        excluded=[
            words[: contract.VALUE_CHARACTERS_MAX].strip() for words in sought.excluded[: contract.CONDITIONS_MAX]
        ],
        evidence=list(sought.evidence[:EVIDENCE_MAX]),
    )


def with_constraints(sought: Sought, given: contract.Constraints | None) -> Sought:
    """The same with the constraints that a request gives in place of the reading."""
    if given is None:
        return sought
    said = {strength: tuple(_conditions(given.conditions, strength)) for strength in _STRENGTHS}
    tags = [each for each in said["preferred"] if fields_of(each) <= {*TAG_FACETS}]
    groups = tuple(TagGroup(_name(each), tuple(_comparisons(each)), is_demanded=True) for each in tags)
    return replace(
        sought,
        stated=said["required"],
        assumed=said["assumed"],
        tags=groups,
        preferred=tuple(each for each in said["preferred"] if each not in tags),
        excluded=tuple(given.excluded),
        topic=given.topic,
        words=tuple(significant_words(given.topic)),
        is_plain=sought.is_plain and given.topic == sought.topic and bool(tags),
        asks=None,
        has_more=False,
    ).bounded()


def conditions_to_tell(sought: Sought) -> list[Condition]:
    """The conditions that each result is checked against."""
    return [*sought.stated, *sought.assumed, *_preferred(sought)]


def _preferred(sought: Sought) -> list[Condition]:
    return [*sought.preferred, *(AnyOf.of(group.conditions) for group in sought.tags)]


def _comparisons(condition: Condition) -> Iterator[Comparison]:
    """The comparisons of a condition; for alternatives, each of them."""
    if isinstance(condition, Comparison):
        yield condition
    elif isinstance(condition, AnyOf):
        for each in condition.any_of:
            yield from _comparisons(each)


def _name(condition: Condition) -> str:
    return " ".join(dict.fromkeys(str(value) for each in _comparisons(condition) for value in each.scalars))


def _on_the_wire(condition: Comparison, strength: str, group: int | None) -> contract.Condition:
    is_measured = condition.field in contract.MEASURED_FIELDS
    least, most = _bounds(condition) if is_measured else (None, None)
    return contract.Condition.model_validate(
        {
            "field": condition.field,
            "values": [] if is_measured else list(map(str, condition.scalars))[: contract.VALUES_MAX],
            "least": least,
            "most": most,
            "negated": condition.op in ("!=", "is_null"),
            "strength": strength,
            "group": group,
            "label": labels([condition])[0][: contract.VALUE_CHARACTERS_MAX],
        }
    )


def _bounds(condition: Comparison) -> tuple[float | None, float | None]:
    """The inclusive bounds of a comparison of whole numbers."""
    numbers = [float(value) for value in condition.scalars if isinstance(value, int | float)]
    if not numbers:
        return None, None
    first, last = numbers[0], numbers[-1]
    return {
        ">": (first + 1, None), ">=": (first, None), "<": (None, last - 1), "<=": (None, last), "between": (first, last)
    }.get(condition.op, (first, last))  # fmt: skip


def _conditions(conditions: Sequence[contract.Condition], strength: str) -> Iterator[Condition]:
    """The conditions of one strength. Those of a group become alternatives."""
    groups: dict[object, list[Condition]] = {}
    for place, condition in enumerate(conditions):
        if condition.strength == strength:
            key = ("alone", place) if condition.group is None else condition.group
            groups.setdefault(key, []).append(_read(condition))
    for group in groups.values():
        yield AnyOf.of(group)


def _read(condition: contract.Condition) -> Condition:
    if condition.values:
        return Comparison(field=condition.field, op="!=" if condition.negated else "=", values=tuple(condition.values))
    least, most = condition.least, condition.most
    if least is None and most is None:
        return Comparison(field=condition.field, op="is_null" if condition.negated else "not_null")
    if least is not None and most is not None:
        met = Comparison(field=condition.field, op="between", values=_scalars((least, most)))
    elif least is not None:
        met = Comparison(field=condition.field, op=">=", values=_scalars((least,)))
    else:
        met = Comparison(field=condition.field, op="<=", values=_scalars((most,)))
    return Not(negated=met) if condition.negated else met


def _scalars(numbers: Iterable[float | None]) -> tuple[Scalar, ...]:
    """Numbers as in JSON: whole ones without decimals."""
    return tuple(int(each) if each.is_integer() else each for each in numbers if each is not None)
