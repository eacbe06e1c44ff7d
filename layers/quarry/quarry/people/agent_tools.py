"""People for agents: public profiles, and the search for callers who allow spending. Contact details are never included. A search
costs a credit, so the tools over all sources only read profiles.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field

from quarry.agent.domain_tools import AgentTemplate, AgentTool
from quarry.people.contract import (
    ExperienceCard,
    PeopleSearchRequest,
    PeopleSearchResponse,
    PersonResult,
    PublicProfile,
    Relaxation,
)
from quarry.people.profiles import public_profile
from quarry.people.search import search_people
from quarry.people.structured import FindPeopleArguments, find_people
from quarry.platform.contract import Request
from quarry.platform.lazy_model import LazyModel
from quarry.platform.off_loop import off_loop
from quarry.platform.text import Identifier, QueryText, left_out
from quarry.services.services import Caller, Services

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
    return _shown(await search_people(PeopleSearchRequest(query=arguments.query), caller, services))


async def _find(arguments: FindPeopleArguments, caller: Caller, services: Services) -> dict[str, Any]:
    fields = arguments.model_dump(mode="json", exclude={"need", "key"}, exclude_defaults=True)
    unasked = await off_loop(left_out, arguments.need, json.dumps(fields, ensure_ascii=False))
    return _shown(await find_people(arguments, caller, services)) | {"unasked": unasked}


def _shown(found: PeopleSearchResponse) -> dict[str, Any]:
    return {
        "search_id": found.search_id,
        "people": [_short(person) for person in found.people],
        "relaxations": [each.model_dump() for each in found.relaxations],
        "charged": found.charged,
        "notice": found.notice,
        "next": "`get` gives the whole profile of one, for nothing. Contact details are unlocked by the user alone.",
    }


def _short(person: PersonResult) -> dict[str, Any]:
    return person.model_dump(mode="json", include={*FoundPerson.model_fields})


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
