"""How a question is read by rule: counts, statuses, stages, years, sizes, places, tags, topic."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quarry.companies.constraints import Range
from quarry.companies.contract import ChatMessage
from quarry.companies.demands import COUNT_MAX
from quarry.companies.places import country, spellings
from quarry.companies.reading import Reading, read_follow_up, read_question
from quarry.companies.taxonomy import ALL_CATEGORIES, BUSINESS_MODELS, SECTORS
from quarry.companies.vocabulary import EVERYDAY_NAMES


def tags(reading: Reading, *, demanded: bool | None = None) -> set[str]:
    return {tag.name for group in reading.groups if demanded in (None, group.demanded) for tag in group.tags}


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("top 5 fintech companies", 5),
        ("show me three climate startups", 3),
        ("list 12 insurers", 12),
        ("the best two banks", 2),
        ("seven companies like Harbor", 7),
        ("give me a few startups", 3),
        ("100 startups", 20),
        ("show me 0 startups", 1),
        ("startups with 5 employees", None),
        ("founded in 2020", None),
        ("companies for one person", None),
        ("3Fold", None),
    ],
)  # fmt: skip
def test_the_number_wanted(question: str, count: int | None) -> None:
    assert read_question(question).count == count


@pytest.mark.parametrize(
    ("question", "statuses"),
    [
        ("acquired fintech companies", ("acquired",)),
        ("banks that have been acquired", ("acquired",)),
        ("public companies in insurance", ("public",)),
        ("publicly traded insurers", ("public",)),
        ("listed insurers", ("public",)),
        ("robotics companies that went public", ("public",)),
        ("defunct drone startups", ("closed",)),
        ("drone makers that went out of business", ("closed",)),
        ("shops that shut down", ("closed",)),
        ("failed startups in education", ("closed",)),
        ("startups that failed", ("closed",)),
        ("closed or acquired banks", ("acquired", "closed")),
        ("banks, also acquired ones", ("startup", "acquired")),
        ("banks including those that closed", ("startup", "closed")),
        ("banks of any status", ("startup", "acquired", "public", "closed")),
        ("banks that are still active", ("startup",)),
        ("public transit planning", ()),
        ("closed-loop recycling", ()),
        ("failed payments recovery", ()),
        ("startups that recover failed payments", ()),
        ("tools for public schools", ()),
        ("fintech startups", ()),
    ],
)
def test_the_statuses_named(question: str, statuses: tuple[str, ...]) -> None:
    assert read_question(question).statuses == statuses


@pytest.mark.parametrize(
    ("question", "field", "value"),
    [
        ("seed stage banks", "funding_stages", {"seed"}),
        ("seed startups", "funding_stages", {"seed"}),
        ("seed companies for farmers", "funding_stages", {"seed"}),
        ("companies that sell seed to farmers", "funding_stages", set()),
        ("pre-seed startups", "funding_stages", {"pre_seed"}),
        ("Series A or B banks", "funding_stages", {"series_a"}),
        ("series-b banks", "funding_stages", {"series_b"}),
        ("Series C or later", "funding_stages", {"series_c", "growth", "public"}),
        ("series a or earlier", "funding_stages", {"pre_seed", "seed", "series_a"}),
        ("bootstrapped banks", "funding_stages", {"bootstrapped"}),
        ("banks founded in 2020", "founded", Range(2020, 2020)),
        ("banks founded after 2019", "founded", Range(2020, None)),
        ("banks since 2019", "founded", Range(2019, None)),
        ("banks founded in 2020 or later", "founded", Range(2020, None)),
        ("banks started before 2010", "founded", Range(None, 2009)),
        ("founded between 2015 and 2018", "founded", Range(2015, 2018)),
        ("older than 2000", "founded", Range(None, 1999)),
        ("a bank for 2020 people", "founded", Range()),
        ("more than 80 employees", "employees", Range(81, None)),
        ("with at least 1,000 staff", "employees", Range(1000, None)),
        ("with fewer than 50 people", "employees", Range(None, 49)),
        ("no more than 50 employees", "employees", Range(None, 50)),
        ("50+ employees", "employees", Range(50, None)),
        ("at least 10 and at most 20 employees, under 20 staff", "employees", Range(None, 20)),
        ("raised more than $20M", "raised", Range(20_000_000, None)),
        ("that raised less than 5 million", "raised", Range(None, 5_000_000)),
        ("with over $1.5bn in funding", "raised", Range(1_500_000_000, None)),
        ("raised more than 5 kids", "raised", Range()),
    ],
)
def test_demands_on_fields(question: str, field: str, value: Any) -> None:
    assert getattr(read_question(question).constraints, field) == value


@pytest.mark.parametrize(
    ("question", "countries"),
    [
        ("banks in Germany", {"Germany"}),
        ("German banking startups", {"Germany"}),
        ("startups from the UK", {"United Kingdom"}),
        ("startups in the us", {"United States"}),
        ("US startups", {"United States"}),
        ("help us find startups", set()),
        ("only the British ones", {"United Kingdom"}),
        ("startups in Denmark or Sweden", {"Denmark", "Sweden"}),
        ("Baltic startups", {"Estonia", "Latvia", "Lithuania"}),
        ("Polish startups", {"Poland"}),
        ("companies that polish floors", set()),
        ("startups for African farmers", set()),
        ("startups selling to Germany", set()),
        ("startups in South Korea", {"South Korea"}),
        ("startups based in the Netherlands", {"Netherlands"}),
        ("seed stage Danish and Swedish fintech companies", {"Denmark", "Sweden"}),
        ("startups teaching French", set()),
        ("companies helping German hospitals", set()),
        ("logistics in Germany", {"Germany"}),
    ],
)
def test_the_countries_that_companies_are_to_be_in(question: str, countries: set[str]) -> None:
    assert read_question(question).constraints.countries == countries


@pytest.mark.parametrize(
    ("question", "excluded"),
    [
        ("startups outside the US", {"United States"}),
        ("banks, but companies not in France", {"France"}),
        ("companies, except in France", {"France"}),
        ("companies like that but in France", set()),
    ],
)
def test_the_countries_that_companies_are_not_to_be_in(question: str, excluded: set[str]) -> None:
    assert read_question(question).constraints.excluded_countries == excluded


@pytest.mark.parametrize(
    ("question", "cities"),
    [
        ("startups in Berlin", {"berlin"}),
        ("banks from New York", {"new york"}),
        ("banks in Berlin or Leeds", {"berlin", "leeds"}),
        ("startups in Germany", set()),
        ("startups in Healthcare", set()),
        ("in SaaS", set()),
        ("banks in berlin", set()),
    ],
)  # fmt: skip
def test_the_cities_that_companies_are_to_be_in(question: str, cities: set[str]) -> None:
    assert read_question(question).constraints.cities == cities


def test_regions_are_their_countries() -> None:
    europe = read_question("startups in Europe").constraints
    assert {"Germany", "United Kingdom", "Norway"} <= europe.countries
    assert "Canada" not in europe.countries
    assert list(europe.described()) == ["in Europe"]
    assert read_question("startups in the EU").constraints.countries < europe.countries


def test_a_country_is_known_under_its_other_spellings() -> None:
    assert {country(name) for name in ("USA", "us", " United States ", "United states of America")} == {"United States"}
    assert country("Atlantis") == "Atlantis"
    assert set(spellings("Czechia")) == {"czechia", "czech republic"}


@pytest.mark.parametrize("name", [*SECTORS, *ALL_CATEGORIES, *BUSINESS_MODELS])
def test_every_value_of_the_taxonomy_has_a_name(name: str) -> None:
    assert (name in tags(read_question(f"{name} companies"))) or name.lower() in EVERYDAY_NAMES


@pytest.mark.parametrize(
    ("question", "demanded", "named"),
    [
        ("insurtech startups", {"Insurance"}, {"Insurance"}),
        ("car insurance", {"Auto Insurance"}, {"Auto Insurance"}),
        (
            "drone or self-driving companies",
            {"Drone Delivery", "Autonomous Driving"},
            {"Drone Delivery", "Autonomous Driving"},
        ),
        ("tools for developers", set(), {"Developer & Data Infrastructure"}),
        (
            "open source companies selling to developers",
            {"Open Core"},
            {"Open Core", "Developer & Data Infrastructure"},
        ),
        ("software companies", set(), {"SaaS"}),
        ("something about submarines", set(), set()),
    ],
)
def test_a_name_demands_its_tag_where_it_says_what_companies_are(
    question: str, demanded: set[str], named: set[str]
) -> None:
    read = read_question(question)
    assert tags(read, demanded=True) == demanded
    assert tags(read) >= named


def test_a_tag_that_is_not_wanted_is_excluded() -> None:
    read = read_question("climate companies without hardware")
    assert {tag.name for tag in read.excluded} == {"Hardware", "Hardware plus Software"}
    assert tags(read) == {"Climate & Energy"}
    assert read_question("climate companies with not just hardware").excluded == ()


@pytest.mark.parametrize(
    ("question", "topic", "plain"),
    [
        ("show me the top 5 fintech companies in Germany founded after 2018", "fintech", True),
        ("who is building things for submarines?", "submarines", False),
        ("robots you can lease out", "robots you can lease", True),
        ("only the British ones", "", False),
        ("startups", "", False),
    ],
)
def test_the_topic_is_what_is_left(question: str, topic: str, plain: bool) -> None:
    read = read_question(question)
    assert (read.topic, read.plain) == (topic, plain)


@pytest.mark.parametrize(
    ("question", "narrows"),
    [("only the British ones", True), ("which of these sell hardware", True), ("just those in Leeds", True),
     ("fintech in Leeds", False), ("restaurants", False)],
)  # fmt: skip
def test_a_question_may_speak_of_what_was_shown(question: str, narrows: bool) -> None:
    assert read_question(question).narrows is narrows


def test_a_follow_up_without_a_topic_has_the_latest_one() -> None:
    history = [
        ChatMessage(role="user", content="solar companies"),
        ChatMessage(role="assistant", content="Wind companies are nice."),
        ChatMessage(role="user", content="only in Spain"),
    ]
    read = read_follow_up("and in Italy?", history)
    assert (read.topic, tags(read), set(read.constraints.countries)) == ("solar", {"Solar"}, {"Italy"})
    assert read_follow_up("banks in Italy", history).topic == "banks"
    assert read_follow_up("and in Italy?", []).topic == ""


@given(st.text(max_size=300))
def test_any_text_can_be_read(question: str) -> None:
    read = read_question(question)
    assert read.topic == read.topic.lower()
    assert read.count is None or 1 <= read.count <= COUNT_MAX
    assert list(read.constraints.described()) or not read.constraints
    assert read == read_question(question)


@pytest.mark.parametrize(
    "piece",
    ["that ", "that have been ", "in A", "in A or ", "raised $1", "1,", "9", "founded from 2000 ", "not the ", "series a or ",
     "more than 1 ", "🦀 "],
)  # fmt: skip
def test_no_question_takes_long_to_read(piece: str) -> None:
    started = time.process_time()
    read_question((piece * 2000)[:2000])
    assert time.process_time() - started < 0.3
