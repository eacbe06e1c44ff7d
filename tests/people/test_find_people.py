"""The search for people with structured arguments: what is refused before anything is charged, and what is found."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from quarry.people.agent_tools import AGENT_TOOLS, FindPeopleArguments, find_people
from quarry.people.contract import PeopleSearchResponse
from quarry.platform.errors import InvalidInput
from quarry.platform.settings import Settings
from quarry.services.services import Caller, Services, build_services
from tests.people.factories import ledger, somebody
from tests.people.world import PERSON_IDS, cards

KESTREL = {card["person_id"] for card in cards() if card["company_name"] == "Kestrel Labs"}
NEED = "backend engineers at Kestrel Labs in Pune, but not from Harbour Foods"


@pytest.fixture
async def services(world_url: str) -> AsyncIterator[Services]:
    services = build_services(Settings.from_environment({"DATABASE_URL": world_url}))
    yield services
    await services.close()


async def find(services: Services, user: str | None = None, need: str = NEED, **given: Any) -> PeopleSearchResponse:
    arguments = FindPeopleArguments.model_validate({"need": need} | given)
    return await find_people(arguments, Caller(user or somebody()), services)


def condition(field: str, value: Any, words: str) -> dict[str, Any]:
    return {"field": field, "value": value, "words": words}


async def test_conditions_with_their_words_are_searched_for_one_credit(services: Services, world_url: str) -> None:
    user = somebody()
    given: dict[str, Any] = {
        "must": [
            condition("company", "kestrel labs", "at Kestrel Labs"),
            condition("role", "backend engineer", "Backend Engineers"),
        ],
        "exclude": condition("company", "Harbour Foods", "not from Harbour Foods"),
        "should": ["payments"],
        "key": "once",
    }  # fmt: skip
    found = await find(services, user, **given)
    assert next(person.id for person in found.people if not person.misses) in KESTREL
    assert found.constraints.exclude.company_norm == ["harbour foods"]
    assert ("must.company_norm", "Kestrel Labs") in {(each.field, each.value) for each in found.constraints.evidence}
    assert (await find(services, user, **given)).search_id == found.search_id
    assert ledger(world_url, user) == [10, -1]


@pytest.mark.parametrize(
    ("given", "pointer", "told"),
    [
        ({"must": [condition("city", "Pune", "in Poona")]}, "/must/0/words", "does not say"),
        ({"must": [condition("city", "Pune", "")]}, "/must/0/words", "does not say"),
        ({"must": [condition("company", "Kestral Labs", "Kestrel Labs")]}, "/constraints/must/company_norm", "Kestrel Labs"),
        # a place of the world that nobody here was in
        ({"must": [condition("city", "Reykjavik", "Pune")]}, "/constraints/must/city", "Reykjavik"),
        ({"must": [condition("seniority", "senor", "backend")]}, "/constraints/must/seniority_level", "did you mean 'senior'"),
        ({"must": [condition("salary_at_most", "much", "Pune")]}, "/must", "takes a number"),
        ({"exclude": [condition("salary_at_most", 10, "Pune")]}, "/exclude/0/field", "cannot be excluded"),
        ({"exclude": [condition("company", "Globex", "Harbour Foods")]}, "/constraints/exclude/company_norm", "Globex"),
        ({"like": "Nobody Else"}, "/like", "nobody here is called"),
    ],
)  # fmt: skip
async def test_what_the_need_does_not_say_or_the_data_lacks_is_refused_for_nothing(
    services: Services, world_url: str, given: dict[str, Any], pointer: str, told: str
) -> None:
    user = somebody()
    with pytest.raises(InvalidInput) as refused:
        await find(services, user, **given)
    [error] = refused.value.errors
    assert error.pointer == pointer
    assert told in error.message
    assert ledger(world_url, user) in ([], [10])


async def test_a_value_that_the_words_of_a_role_seem_to_state_is_only_preferred(services: Services) -> None:
    given = [
        condition("role", "backend engineer", "backend engineers"),
        condition("domain", "software engineering", "engineers"),
    ]
    found = await find(services, must=given)
    assert (found.constraints.must.domain, found.constraints.should.keywords) == ([], ["software engineering"])
    assert not any(each.constraint == "domain" for each in found.relaxations)


async def test_others_like_a_person_are_found_by_what_that_person_does(services: Services) -> None:
    found = await find(services, need="people like Engineer 01", like="Engineer 01")
    assert found.people
    assert PERSON_IDS[1] not in {person.id for person in found.people}
    # Engineer 01 builds warehouse robots
    assert "warehouse robots" in (found.people[0].matched_cards[0].summary or "")


@pytest.mark.parametrize(
    ("need", "given"),
    [
        ("beekeepers in Pune", {"must": [condition("role", "beekeeper", "beekeepers")]}),
        ("beekeepers in Pune", {"should": ["beekeepers"], "must": [condition("city", "Pune", "in Pune")]}),
        ("backend engineers who are notaries",
         {"must": [condition("role", "backend engineer", "backend engineers"), condition("role", "notary", "notaries")]}),
    ],
)  # fmt: skip
async def test_where_nobody_has_the_role_those_near_are_shown_for_nothing(
    services: Services, world_url: str, need: str, given: dict[str, Any]
) -> None:
    user = somebody()
    found = await find(services, user, need, **given)
    assert (found.charged, ledger(world_url, user)) == (False, [10])
    assert found.people
    assert all(person.misses for person in found.people)
    assert "Nothing was charged" in (found.notice or "")


async def test_words_of_the_need_that_no_condition_has_are_named(services: Services) -> None:
    tool = next(each for each in AGENT_TOOLS if each.name == "find_people")
    arguments = FindPeopleArguments.model_validate(
        {"need": NEED, "must": [condition("role", "backend engineer", "backend engineers")]}
    )
    told = await tool.run(arguments, Caller(somebody()), services)
    assert told["unasked"] == ["kestrel", "labs", "pune", "harbour", "foods"]
