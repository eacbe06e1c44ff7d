"""Constraints of people as conditions of a Query, and back."""

from __future__ import annotations

import pytest

from quarry.language.messages import speaking
from quarry.language.recognition import Language
from quarry.people.constraints import constraints_of, hard_labels, understood_of
from quarry.people.contract import Constraints, Exclude, Must, Should
from quarry.people.filters import card_filters, constraints_in_force
from quarry.platform.contract import Evidence
from quarry.platform.errors import InvalidInput
from quarry.query.contract import Understood
from quarry.schema.algebra import Comparison, Exists, Not, Query

QUERY = "nurses in Pune, not agency"
WHOLE = Constraints(
    query_original=QUERY,
    must=Must(
        role=["nurse|rn"], company_norm=["kite", "wren"], school_norm=["iit"], city="pune", time_start="2020-01-01",
        ended_from="2021-01-01", ended_until="2022-01-01", is_current=False, open_to_work_only=True, name=["asha"],
        preferred_locations=["remote"], offer_salary_inr_per_year=1_200_000.0, experience_years_min=3.0, text=["icu"],
    ),
    should=Should(skills_or_tools=["kafka"], keywords=["ml"], location=["goa"], company_norm=["tern"]),
    exclude=Exclude(keywords=["agency"], company_norm=["paynest"]),
    like="bo",
)  # fmt: skip


EACH = [
    WHOLE,
    Constraints(query_original=QUERY),
    Constraints(query_original=QUERY, must=Must(location_text="chennai", or_preferred_locations=["remote"])),
    Constraints(query_original=QUERY, must=Must(role=["nurse"]), exclude=Exclude(team_norm=["sales"], ever=True)),
    Constraints(query_original=QUERY, exclude=Exclude(open_to_work=True)),
]


@pytest.mark.parametrize("constraints", EACH)
def test_constraints_become_conditions_that_mean_the_same(constraints: Constraints) -> None:
    again = constraints_of(understood_of(constraints), QUERY)
    assert (again.must, again.should, again.exclude) == (constraints.must, constraints.should, constraints.exclude)
    assert again.like == constraints.like


@pytest.mark.parametrize("constraints", EACH)
def test_every_constraint_that_filters_has_a_label(constraints: Constraints) -> None:
    labels = hard_labels(constraints)
    assert all(labels[name] for name in constraints_in_force(card_filters(constraints)))


def test_evidence_points_to_its_condition_and_back() -> None:
    said = Evidence(field="exclude.keywords", value="agency", start=20, end=26, assertion="negated")
    read = understood_of(WHOLE.model_copy(update={"evidence": [said]}))
    [span] = read.spans
    [chip] = [each for each in read.chips if each.pointer == span.pointer]
    assert chip.label == "agency"
    assert constraints_of(read, QUERY).evidence == [said]


def test_a_condition_that_a_search_for_people_cannot_ask_is_refused_where_it_stands() -> None:
    odd = (
        Comparison(field="email", value="a@example.org"),
        Not(negated=Exists(exists="experience", where=(Comparison(field="salary", op="<=", value=5.0),))),
    )
    for condition in odd:
        with pytest.raises(InvalidInput) as refused:
            constraints_of(Understood(query=Query(source="people", where=(condition,))), QUERY)
        assert refused.value.errors[0].pointer == "/understood/query/where/0"


def test_a_value_of_another_kind_is_refused() -> None:
    period = Exists(exists="experience", where=(Comparison(field="period", op=">=", value=2020),))
    with pytest.raises(InvalidInput, match="time_start"):
        constraints_of(Understood(query=Query(source="people", where=(period,))), QUERY)


def test_conditions_are_worded_in_the_language_that_is_spoken() -> None:
    must = Must(city="pune", company_norm=["kite labs"], offer_salary_inr_per_year=1_200_000.0)
    chips: dict[Language, str] = {"english": "in Pune", "german": "in Pune", "french": "Pune"}
    for language, place in chips.items():
        with speaking(language):
            labels = [each.label for each in understood_of(Constraints(query_original=QUERY, must=must)).chips]
        assert place in labels
        assert not any(":" in label for label in labels)
