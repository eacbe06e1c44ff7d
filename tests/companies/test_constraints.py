"""What was understood of a question, on the wire and back."""

from __future__ import annotations

import pytest

from quarry.companies.contract import CONDITIONS_MAX as SENT_MAX
from quarry.companies.contract import Condition, Constraints
from quarry.companies.reading import as_understood, understood_of
from quarry.companies.sources import constraints_of, understood_as
from quarry.companies.state import CONDITIONS_MAX, EXCLUDED_MAX
from quarry.schema.algebra import AnyOf, Comparison
from tests.companies.asking import seeking

GERMANY = Comparison(field="country", values=("Germany",))
INSURANCE = {"insurance": ("sector", "Insurance")}


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
    read = understood_of(before)
    for sent in (read, understood_as(constraints_of(read))):
        again = as_understood(before, sent)
        assert (again.stated, again.assumed, again.topic) == (before.stated, before.assumed, before.topic)
        assert understood_of(again) == read


def test_a_request_s_own_conditions_are_bounded_as_those_of_a_question() -> None:
    most = Constraints(
        conditions=[Condition(field="employees", least=number) for number in range(SENT_MAX)],
        excluded=[f"word {number}" for number in range(SENT_MAX)],
    )
    changed = as_understood(seeking("banks"), understood_as(most))
    assert (len(changed.stated), len(changed.excluded)) == (CONDITIONS_MAX, EXCLUDED_MAX)
    assert changed.has_more
