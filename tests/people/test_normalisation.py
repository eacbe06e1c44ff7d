"""Constraints in their one form, whoever read the query."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry.people.constraints import NAMES_MAX, normalise
from quarry.people.contract import Constraints, Exclude, Must, Should
from quarry.people.interpretation import cleaned_query


def normalised(*, should: Should | None = None, exclude: Exclude | None = None, **must: Any) -> Constraints:
    given = Must(**must)
    return normalise(
        Constraints(query_original="x", must=given, should=should or Should(), exclude=exclude or Exclude())
    )


@pytest.mark.parametrize(
    ("must", "kept", "keywords"),
    [
        ({"company_norm": [" Tarang  Pay ", "TARANG PAY", ""]}, {"company_norm": ["tarang pay"]}, []),
        ({"employment_type": ["Full-time", "Self employed"]}, {"employment_type": ["full_time", "self_employed"]}, []),
        ({"seniority_level": ["wizard"], "intent_primary": ["magic"]}, {}, ["wizard"]),
        ({"city": "Poona"}, {"city": "pune", "location_text": "pune"}, []),
        ({"city": "Pune", "country": "Republic of India", "location_text": "there"},
         {"city": "pune", "country": "india", "location_text": "there"}, []),
        ({"time_start": "2022", "time_end": "2019-03"}, {"time_start": "2019-03-01", "time_end": "2022-12-31"}, []),
        ({"time_start": "2020-03", "time_end": "present"}, {"time_start": "2020-03-01"}, []),
        ({"time_start": "2020-02-30"}, {}, ["2020-02-30"]),
        ({"offer_salary_inr_per_year": 1_200_000}, {"offer_salary_inr_per_year": 1_200_000}, []),
        ({"offer_salary_inr_per_year": 12}, {}, ["salary 12"]),
        ({"offer_salary_inr_per_year": math.nan}, {}, []),
        ({"or_preferred_locations": ["Remote"]}, {"preferred_locations": ["remote"]}, []),
    ],
)  # fmt: skip
def test_values_have_one_form_and_what_is_none_is_kept_as_a_keyword(
    must: dict[str, Any], kept: dict[str, Any], keywords: list[str]
) -> None:
    found = normalised(**must)
    assert (found.must, found.should.keywords) == (Must(**kept), keywords)


@pytest.mark.parametrize(
    ("original", "answer", "cleaned"),
    [
        ("backned dev", '"backend dev"', "backend dev"),
        ("12 LPA", "20 LPA", "12 LPA"),
        ("dev", "", "dev"),
        ("dev", "Sure! Here is the cleaned query that you asked me to write for you: dev", "dev"),
    ],
)
def test_a_tidied_query_counts_only_if_it_is_still_the_query(original: str, answer: str, cleaned: str) -> None:
    assert cleaned_query(original, answer) == cleaned


TEXT = st.text(max_size=12) | st.sampled_from(
    [
        "senior",
        "Freelance",
        "finance",
        "Bangalore",
        "india",
        "2020",
        "2019-02",
        "2020-02-31",
        "present",
        "acme",
        "ACME ",
    ]
)
TEXTS = st.lists(TEXT, max_size=4)


@settings(max_examples=50)
@given(
    must=st.builds(
        Must, company_norm=TEXTS, intent_primary=TEXTS, domain=TEXTS, employment_type=TEXTS, location_text=st.none() | TEXT,
        city=st.none() | TEXT, time_start=st.none() | TEXT, time_end=st.none() | TEXT,
        offer_salary_inr_per_year=st.none() | st.floats(), role=TEXTS,
    ),
    should=st.builds(Should, skills_or_tools=TEXTS, keywords=st.lists(TEXT, max_size=30)),
    exclude=st.builds(Exclude, company_norm=TEXTS, keywords=TEXTS),
)  # fmt: skip
def test_normalising_twice_is_normalising_once_and_nothing_ruled_out_is_asked_for(
    must: Must, should: Should, exclude: Exclude
) -> None:
    once = normalise(Constraints(query_original="x", must=must, should=should, exclude=exclude))
    assert normalise(once) == once
    asked = {*once.must.company_norm, *once.must.domain, *once.should.keywords, once.must.city}
    assert asked.isdisjoint([*once.exclude.company_norm, *once.exclude.keywords])
    assert all(len(values) <= NAMES_MAX for values in (once.should.keywords, once.must.domain))
