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

from quarry.language.tokens import keys
from quarry.people.contract import Constraints, Exclude
from quarry.people.reading import read_without_model
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
            connection.execute("select refresh_facet_values('people')")
        yield url


@pytest.fixture(scope="module")
def read(url: str) -> Iterator[Read]:
    with asyncio.Runner() as runner:
        database = Database(url, pool_size=1, timeout_seconds=10)

        async def read_one(query: str) -> Constraints:
            return (await read_without_model(query, database, TODAY)).constraints

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


def ended(year: int) -> dict[str, Any]:
    return {"ended_from": f"{year}-01-01", "ended_until": f"{year}-12-31"}


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
        # companies and schools
        ("engineers at Tarang Pay", company("tarang pay")),
        ("worked with kosmo retail on pricing", company("kosmo retail")),
        ("Tarang Pay risk folks", company("tarang pay") | {"team_norm": ["risk"]}),
        ("TarangPay backend people", company("tarang pay")),
        ("Tarrang Pay backend people", company("tarang pay")),
        ("people at Kosmo who know SQL", company("kosmo retail")),
        ("designer from thames and tide", company("thames & tide")),
        ("someone who studied at St Alban's College", company("st alban’s college, mumbai")),
        ("alumni of the National Institute of Computing", company("national institute of computing, hyderabad")),
        ("product managers from Google, Meta or Amazon", company("google", "meta", "amazon")),
        ("engineers working for Initech", company("initech")),
        ("graduates of 2018 from IIT Bombay", company("iit bombay") | ended(2018)),
        ("people from IIT Bombay", company("iit bombay")),
        ("UX @ Brightloom", company("brightloom")),
        ("only from Nilgiri Systems or Tarang Pay", company("nilgiri systems", "tarang pay")),
        ("ex-Tarang Pay product managers", company("tarang pay") | FORMER),
        ("welders, ex Google", company("google") | FORMER),
        ("formerly at Nilgiri Systems", company("nilgiri systems") | FORMER),
        ("people who used to work at Nilgiri Systems", company("nilgiri systems") | FORMER),
        ("who used Kafka at Nilgiri Systems", company("nilgiri systems")),
        ("nurses who do not work at Nilgiri Systems any more", company("nilgiri systems") | FORMER),
        ("people who don't work at Nilgiri Systems anymore", company("nilgiri systems") | FORMER),
        ("no longer at Nilgiri Systems", company("nilgiri systems") | FORMER),
        ("currently at Nilgiri Systems, kubernetes", company("nilgiri systems") | CURRENT),
        ("current employees of Kosmo Retail", company("kosmo retail") | CURRENT),
        ("studied at Hooghly University and now works in data", company("hooghly university")),
        ("at a fintech startup", {}),
        ("from scratch to scale at large banks", {}),
        ("Kafka people", {}),
        ("people at Kafka", company("kafka")),
        ("who worked at night or from home", {}),
        ("experience with Figma and negotiation", {}),
        ("designers like at Kosmo Retail", {}),
        ("people from companies similar to Tarang Pay", {}),
        ("we are hiring for Tarang Pay: a recruiter", {}),
        # teams
        ("in the risk team at Tarang Pay", company("tarang pay") | {"team_norm": ["risk"]}),
        ("Vaidya Health Labs patient apps team", company("vaidya health labs") | {"team_norm": ["patient apps"]}),
        ("led a team of 12 at Kosmo Retail", company("kosmo retail")),
        ("in the risk team", {}),
        # places
        ("engineers in Bengaluru", city("bengaluru")),
        ("engineers in bangalore", city("bengaluru")),
        ("engineers in Bengalore", city("bengaluru")),
        ("lawyers, Bombay", city("mumbai")),
        ("Calcutta or Madras tutors", place("kolkata or chennai")),
        ("nurses from Nakuru", city("nakuru")),
        ("sao paulo agronomist", city("são paulo")),
        ("Pune, India", city("pune", "india")),
        ("Pune or Kenya", place("pune or kenya")),
        ("nurses in Pune or in Kenya", place("pune or kenya")),
        ("nurses in Kenya or Singapore", place("kenya or singapore")),
        ("nurses and lawyers in Pune, India", city("pune", "india")),
        ("London, Canada", city("london", "canada")),
        ("midwives in Kenya", country("kenya")),
        ("US based engineers", country("united states")),
        ("please tell us about welders", {}),
        ("marketing manager in delhi ncr", city("delhi")),
        ("anyone in Kerala who knows ayurveda", place("kerala")),
        ("Kochi, Kerala", city("kochi")),
        ("based in Koramangala", place("koramangala")),
        ("based in Koramangala, Bengaluru", city("bengaluru")),
        ("indoor farming", {}),
        ("ready to relocate to Berlin", {"preferred_locations": ["berlin"]}),
        ("remote", {"preferred_locations": ["remote"]}),
        # times
        ("at Kosmo Retail between 2019 and 2021", company("kosmo retail") | years(2019, 2021)),
        ("at Kosmo Retail 2019-21", company("kosmo retail") | years(2019, 2021)),
        ("Kosmo Retail since March 2020", company("kosmo retail") | {"time_start": "2020-03-01"}),
        ("surgeons before 2018", {"time_end": "2017-12-31"}),
        ("surgeons until 2019", years(None, 2019)),
        ("surgeons since 2015, until 2019", years(2015, 2019)),
        ("surgeons during 2020", years(2020, 2020)),
        ("surgeons, last 2 years", {}),
        ("10+ years of experience", at_least(10)),
        ("team of 2000 people", {}),
        # money
        ("under 50 LPA", salary(5_000_000)),
        ("at Tarang Pay under 20 LPA", company("tarang pay") | salary(2_000_000)),
        ("at Tarang Pay between 1990 and 1995", company("tarang pay") | years(1990, 1995)),
        ("INR 80,000/month", salary(960_000)),
        ("₹18 lakh per year", salary(1_800_000)),
        ("designer 15-20 lpa", salary(2_000_000)),
        ("managed a 2 crore marketing budget", {}),
        ("salary 12", {}),
        ("at least 30 LPA", {}),
        # being available
        ("#OpenToWork designers", OPEN),
        ("Find illustrators available immediately", OPEN),
        ("looking for a job in Jaipur as a receptionist", OPEN | city("jaipur")),
        ("immediate joiners only", OPEN),
        ("designers open for work in Pune", OPEN | city("pune")),
        ("designers currently looking for work", OPEN),
        ("designers who are not looking for work right now", {}),
        # for how long
        ("designers, 10+ yrs", at_least(10)),
        ("designers with a decade of experience", at_least(10)),
        ("designers with a year of experience", at_least(1)),
        ("designers who joined a decade ago", {}),
        ("a designer with at least 8 years of experience", at_least(8)),
        ("designers with over five years under their belt", at_least(5)),
        ("6 years experience as a designer", at_least(6)),
        ("designers who have used Figma for more than 3 years", at_least(3)),
        ("designers, less than 3 years on the job", {"experience_years_max": 3.0}),
        ("nurse with between 4 and 9 years experience", at_least(4) | {"experience_years_max": 9.0}),
        ("a tutor for children under 5 years old", {}),
        ("designers who joined 5 years ago", {}),
        ("a designer for a contract of 2 years", {}),
        ("a designer for a contract of at least 2 years", {}),
        ("people who started their current job in 2024 or later", {"started_from": "2024-01-01"} | CURRENT),
        ("we are looking for a sales role model", {}),
        ("someone not looking for a job", {}),
        # what is soft unless the query insists
        ("freelance illustrator", {}),
        ("senior backend engineers in healthcare", {}),
        ("only freelancers, UX research", {"employment_type": ["freelance"]}),
        ("freelancers only", {"employment_type": ["freelance"]}),
        ("strictly full-time accountants", {"employment_type": ["full_time"]}),
        ("must be senior, in Pune", {"seniority_level": ["senior"]} | city("pune")),
        ("healthcare experience is a must", {"domain": ["healthcare"]}),
        ("must be in supply chain", {"sub_domain": ["supply chain"]}),
        ("must have Kafka", {}),
        ("preferably in Pune, must know kubernetes", {}),
        ("Python required, Pune preferred", {}),
        ("ideally from Tarang Pay", {}),
        ("lead generation", {}),
        ("must know lead generation", {}),
        # all at once
        (
            "backend engineers in Bengaluru who know Kafka and Go, open to work, under 50 LPA",
            city("bengaluru") | OPEN | salary(5_000_000),
        ),
        (
            "ops manager, ex-Straits Freight, Singapore, between Jan 2019 and Mar 2021, 1.2 crore",
            company("straits freight") | city("singapore") | FORMER | salary(12_000_000)
            | {"time_start": "2019-01-01", "time_end": "2021-03-31"},
        ),
        # where they would work, and what they were
        ("remote nurses", {"preferred_locations": ["remote"]}),
        ("nurses in Pune or remote", {"or_preferred_locations": ["remote"]} | city("pune")),
        ("remote or Pune nurses", {"or_preferred_locations": ["remote"]} | city("pune")),
        ("remote senior nurses in Pune", {"preferred_locations": ["remote"]} | city("pune")),
        ("people who worked remotely", {}),
        ("people who worked from home", {}),
        ("people who want to work remotely", {"preferred_locations": ["remote"]}),
        ("nurses who want to work from home", {"preferred_locations": ["remote"]}),
        ("nurses, wfh", {"preferred_locations": ["remote"]}),
        ("nurses willing to move to Pune", {"preferred_locations": ["pune"]}),
        ("former nurses", FORMER),
        ("former nurses in Pune", FORMER | city("pune")),
        ("people who used to be a nurse", FORMER),
        ("", {}),
        ("???", {}),
        ("нужен инженер", {}),
    ],
)  # fmt: skip
def test_only_what_a_query_insists_on_is_hard(read: Read, query: str, must: dict[str, Any]) -> None:
    found = {name: value for name, value in read(query).must.model_dump().items() if value not in (None, [])}
    assert {name: value for name, value in found.items() if name not in ("role", "text")} == must


@pytest.mark.parametrize(
    ("query", "roles"),
    [
        ("nurses and lawyers in Pune", [{"nurses", "lawyers"}]),
        ("nurses or lawyers", [{"nurses", "lawyers"}]),
        ("nurses, lawyers and agronomists", [{"nurses", "lawyers", "agronomists"}]),
        ("both nurses and lawyers", [{"nurses"}, {"lawyers"}]),
        ("someone who is both a nurse and a lawyer", [{"nurse"}, {"lawyer"}]),
        ("machine learning and negotiation", [{"machine learning"}, {"negotiation"}]),
        ("k8s and golang", [{"k8s", "kubernetes"}, {"golang", "go"}]),
        ("freshers in Pune", [{"freshers", "entry"}]),
        ("HR freshers", [{"hr", "human resources"}, {"freshers", "entry"}]),
        ("tutors for maths", [{"tutors", "teaching"}]),
    ],
)
def test_of_two_roles_one_is_enough_unless_both_are_asked_for(read: Read, query: str, roles: list[set[str]]) -> None:
    found = [set(role.split("|")) for role in read(query).must.role]
    assert len(found) == len(roles)
    assert all(said <= names for said, names in zip(roles, found, strict=True))


def test_of_two_employers_one_is_enough_unless_both_are_asked_for(read: Read) -> None:
    both, either = ["tarang pay", "kosmo retail"], "Tarang Pay and Kosmo Retail"
    found = [read(query).must for query in (f"worked at both {either}", f"worked at {either}")]
    assert [(must.company_norm, must.text) for must in found] == [(both, both), (both, [])]


def test_of_two_places_one_is_enough_unless_both_are_asked_for(read: Read) -> None:
    found = [read(query).must for query in ("worked in both Pune and Kenya", "worked in Pune and Kenya")]
    assert [(must.location_text, must.text) for must in found] == [
        ("pune or kenya", ["pune", "kenya"]),
        ("pune or kenya", []),
    ]


def test_neither_verb_nor_verb_rules_both_out(read: Read) -> None:
    found = read("nurses who neither live in Pune nor in Kenya")
    assert (found.exclude.location, found.must.location_text) == (["pune", "kenya"], None)


def test_knowing_is_no_word_that_anybody_misses(read: Read) -> None:
    assert read("somebody who knows Kafka").should.keywords == []


def test_who_is_not_open_to_work_is_asked_for(read: Read) -> None:
    read_as = read("designers not looking for a job right now")
    assert (read_as.exclude.open_to_work, read_as.must.open_to_work_only, read_as.must.is_current) == (True, None, None)


@pytest.mark.parametrize(
    ("query", "must", "exclude"),
    [
        ("nurses who do not currently work at Tarang Pay", {}, company("tarang pay")),
        ("nurses not currently at Tarang Pay", {}, company("tarang pay")),
        ("nurses who currently don't work at Tarang Pay", {}, company("tarang pay")),
        ("worked at Tarang Pay, but not now", company("tarang pay") | FORMER, {}),
        ("nurses who are not currently employed", {}, CURRENT),
        ("nurses between jobs", {}, CURRENT),
        ("currently unemployed nurses", {}, CURRENT),
        ("nurses out of work", {}, CURRENT),
        ("nurses without a job", {}, CURRENT),
        ("no job hoppers", {}, {"keywords": ["job hoppers"]}),
        ("employed nurses", CURRENT, {}),
        ("nurses employed by Tarang Pay", company("tarang pay"), {}),
    ],
)
def test_who_is_not_now_at_work_is_asked_for(
    read: Read, query: str, must: dict[str, Any], exclude: dict[str, Any]
) -> None:
    constraints = read(query)
    found = [part.model_dump(exclude={"role"}) for part in (constraints.must, constraints.exclude)]
    assert [{name: value for name, value in part.items() if value not in (None, [])} for part in found] == [
        must,
        exclude,
    ]


def test_a_described_role_is_an_alternative_to_the_one_before_the_or(read: Read) -> None:
    assert [
        set(role.split("|")) >= {"designer", "nurse"} for role in read("designer or paediatric nurse").must.role
    ] == [True]


def test_a_salary_that_two_readings_tell_is_no_keyword(read: Read) -> None:
    constraints = read("nurse, salary not above 18 lakhs")
    assert constraints.must.offer_salary_inr_per_year == 1_800_000
    assert constraints.should.keywords == []


@pytest.mark.parametrize(
    ("query", "companies", "keywords"),
    [
        ("ml folks not from Tarang Pay", ["tarang pay"], []),
        ("not from Tarang Pay, Kosmo Retail, python", ["tarang pay", "kosmo retail"], []),
        ("nobody from Initech or Globex please", ["initech", "globex"], ["initech", "globex"]),
        ("product manager, not at Udyan Learning, Bangalore or Nakuru", ["udyan learning"], ["bengaluru", "nakuru"]),
        ("data people minus Kosmo Retail", ["kosmo retail"], []),
        ("anyone except Kosmo Retail folks", ["kosmo retail"], []),
        ("engineers without PHP, Perl or Java experience", [], ["php", "perl", "java"]),
        ("people excluding freelancers and agencies in Pune", [], ["freelancers", "freelance", "agencies"]),
        ("C++ low latency, no Java", [], ["java"]),
        ("tax consultant gst -agency", [], ["agency"]),
        ("people with no agency background in Pune", [], ["agency background"]),
        ("no cold calling", [], ["cold calling"]),
        ("nurses without night duty", [], ["night duty"]),
        ("growth marketers outside India", [], ["india"]),
        ("not based in Delhi", [], ["delhi"]),
        ("not a manager, hands-on", [], ["manager"]),
        ("without PHP and with Go", [], ["php"]),
        ("engineers who don't know Kafka", [], ["kafka"]),
        ("engineers with no experience in Kafka", [], ["kafka"]),
        ("not only designers", [], []),
        ("no experience required", [], []),
        ("no more than 20 LPA", [], []),
        ("part-time, non-profit", [], ["profit"]),
        ("backend payments, not Sridhar Kamalakannan", [], ["sridhar kamalakannan"]),
    ],
)
def test_what_is_ruled_out_is_excluded(read: Read, query: str, companies: list[str], keywords: list[str]) -> None:
    constraints = read(query)
    assert constraints.exclude.company_norm == companies
    assert sorted([*constraints.exclude.keywords, *constraints.exclude.location]) == sorted(keywords)
    assert not set(companies) & set(constraints.must.company_norm)


@pytest.mark.parametrize(
    ("query", "skills", "keywords", "intents"),
    [
        ("who know Kafka and Go", ["kafka", "go"], [], []),
        ("k8s and golang on a platform", ["kubernetes", "go"], ["platform"], []),
        ("C++, C# and node.js, A/B testing", ["c++", "c#", "node.js", "a/b testing"], [], []),
        ("statisticians who use R", ["r"], ["statisticians"], []),
        ("let's go to the zoo", [], ["zoo"], []),
        ("senior ML folks", ["machine learning"], [], []),
        ("freelance potters", [], ["potters"], []),
        ("in the risk team", [], [], []),
        ("who taught maths", [], ["maths"], ["teaching"]),
        ("career break returners", [], ["returners"], ["career_break"]),
        ("surgeons, last 2 years", [], ["last 2 years", "surgeons"], []),
        ("salary 12 for tutors", [], ["12"], ["teaching"]),
        ("welders ready to move to Berlin", [], ["welders"], []),
        ("ex Tarang Pay", [], [], []),
        ("previously at Tarang Pay", [], [], []),
        ("employees of Tarang Pay", [], [], []),
        ("who is the best?", [], ["best"], []),
    ],
)
def test_what_is_left_raises_the_rank(
    read: Read, query: str, skills: list[str], keywords: list[str], intents: list[str]
) -> None:
    should = read(query).should
    assert sorted(should.skills_or_tools) == sorted(skills)
    assert sorted(should.keywords) == sorted(keywords)
    assert should.intent_secondary == intents


def test_a_preferred_employer_and_a_preferred_place_raise_the_rank(read: Read) -> None:
    should = read("preferably in Pune, ideally ex-Tarang Pay").should
    assert (should.company_norm, should.location, should.keywords) == (["tarang pay"], ["pune"], [])


def test_the_text_to_embed_is_what_the_query_is_about(read: Read) -> None:
    query = "Find backend engineers at Tarang Pay in Pune, Kafka, not from Kosmo Retail, under 20 LPA, open to work"
    assert read(query).query_embedding_text == "backend engineers Kafka Tarang Pay Pune"


def test_a_reading_is_the_surer_the_more_of_the_query_is_recognised(read: Read) -> None:
    known, half, unknown = (read(query).confidence_score for query in ("Kafka in Pune", "kafka zzyzx", "zzyzx qwxyz"))
    assert 0 < unknown < half < known < 1
    assert read("").confidence_score == 0


def test_an_adjective_of_a_place_is_the_skill_that_is_called_so(read: Read) -> None:
    skilled, living = read("either Spanish or Kafka tutors"), read("tutors in Spain")
    assert [constraints.must.location_text for constraints in (skilled, living)] == [None, "spain"]
    assert skilled.must.role[0] == "spanish|kafka"


@pytest.mark.parametrize(
    ("query", "keywords", "about"),
    [
        ("a designer with at least 8 years of experience in Pune", [], "designer Pune"),
        ("8+ years' work experience as a designer", [], "designer"),
        ("experience of at least 8 years as a designer", [], "designer"),
        ("designers, 8 yrs exp", [], "designers"),
        ("8 years of professional experience as a nurse", [], "nurse"),
        ("8 years of wool experience", ["wool"], "wool"),
    ],
)
def test_words_that_only_say_that_years_are_of_work_are_no_topic(
    read: Read, query: str, keywords: list[str], about: str
) -> None:
    constraints = read(query)
    assert (constraints.should.keywords, constraints.query_embedding_text) == (keywords, about)
    assert constraints.must.experience_years_min == 8.0


def test_who_knows_something_is_not_yet_called_so(read: Read) -> None:
    assert read("accountants").must.role == ["accountants|accountant"]


def test_the_facet_that_is_asked_about_is_not_what_the_query_is_about(read: Read) -> None:
    constraints = read("which skill is most common among nurses in Pune?")
    assert constraints.query_embedding_text == "nurses Pune"
    assert read("anyone with the skill of negotiation").query_embedding_text == "skill negotiation"


NAMES = st.lists(st.sampled_from([name.lower() for name in COMPANIES[:6]]), max_size=2, unique=True)
MONEY = st.integers(2, 90).map(lambda lakh: (f"up to {lakh} LPA", lakh * 100_000.0)) | st.integers(20, 400).map(
    lambda thousand: (f"INR {thousand},000/month", thousand * 12_000.0)
)
SPANS = st.tuples(st.integers(1990, 2020), st.integers(0, 9)).map(lambda years: (years[0], years[0] + years[1]))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    companies=NAMES,
    excluded=st.sampled_from([name.lower() for name in COMPANIES[9:11]]) | st.none(),
    city_name=st.sampled_from(["pune", "bengaluru", "nairobi", "são paulo"]) | st.none(),
    span=SPANS | st.none(),
    money=MONEY | st.none(),
    available=st.booleans(),
    skills=st.lists(st.sampled_from(["python", "kafka", "kubernetes", "crop insurance"]), max_size=3, unique=True),
    upper=st.booleans(),
)
def test_constraints_put_into_words_are_read_again(
    read: Read,
    companies: list[str],
    excluded: str | None,
    city_name: str | None,
    span: tuple[int, int] | None,
    money: tuple[str, float] | None,
    available: bool,
    skills: list[str],
    upper: bool,
) -> None:
    parts = [
        f"{'people' if not skills else ' and '.join(skills)}",
        *([f"at {' or '.join(name.title() if upper else name for name in companies)}"] if companies else []),
        *([f"in {city_name.title() if upper else city_name}"] if city_name else []),
        *([f"between {span[0]} and {span[1]}"] if span else []),
        *([f"not from {excluded}"] if excluded else []),
        *([money[0]] if money else []),
        *(["open to work"] if available else []),
    ]
    constraints = read(", ".join(parts))
    must = constraints.must
    assert must.company_norm == companies
    assert constraints.exclude.company_norm == ([excluded] if excluded else [])
    assert must.city == city_name
    assert (must.time_start, must.time_end) == ((f"{span[0]}-01-01", f"{span[1]}-12-31") if span else (None, None))
    assert must.offer_salary_inr_per_year == (money[1] if money else None)
    assert must.open_to_work_only is (True if available else None)
    assert constraints.should.skills_or_tools == skills


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
@given(role=KNOWN, name=st.sampled_from(COMPANIES))
def test_where_no_word_excludes_nothing_is_excluded(read: Read, role: str, name: str) -> None:
    assert read(f"{role} people who have been with {name} in Meridian").exclude == Exclude()


@READINGS
@given(
    name=st.sampled_from([each for each in COMPANIES if " " in each]),
    other=st.sampled_from(["Quolith", "Corvus", "Oakhollow", "Zephyrine"]),
    is_first=st.booleans(),
    is_lower=st.booleans(),
    data=st.data(),
)
def test_one_shared_word_makes_no_known_organisation_of_an_unknown_one(
    read: Read, name: str, other: str, is_first: bool, is_lower: bool, data: st.DataObject
) -> None:
    shared = data.draw(st.sampled_from([word for word in name.split() if word.isalpha()]))
    unknown = f"{other} {shared}" if is_first else f"{shared} {other}"
    found = read(f"people at {unknown.lower() if is_lower else unknown}")
    assert {*map(str.lower, COMPANIES)}.isdisjoint(found.must.company_norm)


@READINGS
@given(
    word=st.sampled_from(["for", "under", "around", "about", "at", "up to", "budget", "salary", "ctc", "offering", "max",
                          "approximately", "roughly", "upto", "we pay", "package of", "cost", "within", "of"]),
    lakhs=st.integers(3, 90),
    unit=st.sampled_from(["LPA", "lakhs", "lakh a year", "lpa"]),
)  # fmt: skip
def test_no_word_before_an_amount_loses_it(read: Read, word: str, lakhs: int, unit: str) -> None:
    found = read(f"nurses in Pune, {word} {lakhs} {unit}")
    offered = found.must.offer_salary_inr_per_year
    # "around" reaches a fifth farther
    assert (offered and 1 <= offered / (lakhs * 100_000) <= 1.21) or str(lakhs) in " ".join(found.should.keywords)


@READINGS
@given(
    name=st.sampled_from(["Quolith", "Zentrik Labs", "Vexmoor Guild"]),
    word=st.sampled_from(["must", "only", "strictly"]),
)
def test_what_is_insisted_on_stays_though_no_row_holds_it(read: Read, name: str, word: str) -> None:
    found = read(f"nurses, {word} from {name}")
    insisted = " ".join([*found.must.company_norm, found.must.location_text or "", *found.must.text]).lower()
    assert set(keys(name)) <= set(keys(insisted))
