"""What was understood of a question, on the wire and back."""

from __future__ import annotations

import pytest

from quarry.companies.constraints import clauses_to_tell, constraints_of, with_constraints
from quarry.companies.contract import (
    CONDITIONS_MAX,
    VALUE_CHARACTERS_MAX,
    Condition,
    Constraints,
)
from quarry.companies.query import CLAUSES_MAX, EXCLUDED_MAX, Sought
from quarry.platform.contract import EVIDENCE_MAX
from quarry.platform.text import QUERY_MAX_CHARACTERS
from tests.companies.asking import asked

QUESTIONS = (
    "insurance startups in Germany or France founded after 2015 with at most 50 employees",
    "acquired security companies that raised more than 5 million dollars",
    "robotics companies not in the United States",
    "fintech companies other than lending",
)


def told(question: str) -> Constraints:
    return constraints_of(asked(question))


def test_each_condition_says_where_the_words_are_that_say_it() -> None:
    question = "insurance startups in Germany founded after 2015"
    said = {each.field: question[each.start : each.end] for each in told(question).evidence}
    assert said["country"] == "Germany"
    assert said["sector"] == "insurance"
    assert "2015" in said["founded_year"]


def test_what_is_stated_is_required_startups_are_assumed_and_tags_preferred() -> None:
    strengths = {each.field: each.strength for each in told("insurance startups in Germany").conditions}
    assert strengths == {"country": "required", "status": "assumed", "sector": "preferred"}


def test_bounds_are_inclusive_on_the_wire() -> None:
    [years] = [each for each in told("startups founded after 2015").conditions if each.field == "founded_year"]
    assert (years.least, years.most) == (2016, None)


@pytest.mark.parametrize(
    ("question", "least", "most"),
    [
        ("with more than 10 and fewer than 12 employees", 11, 11),
        ("with more than 10 and fewer than 11 employees", 10, 11),
        ("that raised more than $0.5", 1, None),
        ("that raised over $0.1 and under $0.5", 0.1, 0.5),
    ],
)
def test_bounds_between_which_no_whole_number_lies_go_out_as_they_were_said(
    question: str, least: float, most: float | None
) -> None:
    [bounds] = [(each.least, each.most) for each in told(f"companies {question}").conditions if each.least is not None]
    assert bounds == (least, most)


@pytest.mark.parametrize("text", ["9" * 400, f"${'9' * 400}", f"more than {'9' * 400} employees", f"{'9' * 306} lpa"])
def test_what_is_too_large_for_a_number_is_none(text: str) -> None:
    assert [each for each in told(f"list companies {text}").conditions if each.least or each.most] == []


def test_an_amount_in_a_currency_that_the_data_does_not_have_is_no_condition() -> None:
    sought = asked("startups that raised more than €5 million")
    assert [each.field for each in constraints_of(sought).conditions] == ["status"]
    assert [each.text for each in sought.question.unanswerable] == ["more than €5 million"]


def test_the_topic_of_a_long_question_fits_on_the_wire() -> None:
    assert len(told("payments" + "&lt;" * 498).topic) <= QUERY_MAX_CHARACTERS
    earlier = ["bakeries " * 150, "the ones for pastry " + "croissants " * 150]
    assert len(constraints_of(asked("only the ones for bread " + "buns " * 300, earlier)).topic) <= QUERY_MAX_CHARACTERS


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_goes_out_comes_back_as_the_same_conditions(question: str) -> None:
    before = asked(question)
    again = with_constraints(before, constraints_of(before))
    fields = {"label"} if "more than" in question else set()  # on the wire bounds are inclusive
    assert [each.model_dump(exclude=fields) for each in constraints_of(again).conditions] == [
        each.model_dump(exclude=fields) for each in constraints_of(before).conditions
    ]
    assert (again.topic, again.excluded) == (before.topic, before.excluded)


def test_without_constraints_the_reading_stands() -> None:
    sought = asked(QUESTIONS[0])
    assert with_constraints(sought, None) is sought


def test_what_a_caller_leaves_out_is_dropped_and_what_is_added_holds() -> None:
    given = Constraints(
        topic="weeding",
        conditions=[
            Condition(field="city", values=["Leeds"]),
            Condition(field="employees", most=20, negated=True),
            Condition(field="acquirer"),
            Condition(field="country", values=["Norway"], strength="preferred"),
        ],
    )
    changed = with_constraints(asked("insurance startups in Germany"), given)
    assert [(each.facet, each.values, each.is_negated) for clause in changed.stated for each in clause] == [
        ("city", ("Leeds",), False),
        ("employees", (), True),
        ("acquirer", (), False),
    ]
    assert [each.values for clause in changed.preferred for each in clause] == [("Norway",)]
    assert (changed.assumed, changed.tags, changed.words) == ((), (), ("weed",))


def test_conditions_of_a_group_are_alternatives() -> None:
    given = Constraints(
        conditions=[
            Condition(field="city", values=["Leeds"], group=1),
            Condition(field="country", values=["Norway"], group=1),
        ]
    )
    [clause] = with_constraints(Sought(asked("x").question), given).stated
    assert {each.facet for each in clause} == {"city", "country"}


def test_there_are_never_more_conditions_than_the_contract_allows() -> None:
    many = "startups in " + " or ".join(["Germany", "France", "Norway", "Spain", "Italy"] * 40)
    assert len(told(many).conditions) <= CONDITIONS_MAX
    assert len(told(many).evidence) <= EVIDENCE_MAX


def test_a_request_s_own_conditions_are_bounded_as_those_of_a_question() -> None:
    most = Constraints(
        conditions=[Condition(field="employees", least=number) for number in range(CONDITIONS_MAX)],
        excluded=[f"word {number}" for number in range(CONDITIONS_MAX)],
    )
    changed = with_constraints(asked("banks"), most)
    assert (len(changed.stated), len(changed.excluded)) == (CLAUSES_MAX, EXCLUDED_MAX)
    assert changed.has_more
    assert constraints_of(changed).conditions == [
        each.model_copy(update={"label": f"with at least {number} employees"})
        for number, each in enumerate(most.conditions[:CLAUSES_MAX])
    ]
    fewer = most.model_copy(update={"conditions": most.conditions[:3], "excluded": []})
    assert not with_constraints(changed, fewer).has_more


def test_what_is_ruled_out_may_be_long() -> None:
    assert all(
        len(words) <= VALUE_CHARACTERS_MAX for words in told(f"banks without {'tangled' * 60} accounts").excluded
    )


def test_a_result_is_told_how_it_stands_to_tags_too() -> None:
    sought = asked("insurance startups in Germany")
    assert len(clauses_to_tell(sought)) == 3
