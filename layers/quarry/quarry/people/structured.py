"""The search for people with structured arguments, for agents and models: the paid search from the embedding on.

Each condition names the words of the need that it rests on. One without, or with a value that the data lacks, is refused before
anything is charged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, WithJsonSchema

from quarry.people.contract import Constraints, Exclude, Must, PeopleSearchRequest, PeopleSearchResponse, Should
from quarry.people.normalisation import ASSERTIONS, weakened
from quarry.people.retrieval import check_constraints, check_places, load_profiles
from quarry.people.search import search_people
from quarry.platform.contract import Evidence, Request
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.text import CleanText, QueryText
from quarry.query.algebra import OneOrMany
from quarry.runs.idempotency import KeyText
from quarry.services.services import Caller, Services

REQUIRED: Mapping[str, str] = {
    "role": "role", "words": "text", "name": "name", "company": "company_norm", "school": "school_norm", "team": "team_norm",
    "city": "city", "country": "country", "place": "location_text", "since": "time_start", "until": "time_end",
    "current": "is_current", "open_to_work": "open_to_work_only", "would_work_in": "preferred_locations",
    "salary_at_most": "offer_salary_inr_per_year", "years_at_least": "experience_years_min",
    "years_at_most": "experience_years_max", "seniority": "seniority_level", "employment": "employment_type",
    "domain": "domain", "sub_domain": "sub_domain", "kind": "intent_primary",
}  # fmt: skip
"""The field of `must` for each field of a condition."""
EXCLUDED: Mapping[str, str] = {
    "role": "keywords", "words": "keywords", "company": "company_norm", "school": "company_norm", "team": "team_norm",
    "city": "location", "country": "location", "place": "location", "since": "time_start", "until": "time_end",
    "current": "is_current", "open_to_work": "open_to_work",
}  # fmt: skip
PLACES = ("city", "country", "place")

PersonField = Literal[
    "role", "words", "name", "company", "school", "team", "city", "country", "place", "since", "until", "current",
    "open_to_work", "would_work_in", "salary_at_most", "years_at_least", "years_at_most", "seniority", "employment",
    "domain", "sub_domain", "kind",
]  # fmt: skip


class PersonCondition(Request):
    """A condition on a person or on one experience of theirs."""

    field: PersonField
    value: CleanText | StrictBool | StrictInt | StrictFloat
    words: CleanText = Field(description="The words of `need` that say so, as they stand there.")


# the description says what they are in fewer words than a schema
Conditions = Annotated[
    tuple[PersonCondition, ...], OneOrMany, WithJsonSchema({"type": "array", "items": {"type": "object"}})
]


class FindPeopleArguments(Request):
    """Arguments of `find_people`."""

    need: QueryText = Field(description="In the user's own words.")
    must: Conditions = Field(
        default=(),
        max_length=20,
        description="Each {field, value, words}: the words of `need` that say so. Fields: role (nurse|rn), words, name, company, "
        "school, team, city, country, place, since and until (YYYY-MM-DD), current, open_to_work, would_work_in, "
        "salary_at_most (INR a year), years_at_least, years_at_most, seniority, employment, domain, sub_domain, kind.",
    )
    should: Annotated[tuple[CleanText, ...], OneOrMany] = Field(
        default=(), max_length=20, description="Raise the rank."
    )
    exclude: Conditions = Field(default=(), max_length=20, description="As `must`, in a required role.")
    ever: StrictBool = Field(default=False, description="Of any experience: never.")
    like: CleanText | None = Field(default=None, description="A person to resemble, by name.")
    key: KeyText | None = Field(default=None, description="The same key and arguments are charged once.")


async def find_people(arguments: FindPeopleArguments, caller: Caller, services: Services) -> PeopleSearchResponse:
    """The people who fit best, for one credit if there are any. Raises InvalidInput for a condition without words of the need and
    for values that the data lacks, with the nearest; and what `search_people` raises.
    """
    constraints = weakened(constraints_of(arguments))
    await check_constraints(constraints, "", services.reader)
    await check_places(constraints, services.reader)
    if arguments.like and not await load_profiles(services.reader, arguments.like):
        raise InvalidInput(
            [FieldError("/like", f"nobody here is called {arguments.like!r}; `name` is of one person, whole")]
        )
    request = PeopleSearchRequest(query=arguments.need, constraints=constraints)
    return await search_people(request, caller, services, idempotency_key=arguments.key)


def constraints_of(arguments: FindPeopleArguments) -> Constraints:
    """The conditions as constraints, with the characters of the need that state them. Raises InvalidInput for one without."""
    evidence: list[Evidence] = []
    must = _payload("must", arguments.must, REQUIRED, arguments.need, evidence)
    exclude = _payload("exclude", arguments.exclude, EXCLUDED, arguments.need, evidence)
    return Constraints(
        query_original=arguments.need,
        must=Must(**must),
        should=Should(keywords=list(arguments.should)),
        exclude=Exclude(**exclude, ever=arguments.ever or None),
        like=arguments.like,
        evidence=evidence,
    )


def _payload(
    part: str, conditions: Sequence[PersonCondition], names: Mapping[str, str], need: str, evidence: list[Evidence]
) -> dict[str, Any]:
    model = Must if part == "must" else Exclude
    fields: dict[str, Any] = {}
    errors: list[FieldError] = []
    places = [str(each.value) for each in conditions if each.field in PLACES]
    for place, each in enumerate(conditions):
        name = names.get(each.field)
        start = need.casefold().find(each.words.strip().casefold()) if each.words.strip() else -1
        if name is None:
            errors.append(
                FieldError(f"/{part}/{place}/field", f"{each.field} cannot be excluded; use {', '.join(names)}")
            )
        elif start < 0:
            advice = (
                f"`need` does not say {each.words!r}: quote the words that ask for this {each.field}, or leave it out"
            )
            errors.append(FieldError(f"/{part}/{place}/words", advice))
        else:
            if part == "must" and each.field in PLACES and len(places) > 1:
                name = "location_text"  # any of them
                fields[name] = " or ".join(places)
            elif model.model_fields[name].get_default() == []:
                fields.setdefault(name, []).append(str(each.value))
            else:
                fields[name] = _value(each)
            evidence.append(
                Evidence(
                    field=f"{part}.{name}", value=str(each.value).lower(), start=start,
                    end=start + len(each.words.strip()), assertion=ASSERTIONS[part],
                )
            )  # fmt: skip
    if errors:
        raise InvalidInput(errors)
    return fields


def _value(condition: PersonCondition) -> Any:
    """The value of a field that takes one: a number, a switch or a text."""
    value = condition.value
    if condition.field in ("current", "open_to_work") and isinstance(value, str):
        return value.strip().lower() == "true"
    if condition.field in ("salary_at_most", "years_at_least", "years_at_most"):
        try:
            return float(value)
        except ValueError:
            raise InvalidInput([FieldError("/must", f"{condition.field} takes a number, not {value!r}")]) from None
    return value if isinstance(value, bool) else str(value)
