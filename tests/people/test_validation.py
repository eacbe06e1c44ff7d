"""A model's reading of a query, checked against its words."""

from __future__ import annotations

from typing import Any

import pytest

from quarry.people.contract import Constraints, PeopleQuery
from quarry.people.interpretation import check_against_query


def held(query: str, *, cleaned: str = "", quotes: dict[str, str] | None = None, **parts: Any) -> Constraints:
    """What is left of a model's reading of `query`."""
    said = [{"key": key, "words": words} for key, words in (quotes or {}).items()]
    output = PeopleQuery.model_validate({"must": {}, "should": {}, "exclude": {}, "quotes": said} | parts)
    return check_against_query(output, query, cleaned or query)[0]


def hard(constraints: Constraints) -> dict[str, Any]:
    return {name: value for name, value in constraints.must.model_dump().items() if value not in (None, [])}


def evidence(constraints: Constraints) -> list[tuple[str, str, str]]:
    text = constraints.query_original
    return [(each.field, text[each.start : each.end], each.assertion) for each in constraints.evidence]


@pytest.mark.parametrize(
    "must",
    [
        {"company_norm": ["acme"]},
        {"city": "pune", "location_text": "pune", "time_start": "2019-01-01", "offer_salary_inr_per_year": 1_200_000},
        {"experience_years_min": 5, "open_to_work_only": True, "is_current": False},
        {"seniority_level": ["senior"], "intent_primary": ["work"], "role": ["doctor|physician"]},
    ],
)
def test_what_no_words_say_is_dropped(must: dict[str, Any]) -> None:
    found = held("nurses", must=must, should={"keywords": ["kind"], "skills_or_tools": ["triage"]})
    assert hard(found) == {}
    assert (found.should.keywords, found.should.skills_or_tools, found.evidence) == ([], [], [])
    assert hard(held("nurses", must=must, quotes={f"must.{key}": "at Acme in Pune" for key in must})) == {}


@pytest.mark.parametrize(
    ("query", "must", "kept"),
    [
        ("senior people in finance only", {"seniority_level": ["senior"], "domain": ["finance"]}, None),
        ("nurses in Bombay", {"city": "mumbai"}, {"city": "mumbai", "location_text": "mumbai"}),
        ("full-time cooks since 2019", {"time_start": "2019-01-01", "employment_type": ["full_time"]}, None),
        ("cooks, available immediately", {"open_to_work_only": True}, None),
        ("a registered nurse", {"role": ["rn|registered nurse"]}, None),
        (
            "Chennai or remote",
            {"city": "Chennai", "or_preferred_locations": ["Remote"]},
            {"city": "chennai", "location_text": "chennai", "or_preferred_locations": ["remote"]},
        ),
    ],
)
def test_what_the_words_say_is_as_the_model_reads_it(
    query: str, must: dict[str, Any], kept: dict[str, Any] | None
) -> None:
    assert hard(held(query, must=must)) == (kept or must)


def test_words_that_are_quoted_say_what_they_are_quoted_for() -> None:
    found = held(
        "ML folks who left TCS, INR 80,000/month",
        must={"company_norm": ["tata consultancy services"], "is_current": False, "offer_salary_inr_per_year": 960_000},
        should={"keywords": ["machine learning", "artificial intelligence"]},
        quotes={"must.company_norm": "tcs", "must.is_current": "left", "should.keywords": "ML",
                "must.offer_salary_inr_per_year": "INR 80,000/month"},
    )  # fmt: skip
    assert hard(found) == {
        "company_norm": ["tata consultancy services"], "is_current": False, "offer_salary_inr_per_year": 960_000.0,
    }  # fmt: skip
    assert ("must.company_norm", "TCS", "affirmed") in evidence(found)
    assert ("should.keywords", "ML", "preferred") in evidence(found)


def test_the_characters_are_those_of_the_query_as_it_was_typed() -> None:
    found = held("backned enginer in Pune", cleaned="backend engineer in Pune", must={"role": ["backend engineer"]})
    assert evidence(found) == [("must.role", "backned enginer", "affirmed")]
    found = held("backendengineer", cleaned="backend engineer", must={"role": ["backend engineer"]})
    assert evidence(found) == [("must.role", "backendengineer", "affirmed")]


def test_what_is_ruled_out_is_neither_wanted_nor_embedded() -> None:
    found = held(
        "nurses not from Acme",
        must={"role": ["nurse"], "company_norm": ["acme"]},
        exclude={"company_norm": ["acme", "globex"], "keywords": ["managers"]},
        query_embedding_text="nurses of Acme",
    )
    assert hard(found) == {"role": ["nurse"]}
    assert (found.exclude.company_norm, found.exclude.keywords) == (["acme"], [])
    assert found.query_embedding_text == "nurse"
    assert ("exclude.company_norm", "Acme", "negated") in evidence(found)


@pytest.mark.parametrize("key", ["exclude.ever", "exclude.location", "exclude.keywords"])
def test_words_that_are_quoted_for_what_is_excluded_carry_that_it_never_was(key: str) -> None:
    excluded = {"location": ["pune"], "ever": True}
    found = held("nurses who never worked in Pune", exclude=excluded, quotes={key: "never worked in Pune"})
    assert (found.exclude.location, found.exclude.ever) == (["pune"], True)


def test_never_needs_words_of_the_exclusion() -> None:
    assert held("nurses", exclude={"ever": True}, quotes={"must.role": "nurses"}).exclude.ever is None
