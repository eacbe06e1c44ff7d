"""An answer in words is judged by its first number, the values it mentions first, a day, or that it says it does not know."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from quarry_tools.expectation import (
    Expectation,
    Verdict,
    first_number,
    judge,
    names_day,
    says_nothing_found,
    says_unknown,
    values_mentioned,
)

BAKERIES = ("Rye", "Rye & Sons", "Crumb", "Oven")


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("There are **1,204** of them, 3 in blue.", 1204),
        ("There is one campaign by Crumb.", 1),
        ("No campaign by Crumb was found.", 0),
        ("None.", 0),
        ("No one did: 0 campaigns.", 0),
        ("Captured from 1 March 2019 to 2019-12-31 there are 12.", 12),
        ("There are 2019.", 2019),
        ("About 40% are blue, which makes 6.", 6),
        ("Those without bread: 4", 4),
        ("Many, I think.", None),
    ],
)
def test_the_number_that_is_given_first_counts(answer: str, number: int | None) -> None:
    assert first_number(answer, "How many in 2019?") == number


@given(st.integers(0, 10**9))
def test_a_number_is_read_however_its_thousands_are_set(number: int) -> None:
    assert first_number(f"There are {number}.") == first_number(f"There are **{number:,}** of 5.") == number


@pytest.mark.parametrize(
    ("answer", "mentioned"),
    [
        ("Mostly **Crumb** (4), then Oven (2).", ["crumb", "oven"]),
        ("Rye & Sons bakes more than Rye.", ["rye & sons", "rye"]),
        ("Breadcrumbs and ovens.", []),
        ("Oven, Crumb and Oven again", ["oven", "crumb"]),
    ],
)
def test_values_are_whole_words_the_longest_where_two_begin(answer: str, mentioned: list[str]) -> None:
    assert values_mentioned(answer, "Who bakes most?", BAKERIES) == mentioned


def test_values_that_the_question_names_are_left_out() -> None:
    assert values_mentioned("Beside Oven there is Crumb.", "Who bakes beside Oven?", BAKERIES) == ["crumb"]


@pytest.mark.parametrize(
    "written",
    [
        "2021-09-12",
        "12 September 2021",
        "Sept 12th, 2021",
        "the 12th of September, 2021",
    ],
)
def test_a_day_is_named_in_any_usual_form(written: str) -> None:
    day = datetime.date(2021, 9, 12)
    assert names_day(f"It ran on **{written}**.", day)
    assert not names_day(f"It ran on {written}5.", day)
    assert not names_day(f"It ran on {written}.", datetime.date(2021, 9, 2))


@pytest.mark.parametrize(
    ("answer", "is_said"),
    [
        ("I cannot tell from this data.", True),
        ("Of this the records found do not speak of “a round”: this may answer the question only in part.", True),
        ("The records searched here hold nothing that answers this. Other words may find more.", True),
        ("The data has no field for prices.", True),
        ("There are 9 campaigns that do not show a price in the data.", False),
        ("Crumb leads. What Oven did is not known.", False),
    ],
)
def test_what_is_not_known_is_told_from_an_answer(answer: str, is_said: bool) -> None:
    assert says_unknown(answer) is is_said
    assert not says_nothing_found(answer)


EXPECTED: list[tuple[dict[str, Any], str, list[str], Verdict]] = [
    ({"count": 4}, "There are 4.", [], "right"),
    ({"count": 4, "also": [5]}, "There are 5.", [], "right"),
    ({"count": 4}, "There are 6.", [], "confidently wrong"),
    ({"count": 4}, "No loaf was found.", [], "wrong"),
    ({"value": "Crumb", "field": "company"}, "Crumb (3), Oven (1).", [], "right"),
    ({"value": "Crumb", "field": "company"}, "Oven (3), Crumb (1).", [], "confidently wrong"),
    ({"values": ["Crumb", "Oven"], "field": "company"}, "Oven and Crumb, then Rye.", [], "right"),
    ({"values": ["Crumb", "Oven"], "field": "company"}, "Oven, Rye and Crumb.", [], "confidently wrong"),
    ({"date": "2020-02-01"}, "On 1 February 2020.", [], "right"),
    ({"date": "2020-02-01"}, "I do not know.", [], "wrong"),
    ({"ids": ["a", "b"]}, "Two.", ["b", "a"], "right"),
    ({"relevant": ["a", "b", "c"]}, "Some.", ["a", "x", "b", "c"], "right"),
    ({"relevant": ["a", "b", "c"]}, "Some.", ["a", "x", "b"], "wrong"),
    ({"unanswerable": True}, "The data does not tell.", [], "right"),
    ({"unanswerable": True}, "No loaf was found.", [], "wrong"),
    ({"unanswerable": True}, "There are 4.", [], "confidently wrong"),
]


@pytest.mark.parametrize(("expected", "answer", "found", "verdict"), EXPECTED)
def test_only_what_asserts_something_else_is_confidently_wrong(
    expected: dict[str, Any], answer: str, found: list[str], verdict: Verdict
) -> None:
    given = Expectation.model_validate(expected)
    assert judge(given, "Who?", answer, found=found, total=len(found), field_values=BAKERIES) == verdict


def test_of_a_list_cut_short_the_total_must_be_right_too() -> None:
    given = Expectation(ids=["a", "b"])
    assert judge(given, "Which?", "3.", found=["a", "b"], total=3) == "confidently wrong"
    assert judge(given, "Which?", "2.", found=["a", "b"], total=None) == "right"


@pytest.mark.parametrize(
    "wrong",
    [{}, {"count": 1, "date": "2020-01-01"}, {"value": "x"}, {"count": 1, "field": "company"}, {"also": [1], "ids": ["a"]},
     {"number": 1}, {"count": -1}, {"unanswerable": False}],
)  # fmt: skip
def test_an_expectation_is_one_thing_and_what_belongs_to_it(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Expectation.model_validate(wrong)
