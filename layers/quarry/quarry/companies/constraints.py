"""What was understood of a question as it goes over the wire, and back from there where a caller has changed it. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import MAXYEAR, MINYEAR, date

from quarry.companies import contract
from quarry.companies.facets import COMPANIES, TAG_FACETS
from quarry.companies.query import Sought, TagGroup
from quarry.platform.contract import EVIDENCE_MAX
from quarry.platform.text import QUERY_MAX_CHARACTERS, significant_words
from quarry.query.worded import labels
from quarry.spans.mention import DateRange, MoneyRange, NumberRange
from quarry.spans.question import Clause, Condition, evidence_of

_STRENGTHS = ("required", "assumed", "preferred")


def constraints_of(sought: Sought) -> contract.Constraints:
    """What was understood, with the characters of the question that say it."""
    clauses = [(clause, "required") for clause in sought.stated] + [(clause, "assumed") for clause in sought.assumed]
    preferred = [(clause, "preferred") for clause in _preferred(sought)]
    said = [*clauses, *preferred][: contract.CONDITIONS_MAX]
    conditions = [
        _on_the_wire(condition, strength, place if len(clause) > 1 else None)
        for place, (clause, strength) in enumerate(said)
        for condition in clause
    ]
    text = sought.question.text
    evidence = [
        each
        for clause, _ in said
        for condition in clause
        for each in evidence_of(condition, text, is_preferred=clause in sought.preferred)
    ]
    return contract.Constraints(
        # of a long question, and of one that goes on from others, it may be longer than a question is
        topic=sought.topic[:QUERY_MAX_CHARACTERS].strip(),
        conditions=conditions[: contract.CONDITIONS_MAX],
        excluded=[
            words[: contract.VALUE_CHARACTERS_MAX].strip() for words in sought.excluded[: contract.CONDITIONS_MAX]
        ],
        evidence=evidence[:EVIDENCE_MAX],
    )


def with_constraints(sought: Sought, given: contract.Constraints | None) -> Sought:
    """What is sought where a caller says it instead of the words."""
    if given is None:
        return sought
    clauses = {strength: tuple(_clauses(given.conditions, strength)) for strength in _STRENGTHS}
    tags = [clause for clause in clauses["preferred"] if _is_of_tags(clause)]
    return replace(
        sought,
        stated=clauses["required"],
        assumed=clauses["assumed"],
        tags=tuple(TagGroup(_name(clause), clause, is_demanded=True) for clause in tags),
        preferred=tuple(clause for clause in clauses["preferred"] if clause not in tags),
        excluded=tuple(given.excluded),
        topic=given.topic,
        words=sought.words if given.topic == sought.topic else _words(given.topic),
        is_plain=sought.is_plain and given.topic == sought.topic and bool(tags),
        has_more=False,
    ).bounded()


def clauses_to_tell(sought: Sought) -> list[Clause]:
    """The clauses that each result is said to meet or to miss."""
    return [*sought.stated, *sought.assumed, *_preferred(sought)]


def _preferred(sought: Sought) -> list[Clause]:
    return [*sought.preferred, *(group.conditions for group in sought.tags if not _is_required(group, sought))]


def _is_of_tags(clause: Clause) -> bool:
    return all(each.facet in TAG_FACETS and each.values and not each.is_negated for each in clause)


def _is_required(group: TagGroup, sought: Sought) -> bool:
    return group.conditions in sought.stated


def _words(topic: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(significant_words(topic)))


def _name(clause: Clause) -> str:
    return " ".join(dict.fromkeys(value for condition in clause for value in condition.values))


def _on_the_wire(condition: Condition, strength: str, group: int | None) -> contract.Condition:
    least, most = _bounds(condition)
    return contract.Condition.model_validate(
        {
            "field": condition.facet,
            "values": list(condition.values)[: contract.VALUES_MAX],
            "least": least,
            "most": most,
            "negated": condition.is_negated,
            "strength": strength,
            "group": group,
            "label": labels(COMPANIES, [(condition,)])[0][: contract.VALUE_CHARACTERS_MAX],
        }
    )


def _bounds(condition: Condition) -> tuple[float | None, float | None]:
    """The least and the most that is meant, both inclusive; as they were said where no whole number lies between them."""
    range = condition.range
    if isinstance(range, DateRange):
        return (range.first.year if range.first else None), (range.last.year if range.last else None)
    if isinstance(range, (NumberRange, MoneyRange)):
        least, most = range.least, range.most
        if least is not None and not range.includes_least:
            least = math.floor(least) + 1.0
        if most is not None and not range.includes_most:
            most = math.ceil(most) - 1.0
        is_empty = least is not None and most is not None and least > most
        return (range.least, range.most) if is_empty else (least, most)
    return None, None


def _clauses(conditions: Sequence[contract.Condition], strength: str) -> Iterator[Clause]:
    """The clauses of a strength; conditions of one group are alternatives."""
    groups: dict[object, list[Condition]] = {}
    for place, condition in enumerate(conditions):
        if condition.strength == strength:
            groups.setdefault(("alone", place) if condition.group is None else condition.group, []).append(
                _read(condition)
            )
    for group in groups.values():
        yield tuple(group)


def _read(condition: contract.Condition) -> Condition:
    return Condition(
        condition.field,
        tuple(condition.values),
        _range(condition.field, condition.least, condition.most),
        condition.negated,
        "inferred" if condition.strength == "assumed" else "stated",
    )


def _range(field: str, least: float | None, most: float | None) -> DateRange | NumberRange | MoneyRange | None:
    """What the bounds mean, as a question says it: of years, a period."""
    bounds = [bound for bound in (least, most) if bound is not None]
    if not bounds:
        return None
    if COMPANIES.facet(field).kind == "money":
        return MoneyRange(least, most)
    is_year = all(bound.is_integer() and MINYEAR <= bound <= MAXYEAR for bound in bounds)
    if COMPANIES.facet(field).kind != "year" or not is_year:
        return NumberRange(least, most)
    first = None if least is None else date(int(least), 1, 1)
    return DateRange(first, None if most is None else date(int(most), 12, 31))
