"""People for agents and as a chat model: public profiles, and the paid search. For agents who allow spending it takes structured
arguments, and starts with the embedding. Contact details are never included. A search costs a credit, so the tools over all
sources only read profiles; every answer of the chat model is a search.

Each condition names the words of the need that it rests on. One without, or with a value that the data lacks, is refused before
anything is charged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictFloat, StrictInt, WithJsonSchema

from quarry.agent.completions import Chat, ChatAnswer
from quarry.agent.domain_tools import AgentTemplate, AgentTool
from quarry.language.messages import gettext, ngettext, writing
from quarry.people.access import public_profile
from quarry.people.constraints import ASSERTIONS
from quarry.people.contract import (
    FALLBACK_TIERS,
    Constraints,
    Exclude,
    ExperienceCard,
    Must,
    PeopleSearchRequest,
    PeopleSearchResponse,
    PersonResult,
    PublicProfile,
    Relaxation,
    Should,
)
from quarry.people.interpretation import with_weak_preferred
from quarry.people.retrieval import check_constraints, load_profiles
from quarry.people.search import search_people
from quarry.platform.contract import Evidence, LazyModel, Request
from quarry.platform.errors import FieldError, InvalidInput
from quarry.platform.off_loop import off_loop
from quarry.platform.text import CleanText, Identifier, QueryText, left_out, shorten
from quarry.runs.idempotency import KeyText
from quarry.schema.algebra import OneOrMany
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
    constraints = with_weak_preferred(constraints_of_arguments(arguments))
    await check_constraints(constraints, "", services.reader, keeps_places=False)
    if arguments.like and not await load_profiles(services.reader, arguments.like):
        raise InvalidInput(
            [FieldError("/like", f"nobody here is called {arguments.like!r}; `name` must be one full name")]
        )
    request = PeopleSearchRequest(query=arguments.need, constraints=constraints)
    return await search_people(request, caller, services, idempotency_key=arguments.key)


def constraints_of_arguments(arguments: FindPeopleArguments) -> Constraints:
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


# ---- profiles, and what agents are told ----

INSTEAD_OF_SEARCH = "use find_people, which costs a credit; counts and groups of people come from `query`"
"""What an agent is told that searches people as it does other sources."""


async def read_whole(name: str, id: str, caller: Caller, services: Services) -> dict[str, Any]:
    """The public profile of one person. Raises NotFound and DatabaseUnavailable."""
    return (await public_profile(id, services.reader)).model_dump(mode="json")


class GetPersonArguments(Request):
    """Arguments of `get_person`."""

    id: Identifier = Field(description="The person's id, as a search gave it.")


class SearchPeopleArguments(Request):
    """Arguments of `search_people`."""

    query: QueryText = Field(
        description="Who is wanted, in plain words: what they do, where, for whom they work or worked, what they know."
    )


class FoundPerson(LazyModel):
    """A person, why they were found, and the conditions that they meet and miss."""

    id: str
    name: str | None
    headline: str | None
    similarity_percent: int | None
    why_matched: list[str]
    open_to_work: bool
    open_to_contact: bool
    matched_cards: list[ExperienceCard]
    meets: list[str]
    misses: list[str]


class FoundPeople(LazyModel):
    """At most five people, best first; who misses something is only near. `relaxations`: how many more there would be without a
    condition. `notice`: what could not be done. `unasked`: words of `need` that no condition has.
    """

    search_id: str
    people: list[FoundPerson]
    relaxations: list[Relaxation] = []
    charged: bool = True
    notice: str | None = None
    unasked: list[str] = []
    next: str = ""


async def _get(arguments: GetPersonArguments, caller: Caller, services: Services) -> dict[str, Any]:
    return await read_whole("", arguments.id, caller, services)


async def _search(arguments: SearchPeopleArguments, caller: Caller, services: Services) -> dict[str, Any]:
    return _result(await search_people(PeopleSearchRequest(query=arguments.query), caller, services))


async def _find(arguments: FindPeopleArguments, caller: Caller, services: Services) -> dict[str, Any]:
    fields = arguments.model_dump(mode="json", exclude={"need", "key"}, exclude_defaults=True)
    unasked = await off_loop(left_out, arguments.need, json.dumps(fields, ensure_ascii=False))
    return _result(await find_people(arguments, caller, services)) | {"unasked": unasked}


def _result(response: PeopleSearchResponse) -> dict[str, Any]:
    return {
        "search_id": response.search_id,
        "people": [each.model_dump(mode="json", include={*FoundPerson.model_fields}) for each in response.people],
        "relaxations": [each.model_dump() for each in response.relaxations],
        "charged": response.charged,
        "notice": response.notice,
        "next": "`get` gives the whole profile of one, for nothing. Contact details are unlocked by the user alone.",
    }


AGENT_TOOLS = (
    AgentTool(
        "get_person",
        "Get a person's profile",
        "What everyone may see of one person: headline, bio, and experience with its details, by id. Contact details are not "
        "among it.",
        GetPersonArguments,
        PublicProfile,
        _get,
        is_former=True,
    ),
    AgentTool(
        "find_people",
        "Find people",
        "At most five people for a need, with reasons and what each misses. COSTS THE USER ONE CREDIT if anybody is shown.",
        FindPeopleArguments,
        FoundPeople,
        _find,
        route_class="model",
        spends=True,
        unlisted=frozenset({"key"}),
    ),
    AgentTool(
        "search_people",
        "Search people, for a credit",
        "The same as find_people, with the need in plain words alone.",
        SearchPeopleArguments,
        FoundPeople,
        _search,
        route_class="model",
        spends=True,
        is_former=True,
    ),
)

AGENT_TEMPLATES = (
    AgentTemplate("quarry://people/{id}", "person", "A person", "What everyone may see of one person.", read_whole),
)


LINE_CHARACTERS_MAX = 300


async def complete(chat: Chat) -> ChatAnswer:
    """The people found, with reasons and without contact details. Raises what `search_people` raises."""
    response = await search_people(
        PeopleSearchRequest(query=chat.question),
        chat.caller,
        chat.services,
        idempotency_key=chat.idempotency_key,
        request_id=chat.request_id,
        run_id=chat.run_id,
    )
    return _completion(response)


async def _completion(response: PeopleSearchResponse) -> ChatAnswer:
    for piece in in_words(response):
        yield piece


def in_words(response: PeopleSearchResponse) -> Iterator[str]:
    """The answer in Markdown, one piece for each person."""
    count = len(response.people)
    if count:
        yield ngettext("{number} person, best first.", "{number} people, best first.", count)
    else:
        yield response.notice or gettext("Nobody fits.")
    if count and response.fallback_tier:
        yield " " + gettext("Too few fit exactly: {tier}.", tier=gettext(FALLBACK_TIERS[response.fallback_tier]))
    for place, person in enumerate(response.people, start=1):
        yield "\n\n" + "\n".join(_lines(place, person))
    if response.relaxations:
        yield "\n\n" + gettext("With one condition less:") + "\n\n"
        yield "\n".join(
            "- "
            + gettext(
                "{label}: {number} more", label=_one_line(each.label), number=writing().number(each.additional_people)
            )
            for each in response.relaxations
        )
    if response.charged:
        text = gettext(
            "Search {id}, for one credit. Contact details are unlocked in Quarry itself.", id=response.search_id
        )
        yield f"\n\n{text}"


def _lines(place: int, person: PersonResult) -> Iterator[str]:
    headline = f": {_one_line(person.headline)}" if person.headline else ""
    yield f"{place}. **{_one_line(person.name or person.id)}**{headline}"
    for reason in person.why_matched:
        yield f"   - {_one_line(reason)}"
    if person.misses:
        yield "   - " + gettext("Does not meet: {conditions}", conditions=_one_line("; ".join(person.misses)))


def _one_line(text: str) -> str:
    return shorten(text, LINE_CHARACTERS_MAX)
