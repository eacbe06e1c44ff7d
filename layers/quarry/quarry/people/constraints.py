"""Constraints: their normal form, the values that they name, and the same as conditions of a Query over people, and back. Pure.

In normal form, impossible values and those outside the taxonomy are keywords; only unknown kinds of experience are dropped. As
conditions, what must be true of one experience stands together in one `exists`. An experience that is excluded is one that also
meets what is required of it, unless the query says never.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from quarry.language.word_forms import unique
from quarry.people.contract import Constraints, Exclude, Must, Should, as_list
from quarry.people.facets import COLLECTION, OF_CONDITIONS, PEOPLE
from quarry.people.sources import EDUCATION, EXPERIENCE, innermost, label_of
from quarry.people.tables import EmploymentType, Intent, SeniorityLevel
from quarry.platform.contract import EVIDENCE_MAX, Assertion, Evidence
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.text import QUERY_MAX_CHARACTERS
from quarry.query.contract import CHANGEABLE, DECIDING, OWN, ConditionChip, Meaning, Understood
from quarry.query.values import Interval, interval_of
from quarry.schema.algebra import AnyOf, Comparison, Condition, Exists, Not, Query, Span, Words
from quarry.schema.source import NamedValue, UnknownValue, nearest
from quarry.spans.mention import PlaceKind
from quarry.spans.places import alternatives_in, usual_name

OR = " or "
"""Separates the alternatives that the same words state, in the value of their evidence."""

NAME_CHARACTERS_MAX = 120
ROLE_CHARACTERS_MAX = 400
SALARY_MIN, SALARY_MAX = 10_000.0, 1e9
"""The bounds of a salary, in INR a year."""
YEARS_MAX = 100.0
"""The most years of experience."""
NAMES_MAX = 20
"""The most values in a list."""
SEARCH_PHRASES_MAX = 15

_OPEN_END = frozenset({"present", "now", "today", "current", "currently", "ongoing", "date"})

ASSERTIONS: Mapping[str, Assertion] = {"must": "affirmed", "should": "preferred", "exclude": "negated"}


def normalise(constraints: Constraints) -> Constraints:
    """The constraints in normal form. Applying this twice changes nothing more."""
    exclude = constraints.exclude.model_copy(
        update=_lists(constraints.exclude) | _dates(constraints.exclude, "time", "start", "end", [])
    )
    ruled_out = {*exclude.company_norm, *exclude.keywords, *exclude.team_norm, *exclude.location}
    left_over: list[str] = []
    must = _required(constraints.must, ruled_out, left_over)
    # moved values come first, so that a full list does not lose them
    should = constraints.should
    should = should.model_copy(update={"keywords": [*left_over, *should.keywords]})
    intents = {"intent_secondary": _taxonomy(should.intent_secondary, Intent, [])}
    score = constraints.confidence_score
    return Constraints(
        query_original=constraints.query_original,
        query_cleaned=trimmed_text(constraints.query_cleaned) or trimmed_text(constraints.query_original),
        must=must,
        should=should.model_copy(update=_lists(should, ruled_out) | intents),
        exclude=exclude,
        like=_name(constraints.like),
        search_phrases=list(unique(map(_short, constraints.search_phrases), str.casefold))[:SEARCH_PHRASES_MAX],
        query_embedding_text=trimmed_text(constraints.query_embedding_text),
        confidence_score=min(1.0, max(0.0, score)) if math.isfinite(score) else 0.0,
        evidence=constraints.evidence[:EVIDENCE_MAX],
    )


def _required(must: Must, ruled_out: Set[str], left_over: list[str]) -> Must:
    """The required part without what is excluded. Impossible values go to `left_over`."""
    update = _lists(must, ruled_out) | _location(must, ruled_out)
    for name, first, last in (("time", "start", "end"), ("started", "from", "until"), ("ended", "from", "until")):
        update |= _dates(must, name, first, last, left_over)
    least, most = _years(must.experience_years_min), _years(must.experience_years_max)
    if least is not None and most is not None:
        least, most = sorted((least, most))
    update |= {
        "intent_primary": _taxonomy(must.intent_primary, Intent, []),
        "employment_type": _taxonomy(must.employment_type, EmploymentType, left_over),
        "seniority_level": _taxonomy(must.seniority_level, SeniorityLevel, left_over),
        "offer_salary_inr_per_year": _salary(must.offer_salary_inr_per_year, left_over),
        "experience_years_min": least,
        "experience_years_max": most,
        "role": _roles(must.role, ruled_out),
        "text": list(unique(map(_short, must.text), str.casefold))[:NAMES_MAX],
    }
    return with_place(must.model_copy(update=update))


def with_place(must: Must) -> Must:
    """The required part with a text for its place; without a place, no preferred location is an alternative to it."""
    if text := must.location_text or ", ".join(filter(None, (must.city, must.country))):
        return must.model_copy(update={"location_text": text})
    either = unique((*must.preferred_locations, *must.or_preferred_locations))
    return must.model_copy(update={"preferred_locations": list(either), "or_preferred_locations": []})


def _lists(part: BaseModel, ruled_out: Set[str] = frozenset()) -> dict[str, Any]:
    """The lists of a part as names, without excluded ones."""
    return {
        field: [name for name in _names(value) if name not in ruled_out]
        for field, value in part
        if isinstance(value, list)
    }


def _taxonomy(values: Iterable[str], taxonomy: object, left_over: list[str]) -> list[str]:
    """The values in the taxonomy. The others go to `left_over`."""
    members = []
    for value in _names(values):
        name = re.sub(r"[\s-]+", "_", value)
        if name in get_args(taxonomy):
            members.append(name)
        else:
            left_over.append(value)
    return list(unique(members))


def _roles(roles: Iterable[str], ruled_out: Set[str]) -> list[str]:
    """Each role by its names, without excluded ones."""
    names = (_names(role[:ROLE_CHARACTERS_MAX].split("|")) for role in roles)
    return list(unique("|".join(each for each in own if each not in ruled_out) for own in names))[:NAMES_MAX]


def _dates(part: BaseModel, name: str, start: str, end: str, left_over: list[str]) -> dict[str, str | None]:
    """The first and the last day as YYYY-MM-DD, in order. Texts that are no dates go to `left_over`."""
    fields = f"{name}_{start}", f"{name}_{end}"
    first, last = (_period(getattr(part, field), left_over) for field in fields)
    if first and last and first.first > last.last:
        first, last = last, first
    days = first.first.isoformat() if first else None, last.last.isoformat() if last else None
    return dict(zip(fields, days, strict=True))


def _period(date: str | None, left_over: list[str]) -> Interval | None:
    """The days of a day, a month or a year. A text that is no date goes to `left_over`."""
    text = _name(date)
    if text is None or text in _OPEN_END:
        return None
    try:
        return interval_of(text, "date", datetime.date.min, "")
    except InvalidInput:
        left_over.append(text)
        return None


def _salary(salary: float | None, left_over: list[str]) -> float | None:
    """INR a year."""
    if salary is None:
        return None
    if math.isfinite(salary) and SALARY_MIN <= salary <= SALARY_MAX:
        return salary
    if math.isfinite(salary) and salary > 0:
        left_over.append(f"salary {salary:g}")
    return None


def _years(years: float | None) -> float | None:
    return years if years is not None and 0 < years <= YEARS_MAX else None


def _location(must: Must, ruled_out: Set[str]) -> dict[str, str | None]:
    """City and country by their usual names, and the location text; None for what is excluded."""
    places: dict[PlaceKind, str | None] = {"city": must.city, "country": must.country}
    fields: dict[str, str | None] = {}
    for kind, value in places.items():
        name = _name(value)
        usual = usual_name(name, kind) if name else None
        fields[kind] = None if ruled_out & {name, usual} else usual
    text = _name(must.location_text)
    return {**fields, "location_text": None if text in ruled_out else text}


def _names(values: Iterable[str]) -> list[str]:
    """The names in lower case, trimmed, each once, within the limits."""
    return list(unique(name for value in values if (name := _name(value))))[:NAMES_MAX]


def _name(value: str | None) -> str | None:
    return _short(value.lower()) or None if value else None


def _short(value: str) -> str:
    return " ".join(value.split())[:NAME_CHARACTERS_MAX].strip()


def trimmed_text(value: str) -> str:
    return " ".join(value.split())[:QUERY_MAX_CHARACTERS].strip()


def canonical(constraints: Constraints, query: str) -> Constraints:
    """The constraints of a request in normal form, with the text to embed made from them."""
    update = {
        "query_original": query,
        "query_cleaned": constraints.query_cleaned or query,
        "query_embedding_text": about(constraints),
    }
    return normalise(constraints.model_copy(update=update))


def about(constraints: Constraints) -> str:
    """The subject of constraints in few words."""
    must, should = constraints.must, constraints.should
    texts = [
        *(role.partition("|")[0] for role in must.role), *should.skills_or_tools, *should.keywords, *must.company_norm,
        *must.school_norm, *must.team_norm, *should.company_norm, *should.team_norm, *should.location, *must.domain,
        *must.sub_domain, *must.text, *must.name,
        *filter(None, [must.location_text or must.city or must.country]),
    ]  # fmt: skip
    return " ".join(unique(texts))


# ---- the values of a request, and as the data spells them ----

EQUAL = ("company_norm", "school_norm", "team_norm", "domain", "sub_domain")
"""Fields that are compared for equality, so that they need the values of the data."""
LOOKED_UP = (*EQUAL, "name", "location", "city", "country", "location_text")
"""Fields whose values are looked up."""
TAXONOMIES = {"intent_primary": Intent, "employment_type": EmploymentType, "seniority_level": SeniorityLevel}
DATES = ("time_start", "time_end", "started_from", "started_until", "ended_from", "ended_until")
_ANYWHERE = frozenset({"remote", "anywhere", "any", "worldwide"})


def named_values(constraints: Constraints) -> list[NamedValue]:
    """The values that constraints name, each with the pointer of its field."""
    return [
        NamedValue(OF_CONDITIONS[field], value, f"/constraints/{name}/{field}")
        for name in ASSERTIONS
        for field in LOOKED_UP
        for value in _values(getattr(constraints, name), field)
        if value.lower() not in _ANYWHERE
    ]


def with_meanings(
    constraints: Constraints, values: Sequence[NamedValue], meanings: Sequence[Sequence[str]]
) -> Constraints:
    """The constraints with what each value means in the data, in fields compared for equality, and the evidence adapted. A value
    without a meaning stays.
    """
    fields: dict[str, list[str]] = {}
    by_value: dict[tuple[str, str], str] = {}
    for each, meaning in zip(values, meanings, strict=True):
        key = each.pointer.removeprefix("/constraints/").replace("/", ".")
        if key.partition(".")[2] in EQUAL and meaning:
            by_value[key, each.value.lower()] = OR.join(meaning)
        fields.setdefault(key, []).extend(meaning or [each.value])
    ruled_out = {name for key, names in fields.items() if key.startswith("exclude.") for name in _names(names)}
    parts = {}
    for name in ASSERTIONS:
        own = {field: fields[f"{name}.{field}"] for field in EQUAL if f"{name}.{field}" in fields}
        excluded = ruled_out if name != "exclude" else set[str]()
        lists = {field: [each for each in _names(names) if each not in excluded] for field, names in own.items()}
        parts[name] = getattr(constraints, name).model_copy(update=lists)
    evidence = [
        each.model_copy(update={"value": by_value.get((each.field, each.value.lower()), each.value)})
        for each in constraints.evidence
    ]
    return constraints.model_copy(update={**parts, "evidence": evidence})


def _values(part: BaseModel, field: str) -> Sequence[str]:
    value = getattr(part, field, None)
    if field == "location_text" and isinstance(value, str):
        # with a city or a country, it is only their spelling
        is_alone = not (getattr(part, "city", None) or getattr(part, "country", None))
        value = alternatives_in(value) if is_alone else None
    return [each for each in as_list(value) if each.strip()]


def faults_of(constraints: Constraints) -> Iterator[FieldError]:
    """What is wrong with values of a request that no data has: those outside the taxonomy, and invalid dates."""
    for name in ASSERTIONS:
        part, pointer = getattr(constraints, name), f"/constraints/{name}"
        for field, taxonomy in TAXONOMIES.items():
            left_over: list[str] = []
            _taxonomy(_values(part, field), taxonomy, left_over)
            for value in left_over:
                near = nearest(value, get_args(taxonomy)) or get_args(taxonomy)
                label = PEOPLE.facets[OF_CONDITIONS[field][0]].label
                yield FieldError(f"{pointer}/{field}", str(UnknownValue(PEOPLE.nouns[0], label, value, near)))
        for field in DATES:
            left_over = []
            _period(getattr(part, field, None), left_over)
            if left_over:
                yield FieldError(f"{pointer}/{field}", "write the day as YYYY-MM-DD, YYYY-MM or YYYY")


# ---- constraints to conditions ----

MEASURED: Mapping[str, tuple[str, str]] = {
    "period": ("time_start", "time_end"),
    "start_date": ("started_from", "started_until"),
    "end_date": ("ended_from", "ended_until"),
    "experience_years": ("experience_years_min", "experience_years_max"),
    "salary": ("", "offer_salary_inr_per_year"),
}
"""The least and the most of a field, by their names in `must`."""
EVIDENCE_NAMES = {"period": "time", "start_date": "started", "end_date": "ended", "salary": "offer_salary_inr_per_year"}
"""What evidence calls a field, if not by its name."""
OF_CARDS = (
    "company_norm", "team_norm", "intent_primary", "domain", "sub_domain", "employment_type", "seniority_level", "location_text",
    "city", "country", "is_current",
)  # fmt: skip
OF_PERSON = ("name", "preferred_place", "open_to_work")
KEYS: Mapping[str, Mapping[str, str]] = {
    "must": {
        "preferred_place": "preferred_locations", "open_to_work": "open_to_work_only", "skills": "text",
        "intent_secondary": "text",
    },
    "should": {
        "skills": "skills_or_tools", "intent_secondary": "intent_secondary", "company_norm": "company_norm",
        "team_norm": "team_norm", "location_text": "location", "city": "location", "country": "location",
    },
    "exclude": {
        "company_norm": "company_norm", "team_norm": "team_norm", "location_text": "location", "city": "location",
        "country": "location", "is_current": "is_current", "open_to_work": "open_to_work",
    },
}  # fmt: skip
"""The keys of each part for the fields of conditions. Of other fields: in `must` the same, else keywords."""
_FLAGS = ("is_current", "open_to_work")
_FIXED = frozenset((*OF_PERSON, "start_date", "end_date", "experience_years", "salary"))
"""Fields that are not required instead of excluded, or the other way round."""


def understood_of(constraints: Constraints) -> Understood:
    """Constraints as the conditions that they are."""
    must, exclude = constraints.must, constraints.exclude
    cards = [*_on_cards(must)]
    entries: list[tuple[str, str, Condition]] = []
    where: list[Condition] = []
    for related, parts in ((EXPERIENCE, cards), (EDUCATION, [*_on_schools(must)])):
        if parts:
            entries += [(f"/where/{len(where)}/where/{n}", key, each) for n, (key, each) in enumerate(parts)]
            where.append(Exists(exists=related, where=tuple(each for _, each in parts)))
    required = () if exclude.ever else tuple(each for _, each in cards)
    without = [(key, Not(negated=_excluding(each, required))) for key, each in _excluded(exclude)]
    for key, condition in (*_on_people(must), *without):
        entries.append((f"/where/{len(where)}", key, condition))
        where.append(condition)
    preferred = [*_preferred(constraints.should)]
    entries += [(f"/preferred/{n}", key, each) for n, (key, each) in enumerate(preferred)]
    chips = [
        ConditionChip(label=label_of(each, related), pointer=at, choices=_choices(each))
        for at, key, each in entries
        for related in [EDUCATION if key == "must.school_norm" else EXPERIENCE]
    ]
    if constraints.like:
        chips.append(ConditionChip(label=constraints.like, pointer="/like"))
    return Understood(
        query=Query(source=COLLECTION.name, where=tuple(where)),
        preferred=tuple(each for _, each in preferred),
        like=constraints.like or "",
        chips=chips,
        spans=[*_spans(constraints.evidence, entries)],
    )


def constraints_of(understood: Understood, query: str) -> Constraints:
    """The conditions of a request as constraints. Raises InvalidInput for what a search for people cannot ask."""
    must: dict[str, Any] = {}
    should: dict[str, Any] = {}
    exclude: dict[str, Any] = {}
    keys: dict[str, str] = {}
    has_cards, alone = False, []
    for pointer, condition in understood.conditions:
        at = f"{OWN}{'/query' if pointer.startswith('/where') else ''}{pointer}"
        inner, is_excluded = (condition.negated, True) if isinstance(condition, Not) else (condition, False)
        parts = inner.where if isinstance(inner, Exists) else (inner,)
        related = inner.exists if isinstance(inner, Exists) else ""
        if is_excluded:
            alone.append(len(parts) == 1)
            keys[pointer] = _put("exclude", exclude, parts[-1], related, at)
        elif pointer.startswith("/preferred"):
            for each in parts:
                keys[pointer] = _put("should", should, each, related, at)
        else:
            has_cards = has_cards or related == EXPERIENCE
            for n, each in enumerate(parts):
                keys[f"{pointer}/where/{n}" if related else pointer] = _put("must", must, each, related, at)
    if has_cards and alone and all(alone):
        exclude["ever"] = True
    try:
        return Constraints(
            query_original=query,
            must=Must(**must),
            should=Should(**should),
            exclude=Exclude(**exclude),
            like=understood.like or None,
            evidence=[*_evidence(understood, keys, query)],
        )
    except ValidationError as error:
        problems = [FieldError(OWN, f"{each['loc'][-1]}: {each['msg']}") for each in error.errors()]
        raise InvalidInput(problems) from None


def _equal(name: str, values: Sequence[Any]) -> Comparison:
    return Comparison(field=name, value=values[0]) if len(values) == 1 else Comparison(field=name, values=tuple(values))


def _on_cards(must: Must) -> Iterator[tuple[str, Condition]]:
    for role in must.role:
        yield "must.role", Comparison(field="role", op="contains", values=tuple(role.split("|")))
    for name in OF_CARDS:
        value = getattr(must, name)
        if name == "location_text" and value in (must.city, must.country):
            continue  # the same place again
        is_place = name in ("location_text", "city", "country")
        if value not in (None, []) and not (is_place and must.or_preferred_locations):
            yield f"must.{name}", _equal(name, value if isinstance(value, list) else [value])
    for name in ("period", "start_date", "end_date"):
        yield from between(must, name)


def _on_schools(must: Must) -> Iterator[tuple[str, Condition]]:
    if must.school_norm:
        yield "must.school_norm", _equal("company_norm", must.school_norm)


def _on_people(must: Must) -> Iterator[tuple[str, Condition]]:
    if must.or_preferred_locations:
        place = must.city or must.location_text or must.country
        there = [Exists(exists=EXPERIENCE, where=(_equal("location_text", [place]),))] if place else []
        yield "must.location_text", AnyOf.of([*there, _equal("preferred_place", must.or_preferred_locations)])
    if must.name:
        yield "must.name", _equal("name", must.name)
    if must.preferred_locations:
        yield "must.preferred_locations", _equal("preferred_place", must.preferred_locations)
    if must.open_to_work_only:
        yield "must.open_to_work_only", _equal("open_to_work", [True])
    yield from between(must, "salary")
    yield from between(must, "experience_years")
    for text in must.text:
        yield "must.text", Words(words=text)


def _excluded(exclude: Exclude) -> Iterator[tuple[str, Condition]]:
    for name in ("company_norm", "team_norm", "location_text"):
        key = KEYS["exclude"][name]
        for value in getattr(exclude, key):
            yield f"exclude.{key}", _equal(name, [value])
    for word in exclude.keywords:
        yield "exclude.keywords", Words(words=word)
    for name in _FLAGS:
        if (flag := getattr(exclude, name)) is not None:
            yield f"exclude.{name}", _equal(name, [flag])
    yield from (("exclude.time", each) for _, each in between(exclude, "period"))


def _excluding(condition: Condition, required: Sequence[Condition]) -> Condition:
    is_of_person = isinstance(condition, Comparison) and condition.field in OF_PERSON
    return condition if is_of_person else Exists(exists=EXPERIENCE, where=(*required, condition))


def _preferred(should: Should) -> Iterator[tuple[str, Condition]]:
    for name, key in KEYS["should"].items():
        for value in getattr(should, key) if name not in ("city", "country") else ():
            yield f"should.{key}", Exists(exists=EXPERIENCE, where=(_equal(name, [value]),))
    for word in should.keywords:
        yield "should.keywords", Words(words=word)


def between(part: Must | Exclude, name: str) -> Iterator[tuple[str, Condition]]:
    """The condition that a part has on the bounds of a field, if any, with its key."""
    least, most = (getattr(part, each) if each else None for each in MEASURED[name])
    key = f"must.{EVIDENCE_NAMES.get(name, name)}"
    if least is not None and most is not None:
        yield key, Comparison(field=name, op="between", values=(least, most))
    elif least is not None or most is not None:
        yield key, Comparison(field=name, op="<=" if least is None else ">=", value=most if least is None else least)


def _spans(evidence: Sequence[Evidence], entries: Sequence[tuple[str, str, Condition]]) -> Iterator[Span]:
    for each in evidence:
        names = {*each.value.lower().split("|"), *each.value.lower().split(" or ")}
        same = [(at, condition) for at, key, condition in entries if key == each.field]
        exact = (at for at, condition in same if names & {*_texts(condition)})
        at = "/like" if each.field == "like" else next(exact, same[0][0] if same else None)
        if at is not None:
            yield Span(pointer=at, start=each.start, end=each.end)


def _texts(condition: Condition) -> list[str]:
    match innermost(condition):
        case Comparison(scalars=values):
            return [str(each).lower() for each in values]
        case Words(words=words):
            return [words.lower()]
    return []


def _choices(condition: Condition) -> list[Meaning]:
    inner = innermost(condition)
    if isinstance(inner, AnyOf) or (isinstance(inner, Comparison) and inner.field in _FIXED):
        return []
    return [*(DECIDING if isinstance(inner, Comparison) and inner.field in ("is_current", "period") else CHANGEABLE)]


# ---- conditions to constraints ----


def _put(part: str, fields: dict[str, Any], condition: Condition, related: str, at: str) -> str:
    """Put a condition into a part of the constraints. What evidence calls it there."""
    if isinstance(condition, AnyOf) and part == "must":
        for each in condition.any_of:
            of_place = isinstance(each, Exists)
            inner = each.where[0] if isinstance(each, Exists) and each.where else each
            if isinstance(inner, Comparison) and (of_place or inner.field == "preferred_place"):
                _add(Must, fields, "location_text" if of_place else "or_preferred_locations", [*inner.scalars])
        return "must.location_text"
    if isinstance(condition, Words):
        name = "text" if part == "must" else "keywords"
        fields.setdefault(name, []).append(condition.words)
        return f"{part}.{name}"
    if not isinstance(condition, Comparison):
        raise InvalidInput([FieldError(at, "use comparisons, words, and `exists` or `not` around these")])
    return _compared(part, fields, condition, related, at)


def _compared(part: str, fields: dict[str, Any], condition: Comparison, related: str, at: str) -> str:
    name, values = condition.field, [*condition.scalars]
    if name in MEASURED and (part == "must" or (part == "exclude" and name == "period")):
        ends = zip(MEASURED[name], _ends(condition), strict=True)
        fields |= {end: each for end, each in ends if end and each is not None}
        return f"{part}.{EVIDENCE_NAMES.get(name, name)}"
    if name == "role" and part == "must":
        fields.setdefault("role", []).append("|".join(map(str, values)))
        return "must.role"
    key = KEYS[part].get(name, name if part == "must" else "keywords")
    if part == "must" and related == EDUCATION and name == "company_norm":
        key = "school_norm"
    model = _MODELS[part]
    if key not in model.model_fields or (key == "keywords" and name in _FIXED):
        raise InvalidInput([FieldError(at, f"{name} is not a condition that a people search can use here")])
    _add(model, fields, key, [str(each).replace("_", " ") for each in values] if key == "keywords" else values)
    return f"{part}.{key}"


_MODELS: Mapping[str, type[Must | Should | Exclude]] = {"must": Must, "should": Should, "exclude": Exclude}


def _add(model: type[Must | Should | Exclude], fields: dict[str, Any], name: str, values: Sequence[Any]) -> None:
    if model.model_fields[name].get_default() == []:
        fields.setdefault(name, []).extend(map(str, values))
    else:
        fields[name] = values[0] if len(values) == 1 else " or ".join(map(str, values))


def _ends(condition: Comparison) -> tuple[Any, Any]:
    """The least and the most that a condition allows; None for no bound."""
    first, *_, last = [*condition.scalars] * 2
    return None if condition.op == "<=" else first, None if condition.op == ">=" else last


def _evidence(understood: Understood, keys: Mapping[str, str], query: str) -> Iterator[Evidence]:
    for span in understood.spans:
        key = "like" if span.pointer == "/like" else keys.get(span.pointer)
        if key is not None and span.end <= len(query):
            yield Evidence(
                field=key,
                value=query[span.start : span.end].lower(),
                start=span.start,
                end=span.end,
                assertion=ASSERTIONS.get(key.partition(".")[0], "preferred"),
            )


# ---- in words ----

_PARTS_OF_HARD = {
    "city": "location", "country": "location", "location_text": "location", "started": "time", "ended": "time",
}  # fmt: skip
"""The hard constraint that a condition is a part of, if it has another name."""


def hard_labels(constraints: Constraints) -> dict[str, str]:
    """What each hard constraint asks, in words, by its name."""
    must = constraints.must
    labels: dict[str, list[str]] = {}
    for key, condition in (*_on_cards(must), *_on_people(must)):
        name = key.removeprefix("must.")
        labels.setdefault(_PARTS_OF_HARD.get(name, name), []).append(label_of(condition))
    for _, condition in _on_schools(must):
        labels["school_norm"] = [label_of(condition, EDUCATION)]
    if constraints.exclude.open_to_work:
        labels.setdefault("open_to_work_only", [label_of(_equal("open_to_work", [False]))])
    # the first names the place best
    return {name: each[0] if name == "location" else "; ".join(each) for name, each in labels.items()}
