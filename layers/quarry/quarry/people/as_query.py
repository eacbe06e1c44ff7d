"""Converts the payload of a search (must, should, exclude and the rest) to a Query over `people`, and back without loss. Pure.

`must` becomes the query's `where`: conditions on experiences hold for one experience, the others for the person. `exclude` stands
there as `not`. `should` becomes preferred conditions, which only affect the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from quarry.people.contract import Constraints, Exclude, Must, Should
from quarry.platform.contract import Evidence
from quarry.query.algebra import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Exists,
    Not,
    Operator,
    Query,
    Words,
    conditions_of,
)

Part = Literal["must", "should", "exclude"]
_Value = tuple[Part, str, Any]
"""A part of the payload, one of its fields, and a value."""

SOURCE, EXPERIENCE, EDUCATION = "people", "experience", "education"
OR = " or "
"""Separates alternative places in free text. A bar separates the names of a role."""


@dataclass(frozen=True)
class RankedQuery:
    """A search for people: the query says who may be shown, `preferred` affects the order, and `about` is embedded."""

    query: Query
    preferred: tuple[Condition, ...] = ()
    original: str = ""
    cleaned: str = ""
    about: str = ""
    phrases: tuple[str, ...] = ()
    confidence: float = 0.0
    evidence: tuple[Evidence, ...] = ()

    @property
    def asks_nothing(self) -> bool:
        """Whether it is a greeting or similar."""
        return not (self.about or self.query.where or self.preferred)


@dataclass(frozen=True)
class _Test:
    """How a field of the payload compares `field` of the source. `is_open`: rows without a value meet it too. `between` separates
    the values in one text of the payload.
    """

    field: str
    op: Operator = "="
    is_open: bool = False
    between: str | None = None


_PERSON = frozenset({"name", "open_to_work", "preferred_place", "salary", "experience_years"})
"""Fields of the person; the others are those of an experience."""
_TIME = {"time_start": _Test("end_date", ">=", is_open=True), "time_end": _Test("start_date", "<=", is_open=True)}
_PLACE = _Test("location_text", "contains")
_SAME = {name: _Test(name) for name in ("company_norm", "team_norm", "is_current")}

_TESTS: Mapping[Part, Mapping[str, _Test]] = {
    "must": {
        **_SAME,
        **_TIME,
        **{
            name: _Test(name)
            for name in (
                "name", "intent_primary", "domain", "sub_domain", "employment_type", "seniority_level", "city", "country",
            )
        },
        "role": _Test("role", "contains", between="|"),
        "location_text": _Test("location_text", "contains", between=OR),
        "started_from": _Test("start_date", ">="),
        "started_until": _Test("start_date", "<="),
        "ended_from": _Test("end_date", ">="),
        "ended_until": _Test("end_date", "<="),
        "open_to_work_only": _Test("open_to_work"),
        "preferred_locations": _Test("preferred_place"),
        "offer_salary_inr_per_year": _Test("salary", "<=", is_open=True),
        "experience_years_min": _Test("experience_years", ">="),
        "experience_years_max": _Test("experience_years", "<="),
    },
    "should": {
        "company_norm": _SAME["company_norm"],
        "team_norm": _SAME["team_norm"],
        "skills_or_tools": _Test("skills"),
        "intent_secondary": _Test("intent_primary"),
        "location": _PLACE,
    },
    "exclude": {**_SAME, **_TIME, "location": _PLACE, "open_to_work": _Test("open_to_work")},
}  # fmt: skip
_WORDS: Mapping[Part, str] = {"must": "text", "should": "keywords", "exclude": "keywords"}
"""The fields with words that a card or the profile must contain."""
_NAMES: Mapping[Part, Mapping[tuple[str, str, bool], str]] = {
    part: {(test.field, test.op, test.is_open): name for name, test in tests.items()} for part, tests in _TESTS.items()
}


def query_of(payload: Constraints) -> RankedQuery:
    """The payload as a query."""
    return RankedQuery(
        Query(source=SOURCE, where=(*_required(payload.must), *_excluded(payload.exclude))),
        tuple(_on_cards(_conditions("should", payload.should))),
        payload.query_original,
        payload.query_cleaned,
        payload.query_embedding_text,
        tuple(payload.search_phrases),
        payload.confidence_score,
        tuple(payload.evidence),
    )


def payload_of(ranked: RankedQuery) -> Constraints:
    """The query as a payload. Raises KeyError for conditions that a payload cannot express."""
    parts: dict[Part, dict[str, Any]] = {"must": {}, "should": {}, "exclude": {}}
    lists = {
        part: {name for name, field in model.model_fields.items() if field.get_default() == []}
        for part, model in (("must", Must), ("should", Should), ("exclude", Exclude))
    }
    for part, name, value in _values(ranked):
        if name in lists[part]:
            parts[part].setdefault(name, []).append(value)
        else:
            parts[part][name] = value
    return Constraints(
        query_original=ranked.original,
        query_cleaned=ranked.cleaned,
        must=Must(**parts["must"]),
        should=Should(**parts["should"]),
        exclude=Exclude(**parts["exclude"]),
        search_phrases=list(ranked.phrases),
        query_embedding_text=ranked.about,
        confidence_score=ranked.confidence,
        evidence=list(ranked.evidence),
    )


def _required(must: Must) -> Iterator[Condition]:
    """The required conditions: on the person, on one experience, and on an education."""
    conditions = dict(_conditions_by_name("must", must))
    place = _any(
        _all([*conditions.pop("city", ()), *conditions.pop("country", ())]), conditions.pop("location_text", ())
    )
    said = [each for group in conditions.values() for each in group]
    if must.or_preferred_locations:
        would = _comparison(_TESTS["must"]["preferred_locations"], must.or_preferred_locations)
        yield AnyOf(any_of=(*_on_cards(place), would))
    else:
        said += place
    on_card = tuple(each for each in said if _is_of_card(each))
    yield from [Exists(exists=EXPERIENCE, where=on_card)] if on_card else []
    if must.school_norm:
        studied = Comparison(field="company_norm", values=tuple(must.school_norm))
        yield Exists(exists=EDUCATION, where=(studied,))
    yield from (each for each in said if not _is_of_card(each))


def _excluded(exclude: Exclude) -> Iterator[Condition]:
    """The exclusions. A time is excluded as a whole, everything else part by part."""
    conditions = dict(_conditions_by_name("exclude", exclude))
    time = [each for name in _TIME for each in conditions.pop(name, ())]
    said = [each for group in conditions.values() for each in group]
    yield from (Not(negated=each) for each in _on_cards(said))
    if time:
        yield Not(negated=Exists(exists=EXPERIENCE, where=tuple(time)))


def _conditions(part: Part, payload: BaseModel) -> Iterator[Condition]:
    return (each for _, group in _conditions_by_name(part, payload) for each in group)


def _conditions_by_name(part: Part, payload: BaseModel) -> Iterator[tuple[str, list[Condition]]]:
    """The conditions of each field that is set."""
    for name, value in payload:
        test = _TESTS[part].get(name)
        if value is None or value == []:
            continue
        if name == _WORDS[part]:
            yield name, [Words(words=each) for each in value]
        elif test is not None and test.between is not None:
            texts = value if isinstance(value, list) else [value]
            yield name, [_comparison(test, each.split(test.between)) for each in texts]
        elif test is not None:
            yield name, [_comparison(test, value if isinstance(value, list) else [value])]


def _comparison(test: _Test, values: Sequence[Any]) -> Condition:
    compared = Comparison(field=test.field, op=test.op, **_given(test.op, values))
    return AnyOf(any_of=(compared, Comparison(field=test.field, op="is_null"))) if test.is_open else compared


def _given(op: Operator, values: Sequence[Any]) -> dict[str, Any]:
    return {"values": tuple(values)} if op in ("=", "contains") else {"value": values[0]}


def _all(conditions: Sequence[Condition]) -> list[Condition]:
    return [AllOf(all_of=tuple(conditions))] if len(conditions) > 1 else list(conditions)


def _any(one: Sequence[Condition], other: Sequence[Condition]) -> list[Condition]:
    return [AnyOf(any_of=(*one, *other))] if one and other else [*one, *other]


def _is_of_card(condition: Condition) -> bool:
    match condition:
        case Comparison():
            return condition.field not in _PERSON
        case AnyOf(any_of=parts) | AllOf(all_of=parts):
            return _is_of_card(parts[0])
        case _:
            return False


def _on_cards(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """Each condition separately; those on experiences hold for any experience."""
    return (Exists(exists=EXPERIENCE, where=(each,)) if _is_of_card(each) else each for each in conditions)


def _values(ranked: RankedQuery) -> Iterator[_Value]:
    """The values of a query with their parts and fields of the payload."""
    for condition in ranked.query.where:
        yield from _said(condition, "must")
    for condition in ranked.preferred:
        yield from _said(condition, "should")


def _said(condition: Condition, part: Part, within: Condition | None = None) -> Iterator[_Value]:
    match condition:
        case Words(words=words):
            yield part, _WORDS[part], words
        case Comparison():
            yield from _compared(condition, part, within)
        case Not(negated=denied):
            yield from _said(denied, "exclude", condition)
        case _:
            for each in conditions_of(condition):
                yield from _said(each, part, condition)


def _compared(compared: Comparison, part: Part, within: Condition | None) -> Iterator[_Value]:
    """The values of a comparison. Its field of the payload depends on the condition around it."""
    if compared.op == "is_null":
        return
    beside = within.any_of if isinstance(within, AnyOf) else ()
    is_open = any(isinstance(each, Comparison) and each.op == "is_null" for each in beside)
    name = _NAMES[part][compared.field, compared.op, is_open]
    between = _TESTS[part][name].between
    if isinstance(within, Exists) and within.exists == EDUCATION:
        name = "school_norm"
    elif beside and name == "preferred_locations":
        name = "or_preferred_locations"
    if between is not None:
        yield part, name, between.join(map(str, compared.values))
    else:
        yield from ((part, name, value) for value in compared.values or (compared.value,))
