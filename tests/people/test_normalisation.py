"""Constraints in their one form, whoever read the query."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quarry.people.contract import Constraints, Exclude, Must, Should
from quarry.people.normalisation import NAMES_MAX, cleaned_query, normalise


def normalised(
    query: str = "people", *, should: Should | None = None, exclude: Exclude | None = None, **must: Any
) -> Constraints:
    return normalise(
        Constraints(
            query_original=query,
            query_cleaned=query,
            must=Must(**must),
            should=should or Should(),
            exclude=exclude or Exclude(),
        )
    )


def test_names_are_lower_case_trimmed_and_there_once() -> None:
    found = normalised(
        company_norm=[" Tarang  Pay ", "TARANG PAY", ""],
        should=Should(keywords=["Go", "go ", " "], skills_or_tools=["C++"]),
    )
    assert found.must.company_norm == ["tarang pay"]
    assert (found.should.keywords, found.should.skills_or_tools) == (["go"], ["c++"])


@pytest.mark.parametrize(
    ("query", "must", "kept", "keywords"),
    [
        ("freelancers", {"employment_type": ["Self employed"]}, {"employment_type": ["self_employed"]}, []),
        ("a Full-time cook", {"employment_type": ["full-time"]}, {"employment_type": ["full_time"]}, []),
        ("wizards", {"seniority_level": ["wizard"], "intent_primary": ["magic"]}, {}, ["wizard"]),
        ("in Pune", {"city": "Poona"}, {"city": "pune", "location_text": "pune"}, []),
        ("in Pune, India", {"city": "Pune", "country": "Republic of India", "location_text": "there"},
         {"city": "pune", "country": "india", "location_text": "there"}, []),
        ("remote", {"city": "Remote", "location_text": "remote"}, {"city": "remote", "location_text": "remote"}, []),
        ("South side", {"location_text": " South Side "}, {"location_text": "south side"}, []),
        ("who is there", {"is_current": True, "open_to_work_only": False}, {"is_current": True, "open_to_work_only": False}, []),
    ],
)  # fmt: skip
def test_what_is_outside_the_taxonomy_becomes_soft_and_only_kinds_of_experience_are_lost(
    query: str, must: dict[str, Any], kept: dict[str, Any], keywords: list[str]
) -> None:
    found = normalised(query, **must)
    assert found.must == Must(**kept)
    assert found.should.keywords == keywords


@pytest.mark.parametrize(
    ("start", "end", "normal_start", "normal_end", "keywords"),
    [
        ("2019", "2021", "2019-01-01", "2021-12-31", []),
        ("2022", "2019-03", "2019-03-01", "2022-12-31", []),
        ("2020-05-20", "2020-05-01", "2020-05-01", "2020-05-20", []),
        ("2020-03", "present", "2020-03-01", None, []),
        ("March 2020", "present", None, None, ["march 2020"]),
        ("2020-02-30", None, None, None, ["2020-02-30"]),
        ("long ago", "2021", None, "2021-12-31", ["long ago"]),
        ("", " ", None, None, []),
    ],
)
def test_dates_are_whole_days_in_order(
    start: str | None, end: str | None, normal_start: str | None, normal_end: str | None, keywords: list[str]
) -> None:
    found = normalised(time_start=start, time_end=end)
    assert (found.must.time_start, found.must.time_end) == (normal_start, normal_end)
    assert found.should.keywords == keywords


@pytest.mark.parametrize(
    ("query", "salary", "normal", "keywords"),
    [
        ("offer is fixed", 1_200_000, 1_200_000, []),
        ("offer is fixed", 12, None, ["salary 12"]),
        ("offer is fixed", -5, None, []),
        ("offer is fixed", math.inf, None, []),
        ("offer is fixed", math.nan, None, []),
    ],
)
def test_a_salary_is_rupees_a_year(query: str, salary: float | None, normal: float | None, keywords: list[str]) -> None:
    found = normalised(query, offer_salary_inr_per_year=salary)
    assert found.must.offer_salary_inr_per_year == normal
    assert found.should.keywords == keywords


def test_what_is_ruled_out_is_not_asked_for() -> None:
    found = normalised(
        "only in finance",
        company_norm=["acme", "globex"],
        domain=["finance"],
        city="Bangalore",
        should=Should(keywords=["PHP", "go"], skills_or_tools=["php"]),
        exclude=Exclude(company_norm=["ACME", "acme"], keywords=["php ", "Finance", "bengaluru"]),
    )
    assert found.must == Must(company_norm=["globex"])
    assert found.should == Should(keywords=["go"])
    assert found.exclude == Exclude(company_norm=["acme"], keywords=["php", "finance", "bengaluru"])


@pytest.mark.parametrize(
    ("original", "answer", "cleaned"),
    [
        ("backned dev  in pune", "backend dev in pune", "backend dev in pune"),
        ("backned dev", '"backend dev"', "backend dev"),
        ("INR 80,000/month", "INR 80,000 / month", "INR 80,000 / month"),
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
    ruled_out = {*once.exclude.company_norm, *once.exclude.keywords}
    asked = [
        *once.must.company_norm,
        *once.must.domain,
        *once.should.keywords,
        *once.should.skills_or_tools,
        once.must.city,
    ]
    assert not ruled_out & set(asked)
    assert all(len(values) <= NAMES_MAX for values in (once.should.keywords, once.must.domain))
