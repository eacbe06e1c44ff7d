"""The payload of a search as a Query, and back."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from quarry.people.as_query import payload_of, query_of
from quarry.people.contract import Constraints, EmploymentType, Exclude, Intent, Must, SeniorityLevel, Should
from quarry.people.normalisation import normalise
from quarry.people.sources import SOURCES
from quarry.platform.contract import Evidence
from quarry.query.algebra import Not, Query
from quarry.query.execute import compile_query
from quarry.query.row_conditions import RowConditions
from quarry.query.schema import Schema

# what the paid search asks, a Query by itself may only count
SCHEMA = Schema({name: replace(each, found_by="") for name, each in SOURCES.items()})
TODAY = datetime.date(2026, 6, 1)
QUERY = "x" * 40

words = st.sampled_from(
    ["nurse", "kafka", "pune", "tarang pay", "Leeds", "risk", "o'neil", "c++", "東京", "a or b", "kenya"]
)
several = st.lists(words, max_size=3)
days = st.none() | st.dates(datetime.date(1960, 1, 1), datetime.date(2030, 1, 1)).map(str)
switch = st.none() | st.booleans()
amount = st.none() | st.floats(10_000, 1e8)
years = st.none() | st.floats(0.5, 60)
roles = st.lists(st.lists(words, min_size=1, max_size=3).map("|".join), max_size=3)
place = st.none() | words | st.lists(words, min_size=2, max_size=2).map(" or ".join)


def one_of(taxonomy: Any) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(get_args(taxonomy)), max_size=2)


musts = st.builds(
    Must,
    company_norm=several, school_norm=several, team_norm=several, domain=several, sub_domain=several,
    intent_primary=one_of(Intent), employment_type=one_of(EmploymentType), seniority_level=one_of(SeniorityLevel),
    location_text=place, city=st.none() | words, country=st.none() | words,
    time_start=days, time_end=days, started_from=days, started_until=days, ended_from=days, ended_until=days,
    is_current=switch, open_to_work_only=switch, preferred_locations=several, or_preferred_locations=several,
    offer_salary_inr_per_year=amount, experience_years_min=years, experience_years_max=years,
    role=roles, name=several, text=several,
)  # fmt: skip
shoulds = st.builds(
    Should, skills_or_tools=several, keywords=several, intent_secondary=one_of(Intent), company_norm=several,
    team_norm=several, location=several,
)  # fmt: skip
excludes = st.builds(
    Exclude, company_norm=several, keywords=several, team_norm=several, location=several, is_current=switch,
    open_to_work=switch, time_start=days, time_end=days,
)  # fmt: skip
payloads = st.builds(
    Constraints, query_original=st.just(QUERY), query_cleaned=words, must=musts, should=shoulds, exclude=excludes,
    search_phrases=several, query_embedding_text=words, confidence_score=st.floats(0, 1),
).map(normalise)  # fmt: skip


said = st.builds(
    Evidence, field=st.sampled_from(["must.city", "exclude.keywords"]), value=words, start=st.just(0), end=st.integers(1, 9),
    assertion=st.just("affirmed"),
)  # fmt: skip


@given(payload=payloads, evidence=st.lists(said, max_size=3))
def test_a_payload_is_a_query_and_the_query_the_same_payload(payload: Constraints, evidence: list[Evidence]) -> None:
    payload = payload.model_copy(update={"evidence": evidence})
    ranked = query_of(payload)
    assert payload_of(ranked) == payload
    assert query_of(payload_of(ranked)) == ranked


@given(payload=payloads)
def test_a_payload_is_a_query_that_people_can_be_asked_and_json_carries(payload: Constraints) -> None:
    ranked = query_of(payload)
    compile_query(ranked.query, SCHEMA, TODAY)
    RowConditions("people", SCHEMA, TODAY, None).met(ranked.preferred)
    assert Query.model_validate_json(ranked.query.model_dump_json(by_alias=True)) == ranked.query


@given(payload=payloads)
def test_what_is_excluded_is_denied_and_nothing_else_is(payload: Constraints) -> None:
    denied = tuple(each for each in query_of(payload).query.where if isinstance(each, Not))
    assert query_of(Constraints(exclude=payload.exclude)).query.where == denied
