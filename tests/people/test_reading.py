"""How queries are read in the light of the data: what becomes hard, what must be true of people, what is ruled out."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quarry.language.word_forms import keys
from quarry.people.contract import Constraints
from quarry.people.search import read_without_model
from quarry.postgres.pool import Database
from tests.conftest import clone_database
from tests.people.cards import add_card, add_person

TODAY = datetime.date(2026, 6, 1)

COMPANIES = (
    "Tarang Pay", "Kosmo Retail", "Nilgiri Systems", "Brightloom", "Thames & Tide", "Fort & Apollo", "Udyan Learning",
    "Vaidya Health Labs", "Straits Freight", "Lakeshore Bank", "Gulmohar Hotels", "Kafka",
)  # fmt: skip
SCHOOLS = (
    "Hooghly University", "St Alban’s College, Mumbai", "National Institute of Computing, Hyderabad",
    "Western Institute of Design",
)  # fmt: skip
SKILLS = (
    "Python", "Kafka", "Go", "SQL", "Figma", "Kubernetes", "GST", "negotiation", "crop insurance", "C++", "C#", "Node.js",
    "hiring", "professional ethics", "machine learning", "labour law", "sales", "Java", "R", "A/B testing", "PHP", "Perl",
)  # fmt: skip
CITIES = ("Pune", "Nakuru", "São Paulo", "Bengaluru", "Mumbai", "Nairobi", "Singapore", "Kochi", "Delhi")
ROLES = ("Backend Engineer", "Product Manager", "Designer", "Nurse", "Lawyer", "Agronomist", "Accountant")
WORK = {"intent_primary": "work", "country": "India"}

Read = Callable[[str], Constraints]


@pytest.fixture(scope="module")
def url(server_url: str, migrated_template: str) -> Iterator[str]:
    """The URL of a database in which these names are known, one card each."""
    with clone_database(server_url, migrated_template) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            cards: list[dict[str, Any]] = [
                *({"company_name": name} for name in COMPANIES),
                *({"company_name": name, "intent_primary": "education"} for name in SCHOOLS),
                *({"team": name, "company_name": "Tarang Pay"} for name in ("Risk", "Checkout")),
                {"team": "Patient Apps", "company_name": "Vaidya Health Labs"},
                *({"city": name} for name in CITIES),
                *({"title": name} for name in ROLES),
                *({"domain": name} for name in ("finance", "healthcare", "software engineering")),
                *({"sub_domain": name} for name in ("backend", "frontend", "supply chain", "payments")),
                *({"seniority_level": name} for name in ("senior", "entry", "manager")),
                *({"employment_type": name} for name in ("freelance", "full_time", "part_time")),
                *({"intent_primary": name} for name in ("teaching", "project", "career_break", "research")),
                {"skills": list(SKILLS)},
                {"country": "Kenya"},
                {"team": "Night Ward", "company_name": "Vaidya Health Labs"},
                {"city": "Remote", "country": None},
                {"skills": ["accounting"]},
                {"skills": ["Spanish"], "country": "Spain"},
            ]
            for number, card in enumerate(cards):
                add_card(connection, f"c{number}", degrees=[], **{**WORK, "title": "Somebody", **card})
            add_card(connection, "hidden", degrees=[], company_name="Secret Pay", visible=False)
            add_person(connection, "ada", name="Ada Wójcik-Moreau", work_preferred_locations=["Remote", "Pune"])
            add_card(connection, "ada-c", "ada", degrees=[])
            add_person(connection, "sam", name="Sam Baker")
            add_card(connection, "sam-c", "sam", degrees=[])
            connection.execute("select refresh_facet_values('people')")
        yield url


@pytest.fixture(scope="module")
def read(url: str) -> Iterator[Read]:
    with asyncio.Runner() as runner:
        database = Database(url, pool_size=1, timeout_seconds=10)

        async def read_one(query: str) -> Constraints:
            return (await read_without_model(query, database, TODAY))[0]

        yield lambda query: runner.run(read_one(query))
        runner.run(database.close())


CURRENT, FORMER = {"is_current": True}, {"is_current": False}
OPEN = {"open_to_work_only": True}


def company(*names: str) -> dict[str, Any]:
    return {"company_norm": list(names)}


def city(name: str, country: str | None = None) -> dict[str, Any]:
    both = {"city": name, "location_text": ", ".join(filter(None, (name, country)))}
    return both | ({"country": country} if country else {})


def country(name: str) -> dict[str, Any]:
    return {"country": name, "location_text": name}


def at_least(years: float) -> dict[str, Any]:
    return {"experience_years_min": float(years)}


def place(text: str) -> dict[str, Any]:
    return {"location_text": text}


def salary(amount: float) -> dict[str, Any]:
    return {"offer_salary_inr_per_year": amount}


def years(first: int | None, last: int | None) -> dict[str, Any]:
    bounds = {"time_start": first and f"{first}-01-01", "time_end": last and f"{last}-12-31"}
    return {name: day for name, day in bounds.items() if day}


@pytest.mark.parametrize(
    ("query", "must"),
    [
        # companies, schools and teams
        ("Tarang Pay risk folks", company("tarang pay") | {"team_norm": ["risk"]}),
        ("product managers from Google, Meta or Amazon", company("google", "meta", "amazon")),
        ("ex-Tarang Pay product managers", company("tarang pay") | FORMER),
        ("Kafka people", {}),
        # places
        ("engineers in bangalore", city("bengaluru")),
        ("midwives in Kenya", country("kenya")),
        ("ready to relocate to Berlin", {"preferred_locations": ["berlin"]}),
        ("nurses in Pune or remote", {"or_preferred_locations": ["remote"]} | city("pune")),
        # times and amounts
        ("at Kosmo Retail 2019-21", company("kosmo retail") | years(2019, 2021)),
        ("INR 80,000/month", salary(960_000)),
        ("managed a 2 crore marketing budget", {}),
        ("nurse with between 4 and 9 years experience", at_least(4) | {"experience_years_max": 9.0}),
        # being available
        ("immediate joiners only", OPEN),
        # what is soft unless the query insists
        ("senior backend engineers in healthcare", {}),
        ("must be senior, in Pune", {"seniority_level": ["senior"]} | city("pune")),
        (
            "ops manager, ex-Straits Freight, Singapore, between Jan 2019 and Mar 2021, 1.2 crore",
            company("straits freight") | city("singapore") | FORMER | salary(12_000_000)
            | {"time_start": "2019-01-01", "time_end": "2021-03-31"},
        ),
    ],
)  # fmt: skip
def test_only_what_a_query_insists_on_is_hard(read: Read, query: str, must: dict[str, Any]) -> None:
    found = {name: value for name, value in read(query).must.model_dump().items() if value not in (None, [])}
    assert {name: value for name, value in found.items() if name not in ("role", "text")} == must


@pytest.mark.parametrize(
    ("query", "excluded"),
    [
        ("ml folks not from Tarang Pay", company("tarang pay")),
        ("product manager, not at Udyan Learning, Bangalore or Nakuru",
         company("udyan learning") | {"location": ["bengaluru", "nakuru"]}),
        ("nurses who neither live in Pune nor in Kenya", {"location": ["pune", "kenya"]}),
        ("engineers without PHP, Perl or Java experience", {"keywords": ["php", "perl", "java"]}),
        ("people excluding freelancers and agencies in Pune", {"keywords": ["freelancers", "freelance", "agencies"]}),
        ("designers not looking for a job right now", {"open_to_work": True}),
        ("nurses who never worked at Tarang Pay", company("tarang pay") | {"ever": True}),
        ("designers who have not ever been at Brightloom", company("brightloom") | {"ever": True}),
        ("nurses who aren't in Pune", {"location": ["pune"]}),
        ("nurses who don't live in Pune", {"location": ["pune"]}),
        ("lawyers in any city but Nairobi", {"location": ["nairobi"]}),
        ("designers who didn't work at Brightloom", company("brightloom")),
        ("a nurse who hasn't worked for Tarang Pay", company("tarang pay")),
        ("accountants from a company other than Kosmo Retail", company("kosmo retail")),
        ("designers from Kosmo Retail instead of Brightloom", company("brightloom")),
        ("lawyers who weren't at Brightloom", company("brightloom")),
        ("which lawyers weren't employed by Brightloom?", company("brightloom")),
        ("nurses who didn't go to Hooghly University", company("hooghly university")),
        ("every nurse but those of Tarang Pay", company("tarang pay")),
        ("lawyers in Nairobi, Kosmo Retail people need not apply", company("kosmo retail")),
        ("not only designers", {}),
        ("no more than 20 LPA", {}),
    ],
)  # fmt: skip
def test_what_is_ruled_out_is_excluded_and_not_required(read: Read, query: str, excluded: dict[str, Any]) -> None:
    constraints = read(query)
    found = {name: value for name, value in constraints.exclude.model_dump().items() if value not in (None, [])}
    assert found == excluded
    must = constraints.must
    asked = {*must.company_norm, *"|".join(must.role).split("|"), must.location_text}
    assert asked.isdisjoint(each for values in excluded.values() if isinstance(values, list) for each in values)


@pytest.mark.parametrize(
    ("query", "like", "name"),
    [
        ("people like Ada Wójcik-Moreau", "ada wójcik-moreau", []),
        ("somebody similar to Sam Baker in Pune", "sam baker", []),
        # somebody whom the data does not know
        ("nurses like Yolanda Brightwater", "yolanda brightwater", []),
        *(
            (question, None, ["sam baker"])
            for question in (
                "who is Sam Baker?",
                "the profile of Sam Baker",
                "contact details for Sam Baker",
                "where does Sam Baker work?",
                "have you got Sam Baker",
                "I'm after Sam Baker",
            )
        ),
    ],
)
def test_a_person_whom_others_should_resemble_is_not_asked_for(
    read: Read, query: str, like: str | None, name: list[str]
) -> None:
    constraints = read(query)
    assert (constraints.like, constraints.must.name) == (like, name)


WORDS = st.sampled_from(
    "not no without only must at from ex- in , . or and & Tarang Pay Kosmo Pune india 2019 2020 since 12 LPA ₹ lakh go C++ team"
    " the senior open to work preferably - -x @ ( ) now".split()
)


READINGS = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@READINGS
@given(st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=200))
def test_any_text_can_be_read(read: Read, query: str) -> None:
    constraints = read(query)
    assert constraints == read(query)
    assert constraints.query_original == query
    assert 0 <= constraints.confidence_score < 1
    assert not set(constraints.exclude.company_norm) & set(constraints.must.company_norm)


CUES = ("not from {}", "but not from {}", "who never worked at {}", "except people at {}", "other than from {}", "excluding {}",
        "without anyone from {}", "and nobody from {}")  # fmt: skip
KNOWN = st.sampled_from(ROLES)


@READINGS
@given(role=KNOWN, place=st.sampled_from(CITIES), name=st.sampled_from(COMPANIES), cue=st.sampled_from(CUES))
def test_who_is_asked_for_is_never_excluded_by_a_word_behind(
    read: Read, role: str, place: str, name: str, cue: str
) -> None:
    found = read(f"{role.lower()}s in {place} {cue.format(name)}")
    assert any(role.lower() in each for each in found.must.role) or found.must.seniority_level
    assert place.lower() in (found.must.location_text or "")
    out = {*found.exclude.company_norm, *found.exclude.keywords}
    assert name.lower() in out
    assert not any(role.lower() in each for each in out)
    assert found.exclude.location == []


@READINGS
@given(
    name=st.sampled_from(["Quolith", "Zentrik Labs", "Vexmoor Guild"]),
    word=st.sampled_from(["must", "only", "strictly"]),
)
def test_what_is_insisted_on_stays_though_no_row_holds_it(read: Read, name: str, word: str) -> None:
    found = read(f"nurses, {word} from {name}")
    insisted = " ".join([*found.must.company_norm, found.must.location_text or "", *found.must.text]).lower()
    assert set(keys(name)) <= set(keys(insisted))
