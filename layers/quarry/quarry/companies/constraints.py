"""Converts what a question seeks to the one form of how it was understood, and back if a caller has changed it. The former
`constraints`, which requests and answers carry for one more release, are made of that form here. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import get_args

from quarry.companies import contract
from quarry.companies.facets import COMPANIES, TAG_FACETS
from quarry.companies.query import CompanyIntent, TagGroup, fields_of
from quarry.companies.sources import PHRASES, labels
from quarry.platform.contract import EVIDENCE_MAX, Evidence
from quarry.platform.text import significant_words
from quarry.query.algebra import AnyOf, Comparison, Condition, Not, Query, Scalar, Words
from quarry.query.describe import affirmed, evidence_of, excluded_words, understood
from quarry.query.understood import Understood

_KNOWN = frozenset(get_args(contract.FieldName))


def understood_of(intent: CompanyIntent, query: Query | None = None) -> Understood:
    """What a question seeks, with the characters of the question that say so; or the `query` that was run for it."""
    where = _together((*intent.stated, *(Not(negated=Words(words=words)) for words in intent.excluded)))
    return understood(
        Query(source=COMPANIES.name, where=where) if query is None else query,
        PHRASES,
        assumed=intent.assumed,
        preferred=_preferred(intent),
        about=intent.topic,
        evidence=intent.evidence,
    )


def as_understood(intent: CompanyIntent, understood: Understood | None) -> CompanyIntent:
    """The same with what a request says in place of the reading."""
    if understood is None:
        return intent
    tags = [each for each in understood.preferred if fields_of(each) and fields_of(each) <= {*TAG_FACETS}]
    groups = tuple(TagGroup(_name(each), tuple(_comparisons(each)), is_demanded=True) for each in tags)
    where = [*_apart(understood.query.where)]
    without = excluded_words(where)
    return replace(
        intent,
        stated=tuple(each for each in where if not excluded_words([each])),
        assumed=understood.assumed,
        tags=groups,
        preferred=tuple(each for each in understood.preferred if each not in tags),
        excluded=tuple(without),
        topic=understood.about,
        words=tuple(significant_words(understood.about)),
        is_plain=intent.is_plain and understood.about == intent.topic and bool(tags),
        evidence=tuple(evidence_of(understood)),
        asks=None if understood.query.asks_for_rows else understood.query,
        is_sure=True,
        has_more=False,
    ).bounded()


def _together(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions, with those that exclude the same of several fields, and of the text, as one."""
    groups: dict[object, list[Condition]] = {}
    for place, each in enumerate(conditions):
        inner, is_excluded = affirmed(each)
        words = _words(inner) if is_excluded else ()
        groups.setdefault(words or place, []).append(each)
    return tuple(
        group[0] if len(group) == 1 else Not(negated=AnyOf(any_of=tuple(affirmed(each)[0] for each in group)))
        for group in groups.values()
    )


def _apart(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """The same, each field by itself."""
    for each in conditions:
        if isinstance(each, Not) and isinstance(each.negated, AnyOf):
            for one in each.negated.any_of:
                is_equal = isinstance(one, Comparison) and one.op == "="
                yield one.model_copy(update={"op": "!="}) if is_equal else Not(negated=one)
        else:
            yield each


def _words(condition: Condition) -> tuple[str, ...]:
    if isinstance(condition, Words):
        return (condition.words.casefold(),)
    return tuple(str(each).casefold() for each in condition.scalars) if isinstance(condition, Comparison) else ()


def conditions_to_tell(intent: CompanyIntent) -> list[Condition]:
    """The conditions that each result is checked against."""
    return [*intent.stated, *intent.assumed, *_preferred(intent)]


def _preferred(intent: CompanyIntent) -> list[Condition]:
    return [*intent.preferred, *(AnyOf.of(group.conditions) for group in intent.tags)]


# ---- the former constraints ----


def constraints_of(read: Understood, evidence: Sequence[Evidence] = ()) -> contract.Constraints:
    """How a question was understood, as constraints, which cannot express everything."""
    where = [*_apart(read.query.where)]
    parts = [(each, "required") for each in where if not excluded_words([each])]
    parts += [*((each, "assumed") for each in read.assumed), *((each, "preferred") for each in read.preferred)]
    conditions = [
        _on_the_wire(one, strength, place if isinstance(each, AnyOf) else None)
        for place, (each, strength) in enumerate(parts[: contract.CONDITIONS_MAX])
        for one in _comparisons(each)
        if one.field in _KNOWN
    ]
    excluded = excluded_words(where)[: contract.CONDITIONS_MAX]
    return contract.Constraints(
        topic=read.about,
        conditions=conditions[: contract.CONDITIONS_MAX],
        excluded=[words[: contract.VALUE_CHARACTERS_MAX].strip() for words in excluded],
        evidence=list(evidence)[:EVIDENCE_MAX] or evidence_of(read),
    )


def understood_as(constraints: contract.Constraints) -> Understood:
    """Constraints of a request as the same in the one form."""
    where = (
        *_conditions(constraints.conditions, "required"),
        *(Not(negated=Words(words=each)) for each in constraints.excluded),
    )
    return understood(
        Query(source=COMPANIES.name, where=where),
        PHRASES,
        assumed=[*_conditions(constraints.conditions, "assumed")],
        preferred=[*_conditions(constraints.conditions, "preferred")],
        about=constraints.topic,
        evidence=constraints.evidence,
    )


def _comparisons(condition: Condition) -> Iterator[Comparison]:
    """The comparisons of a condition; for alternatives, each of them."""
    if isinstance(condition, Comparison):
        yield condition
    elif isinstance(condition, AnyOf):
        for each in condition.any_of:
            yield from _comparisons(each)
    elif isinstance(condition, Not) and isinstance(condition.negated, Comparison) and condition.negated.op == "=":
        yield condition.negated.model_copy(update={"op": "!="})


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
