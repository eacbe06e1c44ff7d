"""How a query for people was understood, as conditions of a Query over people, and such conditions back as constraints. Pure.

What must be true of one experience stands together in one `exists`. An experience that is excluded is one that also meets what is
required of it, unless the query says never.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from quarry.language.word_forms import STOP_WORDS, keys, stem, word_forms
from quarry.people.contract import Constraints, Exclude, Must, Should
from quarry.people.facets import COLLECTION
from quarry.people.normalisation import ASSERTIONS
from quarry.people.sources import PHRASES
from quarry.platform.contract import Evidence
from quarry.platform.errors import FieldError, InvalidInput
from quarry.query.contract import CHANGEABLE, DECIDING, OWN, ConditionChip, Meaning, Understood
from quarry.schema.algebra import AnyOf, Comparison, Condition, Exists, Not, Query, Scalar, Span, Words

EXPERIENCE, EDUCATION = "experience", "education"
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
MUST = {"preferred_place": "preferred_locations", "open_to_work": "open_to_work_only"}
SHOULD = {"company_norm": "company_norm", "team_norm": "team_norm", "location_text": "location", "city": "location",
          "country": "location", "skills": "skills_or_tools", "intent_secondary": "intent_secondary"}  # fmt: skip
EXCLUDE = {"company_norm": "company_norm", "team_norm": "team_norm", "location_text": "location", "city": "location",
           "country": "location", "is_current": "is_current", "open_to_work": "open_to_work"}  # fmt: skip
_FLAGS = ("is_current", "open_to_work")
_FIXED = frozenset((*OF_PERSON, "start_date", "end_date", "experience_years", "salary"))
"""Fields that are not required instead of excluded, or the other way round."""


def understood_of(constraints: Constraints) -> Understood:
    """Constraints as the conditions that they are."""
    must, exclude = constraints.must, constraints.exclude
    cards, person = [*_on_cards(must)], [*_on_people(must)]
    schools = [*_on_schools(must)]
    placed: list[tuple[str, str, Condition]] = []
    where: list[Condition] = []
    for related, parts in ((EXPERIENCE, cards), (EDUCATION, schools)):
        if parts:
            placed += [(f"/where/{len(where)}/where/{n}", key, each) for n, (key, each) in enumerate(parts)]
            where.append(Exists(exists=related, where=tuple(each for _, each in parts)))
    required = () if exclude.ever else tuple(each for _, each in cards)
    without = [(key, Not(negated=_excluding(each, required))) for key, each in _excluded(exclude)]
    for key, condition in (*person, *without):
        placed.append((f"/where/{len(where)}", key, condition))
        where.append(condition)
    preferred = [*_preferred(constraints.should)]
    placed += [(f"/preferred/{n}", key, each) for n, (key, each) in enumerate(preferred)]
    chips = [
        ConditionChip(
            label=label_of(each, EDUCATION if key == "must.school_norm" else EXPERIENCE),
            pointer=at,
            choices=_choices(each),
        )
        for at, key, each in placed
    ]
    if constraints.like:
        chips.append(ConditionChip(label=constraints.like, pointer="/like"))
    return Understood(
        query=Query(source=COLLECTION.name, where=tuple(where)),
        preferred=tuple(each for _, each in preferred),
        like=constraints.like or "",
        chips=chips,
        spans=[*_spans(constraints.evidence, placed)],
    )


def constraints_of(read: Understood, query: str) -> Constraints:
    """The conditions of a request as constraints. Raises InvalidInput for what a search for people cannot ask."""
    must: dict[str, Any] = {}
    should: dict[str, Any] = {}
    exclude: dict[str, Any] = {}
    keys: dict[str, str] = {}
    has_cards, alone = False, []
    for pointer, condition in read.conditions:
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
        made = Must(**must), Should(**should), Exclude(**exclude)
    except ValidationError as error:
        problems = [FieldError(OWN, f"{each['loc'][-1]}: {each['msg']}") for each in error.errors()]
        raise InvalidInput(problems) from None
    return Constraints(
        query_original=query,
        must=made[0],
        should=made[1],
        exclude=made[2],
        like=read.like or None,
        evidence=[*_evidence(read, keys, query)],
    )


# ---- constraints to conditions ----


def _equal(name: str, values: Sequence[Any]) -> Comparison:
    return Comparison(field=name, value=values[0]) if len(values) == 1 else Comparison(field=name, values=tuple(values))


def _on_cards(must: Must) -> Iterator[tuple[str, Condition]]:
    for role in must.role:
        yield "must.role", Comparison(field="role", op="contains", values=tuple(role.split("|")))
    for name in OF_CARDS:
        value = getattr(must, name)
        is_place = name in ("location_text", "city", "country")
        if name == "location_text" and value in (must.city, must.country):
            continue  # the same place again
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
    for name, written in (("company_norm", "company_norm"), ("team_norm", "team_norm"), ("location", "location_text")):
        for value in getattr(exclude, name):
            yield f"exclude.{name}", _equal(written, [value])
    for word in exclude.keywords:
        yield "exclude.keywords", Words(words=word)
    for name in _FLAGS:
        if (is_so := getattr(exclude, name)) is not None:
            yield f"exclude.{name}", _equal(name, [is_so])
    yield from (("exclude.time", each) for _, each in between(exclude, "period"))


def _excluding(condition: Condition, required: Sequence[Condition]) -> Condition:
    is_of_person = isinstance(condition, Comparison) and condition.field in OF_PERSON
    return condition if is_of_person else Exists(exists=EXPERIENCE, where=(*required, condition))


def _preferred(should: Should) -> Iterator[tuple[str, Condition]]:
    for written, name in _WRITTEN:
        for value in getattr(should, name):
            yield f"should.{name}", Exists(exists=EXPERIENCE, where=(_equal(written, [value]),))
    for word in should.keywords:
        yield "should.keywords", Words(words=word)


_WRITTEN = (
    ("skills", "skills_or_tools"),
    ("intent_secondary", "intent_secondary"),
    ("company_norm", "company_norm"),
    ("team_norm", "team_norm"),
    ("location_text", "location"),
)


def between(part: Must | Exclude, name: str) -> Iterator[tuple[str, Condition]]:
    """The condition that a part has on the bounds of a field, if any, with its key."""
    least, most = (getattr(part, each) if each else None for each in MEASURED[name])
    key = f"must.{EVIDENCE_NAMES.get(name, name)}"
    if least is not None and most is not None:
        yield key, Comparison(field=name, op="between", values=(least, most))
    elif least is not None or most is not None:
        yield key, Comparison(field=name, op="<=" if least is None else ">=", value=most if least is None else least)


def _spans(evidence: Sequence[Evidence], placed: Sequence[tuple[str, str, Condition]]) -> Iterator[Span]:
    for each in evidence:
        names = {*each.value.lower().split("|"), *each.value.lower().split(" or ")}
        same = [(at, condition) for at, key, condition in placed if key == each.field]
        exact = (at for at, condition in same if names & {*_texts(condition)})
        at = "/like" if each.field == "like" else next(exact, same[0][0] if same else None)
        if at is not None:
            yield Span(pointer=at, start=each.start, end=each.end)


def _texts(condition: Condition) -> Iterator[str]:
    match condition:
        case Comparison():
            yield from (str(each).lower() for each in condition.scalars)
        case Words():
            yield condition.words.lower()
        case Not():
            yield from _texts(condition.negated)
        case Exists() if condition.where:
            yield from _texts(condition.where[-1])


def _choices(condition: Condition) -> list[Meaning]:
    inner = condition.negated if isinstance(condition, Not) else condition
    inner = inner.where[-1] if isinstance(inner, Exists) and inner.where else inner
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
                _add(Must, fields, "location_text" if of_place else "or_preferred_locations", _values(inner))
        return "must.location_text"
    if isinstance(condition, Words):
        name = "text" if part == "must" else "keywords"
        fields.setdefault(name, []).append(condition.words)
        return f"{part}.{name}"
    if not isinstance(condition, Comparison):
        raise InvalidInput([FieldError(at, "use comparisons, words, and `exists` or `not` around these")])
    return _compared(part, fields, condition, related, at)


def _compared(part: str, fields: dict[str, Any], condition: Comparison, related: str, at: str) -> str:
    name, values = condition.field, _values(condition)
    if name in MEASURED and (part == "must" or (part == "exclude" and name == "period")):
        ends = MEASURED[name]
        fields |= {end: each for end, each in zip(ends, _ends(condition), strict=True) if end and each is not None}
        return f"{part}.{EVIDENCE_NAMES.get(name, name)}"
    model, known = _PARTS[part]
    if name == "role" and part == "must":
        fields.setdefault("role", []).append("|".join(map(str, values)))
        return "must.role"
    written = MUST.get(name, name) if known is None else known.get(name, "keywords")
    if known is None and related == EDUCATION and name == "company_norm":
        written = "school_norm"
    if written in _UNKNOWN_IN_MUST:
        written = "text"
    if written not in model.model_fields or (written == "keywords" and name in _FIXED):
        raise InvalidInput([FieldError(at, f"{name} is not a condition that a people search can use here")])
    _add(model, fields, written, [str(each).replace("_", " ") for each in values] if written == "keywords" else values)
    return f"{part}.{written}"


_PARTS: Mapping[str, tuple[type[Must | Should | Exclude], Mapping[str, str] | None]] = {
    "must": (Must, None),
    "should": (Should, SHOULD),
    "exclude": (Exclude, EXCLUDE),
}
_UNKNOWN_IN_MUST = frozenset(("skills", "intent_secondary"))


def _add(model: type[Must | Should | Exclude], fields: dict[str, Any], name: str, values: Sequence[Any]) -> None:
    if model.model_fields[name].get_default() == []:
        fields.setdefault(name, []).extend(map(str, values))
    else:
        fields[name] = values[0] if len(values) == 1 else " or ".join(map(str, values))


def _values(condition: Comparison) -> list[Any]:
    return [*condition.scalars]


def _ends(condition: Comparison) -> tuple[Any, Any]:
    """The least and the most that a condition allows; None for no bound."""
    first, *_, last = [*condition.scalars] * 2
    return None if condition.op == "<=" else first, None if condition.op == ">=" else last


def _evidence(read: Understood, keys: Mapping[str, str], query: str) -> Iterator[Evidence]:
    letters = query
    for span in read.spans:
        key = "like" if span.pointer == "/like" else keys.get(span.pointer)
        if key is not None and span.end <= len(letters):
            yield Evidence(
                field=key,
                value=letters[span.start : span.end].lower(),
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


def label_of(condition: Condition, related: str = EXPERIENCE) -> str:
    """A condition in words, whether it is required, preferred or excluded: "at Tarang Pay"."""
    match condition:
        case Not():
            return label_of(condition.negated)
        case Exists() if condition.where:
            return label_of(condition.where[-1], condition.exists)
        case AnyOf():
            return PHRASES.say("or").join(label_of(each) for each in condition.any_of)
        case Words():
            return condition.words
        case Comparison():
            is_school = related == EDUCATION and condition.field == "company_norm"
            name = "school_norm" if is_school else condition.field
            values = tuple(_in_capitals(name, condition.scalars))
            return PHRASES.condition(condition.model_copy(update={"field": name, "value": None, "values": values}))
    return ""


def _in_capitals(name: str, values: Sequence[Scalar]) -> Iterable[Scalar]:
    """The values as people write them. The names of a role are called by the first of each."""
    if name == "role":
        return roles_of(map(str, values))
    field = PHRASES.source.fields.get(name)
    is_name = field is not None and field.facet in ("name", "place")
    return map(titled, map(str, values)) if is_name else values


def titled(name: str) -> str:
    """A lower-case name with capitals."""
    return " ".join(
        part if place and (part in STOP_WORDS or part in ("de", "da")) else part[:1].upper() + part[1:]
        for place, part in enumerate(name.split())
    )


def roles_of(names: Iterable[str]) -> dict[str, list[str]]:
    """The different roles among the names of one, each with its own names."""
    roles: dict[str, list[str]] = {}
    for name in names:
        roles.setdefault(next((first for first in roles if _is_of_role(name, first)), name), []).append(name)
    return roles


def _is_of_role(name: str, role: str) -> bool:
    """Whether a name is of a role: in another form ("designers", "design"), or more specific ("backend engineer")."""
    words, role_words = keys(name), keys(role)
    if not (words and role_words):
        return False
    family = {stem(form) for form in (role_words[-1], *word_forms(role_words[-1]))}
    return {stem(word) for word in role_words[:-1]} <= {stem(word) for word in words} and any(
        stem(word) in family for word in words
    )
