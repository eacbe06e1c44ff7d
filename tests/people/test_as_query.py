"""The payload of a search as a Query, and back."""

from __future__ import annotations

import datetime
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from quarry.people.as_query import RankedQuery, payload_of, query_of
from quarry.people.contract import Constraints, EmploymentType, Exclude, Intent, Must, SeniorityLevel, Should
from quarry.people.normalisation import normalise
from quarry.people.sources import SOURCES
from quarry.platform.contract import Evidence
from quarry.query.algebra import Not, Query
from quarry.query.compile import compile_query
from quarry.query.keys import meeting
from quarry.query.schema import Schema

SCHEMA, TODAY = Schema(SOURCES), datetime.date(2026, 6, 1)
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


@st.composite
def with_evidence(draw: st.DrawFn) -> Constraints:
    """A payload, some of whose listed values are said by characters of the query, no two by the same."""
    payload: Constraints = draw(payloads)
    listed = [
        (f"{part}.{name}", value)
        for part in ("must", "should", "exclude")
        for name, values in getattr(payload, part)
        if isinstance(values, list)
        for value in values
        if " or " not in value and "|" not in value
    ]
    said = draw(st.lists(st.sampled_from(listed), unique=True, max_size=6)) if listed else []
    hard = {"must.intent_primary", "must.domain", "must.sub_domain", "must.employment_type", "must.seniority_level"}
    kinds = {"should": "preferred", "exclude": "negated"}
    evidence = [
        Evidence.model_validate({
            "field": field, "value": value, "start": place, "end": place + 3,
            "assertion": kinds.get(field.partition(".")[0], "required" if field in hard else "affirmed"),
        })
        for place, (field, value) in enumerate(said)
    ]  # fmt: skip
    return payload.model_copy(update={"evidence": evidence})


@given(payload=with_evidence())
def test_a_payload_is_a_query_and_the_query_the_same_payload(payload: Constraints) -> None:
    ranked = query_of(payload)
    assert payload_of(ranked) == payload
    assert query_of(payload_of(ranked)) == ranked


@given(payload=payloads)
def test_a_payload_is_a_query_that_people_can_be_asked_and_json_carries(payload: Constraints) -> None:
    ranked = query_of(payload)
    compile_query(ranked.query, SCHEMA, TODAY)
    meeting(ranked.preferred, "people", SCHEMA, TODAY)
    assert Query.model_validate_json(ranked.query.model_dump_json(by_alias=True)) == ranked.query


@given(payload=payloads)
def test_what_is_excluded_is_denied_and_nothing_else_is(payload: Constraints) -> None:
    denied = [each for each in query_of(payload).query.where if isinstance(each, Not)]
    only = Constraints(query_original=QUERY, exclude=payload.exclude)
    assert [*query_of(only).query.where] == denied
    assert query_of(payload.model_copy(update={"exclude": Exclude()})).query.where == tuple(
        each for each in query_of(payload).query.where if each not in denied
    )


def test_what_should_hold_leaves_nobody_out() -> None:
    should = Should(skills_or_tools=["kafka"], keywords=["payments"], company_norm=["tarang pay"], location=["pune"])
    ranked = query_of(Constraints(should=should))
    assert ranked.query == Query(source="people")
    assert len(ranked.preferred) == 4


def test_evidence_of_what_was_taken_away_is_no_span_and_is_kept() -> None:
    said = Evidence(field="must.company_norm", value="acme", start=0, end=4, assertion="affirmed")
    must = Must(company_norm=["globex"])
    payload = Constraints(query_original="acme or globex", must=must, evidence=[said])
    assert query_of(payload).query.spans == ()
    assert payload_of(query_of(payload)) == payload


def test_one_piece_of_evidence_is_of_all_values_that_the_same_words_mean() -> None:
    said = Evidence(field="must.company_norm", value="acme ltd or acme", start=0, end=4, assertion="affirmed")
    payload = Constraints(query_original="Acme", must=Must(company_norm=["acme ltd", "acme"]), evidence=[said])
    ranked = query_of(payload)
    assert [each.pointer for each in ranked.query.spans] == ["/where/0/where/0/values/0", "/where/0/where/0/values/1"]
    assert payload_of(ranked) == payload


def test_a_period_is_said_as_a_whole() -> None:
    said = Evidence(field="must.time", value="2015-2019", start=5, end=14, assertion="affirmed")
    must = Must(time_start="2015-01-01", time_end="2019-12-31")
    payload = Constraints(query_original="cook 2015-2019", must=must, evidence=[said])
    assert payload_of(query_of(payload)) == payload


def test_a_query_of_nothing_is_a_payload_of_nothing() -> None:
    assert payload_of(RankedQuery(Query(source="people"))) == Constraints()
