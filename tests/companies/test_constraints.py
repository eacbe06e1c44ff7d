"""What was understood of a question, on the wire and back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quarry.companies.constraints import constraints_of, with_constraints
from quarry.companies.contract import CONDITIONS_MAX as SENT_MAX
from quarry.companies.contract import Condition, Constraints
from quarry.companies.query import CONDITIONS_MAX, EXCLUDED_MAX, STARTUPS
from quarry.companies.sources import read_schema
from quarry.query.algebra import AnyOf, Comparison
from tests.companies.asking import seeking

GERMANY = Comparison(field="country", values=("Germany",))
INSURANCE = {"insurance": ("sector", "Insurance")}


def test_what_is_stated_is_required_startups_are_assumed_and_tags_preferred() -> None:
    told = constraints_of(seeking("insurance", GERMANY, tags=INSURANCE)).conditions
    assert {each.field: each.strength for each in told} == {
        "country": "required",
        "status": "assumed",
        "sector": "preferred",
    }
    assert [each.label for each in told if each.field == "country"] == ["in Germany"]


@pytest.mark.parametrize(
    ("condition", "least", "most"),
    [
        (Comparison(field="founded_year", op=">", value=2015), 2016, None),
        (Comparison(field="employees", op="<", value=50), None, 49),
        (Comparison(field="founded_year", value=2019), 2019, 2019),
    ],
)
def test_bounds_are_inclusive_on_the_wire(condition: Comparison, least: float | None, most: float | None) -> None:
    [told] = [each for each in constraints_of(seeking("", condition)).conditions if each.strength == "required"]
    assert (told.least, told.most) == (least, most)


@pytest.mark.parametrize(
    "condition",
    [
        Comparison(field="country", op="!=", values=("Germany",)),
        Comparison(field="employees", op=">=", values=(20,)),
        AnyOf(any_of=(GERMANY, Comparison(field="city", values=("Leeds",)))),
        Comparison(field="acquirer", op="not_null"),
    ],
)
def test_what_goes_out_comes_back_as_the_same_conditions(condition: Comparison) -> None:
    before = seeking("insurance", condition, tags=INSURANCE)
    again = with_constraints(before, constraints_of(before))
    assert (again.stated, again.assumed, again.topic) == (before.stated, before.assumed, before.topic)
    assert constraints_of(again) == constraints_of(before)


def test_what_a_question_may_say_is_given_up_before_that_startups_are_meant() -> None:
    year = Comparison(field="founded_year", value=2012)
    sought = replace(seeking("insurance"), assumed=(GERMANY, year, STARTUPS))
    assert sought.relaxed().assumed == (GERMANY, STARTUPS)
    assert sought.relaxed().relaxed().assumed == (STARTUPS,)
    assert sought.relaxed().relaxed().relaxed().assumed == ()


def test_a_question_is_not_read_over_a_field_that_no_company_has() -> None:
    assert "closed_year" in read_schema().sources["companies"].fields
    assert "closed_year" not in read_schema((), frozenset({"closed_year"})).sources["companies"].fields


def test_what_a_caller_leaves_out_is_dropped_and_what_is_added_holds() -> None:
    given = Constraints(
        topic="weeding",
        conditions=[
            Condition(field="city", values=["Leeds"]),
            Condition(field="employees", least=5, most=20),
            Condition(field="country", values=["Norway"], strength="preferred"),
        ],
    )
    changed = with_constraints(seeking("insurance", GERMANY, tags=INSURANCE), given)
    assert changed.stated == (
        Comparison(field="city", values=("Leeds",)),
        Comparison(field="employees", op="between", values=(5, 20)),
    )
    assert changed.preferred == (Comparison(field="country", values=("Norway",)),)
    assert (changed.assumed, changed.tags, changed.words) == ((), (), ("weed",))


def test_a_request_s_own_conditions_are_bounded_as_those_of_a_question() -> None:
    most = Constraints(
        conditions=[Condition(field="employees", least=number) for number in range(SENT_MAX)],
        excluded=[f"word {number}" for number in range(SENT_MAX)],
    )
    changed = with_constraints(seeking("banks"), most)
    assert (len(changed.stated), len(changed.excluded)) == (CONDITIONS_MAX, EXCLUDED_MAX)
    assert changed.has_more
