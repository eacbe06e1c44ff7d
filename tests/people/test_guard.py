"""A model's reading held to what the query says."""

from __future__ import annotations

from typing import Any

import pytest

from quarry.core.contract import Evidence
from quarry.people.contract import Constraints, Exclude, Must
from quarry.people.guard import guarded
from quarry.people.outputs import PeopleQuery


def held(
    query: str, *, read: dict[str, Any] | None = None, excluded: list[str] | None = None, **must: Any
) -> Constraints:
    """What is left of a model's reading of `query`, beside what was read of it in the light of the data."""
    output = PeopleQuery.model_validate(
        {"must": must, "should": {}, "exclude": {"company_norm": excluded or []}, "query_embedding_text": query}
    )
    own = Constraints(
        query_original=query, query_cleaned=query, must=Must(**(read or {})), query_embedding_text="own text"
    )
    return guarded(output, own)


def hard(constraints: Constraints) -> dict[str, Any]:
    return {name: value for name, value in constraints.must.model_dump().items() if value not in (None, [])}


@pytest.mark.parametrize(
    ("query", "must"),
    [
        ("nurses", {"company_norm": ["acme"]}),
        ("nurses", {"city": "pune", "location_text": "pune"}),
        ("nurses", {"time_start": "2019-01-01"}),
        ("nurses", {"offer_salary_inr_per_year": 1_200_000}),
        ("nurses", {"open_to_work_only": True}),
        ("nurses", {"seniority_level": ["senior"], "intent_primary": ["work"]}),
    ],
)
def test_what_the_query_does_not_say_is_dropped(query: str, must: dict[str, Any]) -> None:
    found = held(query, **must)
    assert hard(found) == {}
    assert found.should.keywords == []


@pytest.mark.parametrize(
    ("query", "must", "keywords"),
    [
        ("backend in finance", {"domain": ["finance"], "sub_domain": ["backend"]}, ["finance", "backend"]),
        ("risk people", {"team_norm": ["Risk"]}, ["risk"]),
        ("senior nurses", {"seniority_level": ["senior"]}, ["senior"]),
        ("full-time cooks", {"employment_type": ["full-time"]}, ["full time"]),
    ],
)
def test_what_is_said_without_being_insisted_on_is_soft(query: str, must: dict[str, Any], keywords: list[str]) -> None:
    found = held(query, **must)
    assert hard(found) == {}
    assert found.should.keywords == keywords


@pytest.mark.parametrize(
    ("query", "must", "kept"),
    [
        ("nurses at Acme Tools", {"company_norm": ["acme tools"]}, {"company_norm": ["acme tools"]}),
        ("risk at X", {"team_norm": ["risk"], "company_norm": ["x"]}, {"team_norm": ["risk"], "company_norm": ["x"]}),
        ("nurses in Bombay", {"city": "mumbai"}, {"city": "mumbai", "location_text": "mumbai"}),
        ("nurses since 2019", {"time_start": "2019-01-01"}, {"time_start": "2019-01-01"}),
        ("who is still there", {"is_current": True}, {"is_current": True}),
    ],
)
def test_what_the_query_says_stays(query: str, must: dict[str, Any], kept: dict[str, Any]) -> None:
    assert hard(held(query, **must)) == kept


def test_what_the_model_missed_or_got_wrong_is_as_it_was_read() -> None:
    read = {
        "company_norm": ["acme"],
        "role": ["nurses|nurse"],
        "offer_salary_inr_per_year": 960_000.0,
        "city": "pune",
        "location_text": "pune",
        "domain": ["health"],
    }
    found = held("only health: nurses at Acme, Pune, INR 80,000/month", read=read, offer_salary_inr_per_year=80_000)
    assert hard(found) == read


def test_what_is_ruled_out_is_in_neither_text_nor_constraints() -> None:
    output = PeopleQuery.model_validate(
        {
            "must": {"company_norm": ["acme"]},
            "should": {"keywords": ["acme"]},
            "exclude": {},
            "query_embedding_text": "nurses of Acme",
        }
    )
    evidence = [Evidence(field="exclude.company_norm", value="acme", start=16, end=20, assertion="negated")]
    own = Constraints(
        query_original="nurses not from Acme",
        exclude=Exclude(company_norm=["acme"]),
        query_embedding_text="nurses",
        evidence=evidence,
    )
    found = guarded(output, own)
    assert (found.must, found.should.keywords, found.exclude) == (Must(), [], Exclude(company_norm=["acme"]))
    assert found.query_embedding_text == "nurses"
    assert found.evidence == evidence


def test_a_model_rules_out_only_what_the_query_names() -> None:
    assert held("nurses but not Globex", excluded=["globex", "acme"]).exclude.company_norm == ["globex"]
