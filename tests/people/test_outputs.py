"""What is taken from a model: forgiving in detail, not in the whole."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest
from pydantic import ValidationError
from quarry.people.steps import PEOPLE_QUERY, QueryToRead

from quarry.people.contract import Constraints, Must, Should
from quarry.people.outputs import PeopleQuery, PeopleReasons

EMPTY: dict[str, Any] = {"must": {}, "should": {}, "exclude": {}}


def test_what_a_model_leaves_out_or_gives_as_null_is_empty() -> None:
    given = EMPTY | {
        "must": {"company_norm": None, "domain": "finance", "seniority_level": ["senior", None]},
        "query_embedding_text": None,
        "quotes": None,
        "confidence_score": None,
    }
    query = PeopleQuery.model_validate_json(json.dumps(given))
    assert (query.must.company_norm, query.must.domain, query.must.seniority_level) == ([], ["finance"], ["senior"])
    assert (query.query_embedding_text, query.quotes) == ("", [])


def test_a_value_outside_the_taxonomy_does_not_spoil_the_rest() -> None:
    query = PeopleQuery.model_validate(EMPTY | {"must": {"employment_type": ["gig"], "city": "pune"}})
    assert (query.must.employment_type, query.must.city) == (["gig"], "pune")


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"nonsense": True},
        EMPTY | {"must": None},
        EMPTY | {"must": {"company_norm": [1]}},
        EMPTY | {"must": {"city": "a\x00b"}},
        EMPTY | {"must": {"offer_salary_inr_per_year": "a lot"}},
    ],
)
def test_what_is_no_reading_at_all_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PeopleQuery.model_validate(given)


def test_reasons_without_people_are_refused() -> None:
    with pytest.raises(ValidationError):
        PeopleReasons.model_validate({})


def test_the_fallback_is_what_was_read_in_the_light_of_the_data() -> None:
    own = Constraints(
        query_original="go devs frm kosmo",
        query_cleaned="Go devs from Kosmo",
        must=Must(company_norm=["kosmo retail"], role=["dev"]),
        should=Should(skills_or_tools=["go"]),
    )
    read = read_by_rule(QueryToRead(own.query_original, own.query_cleaned, datetime.date(2026, 6, 1), own))
    assert (read.must.company_norm, read.must.role) == (["kosmo retail"], ["dev"])
    assert read.should.skills_or_tools == ["go"]
