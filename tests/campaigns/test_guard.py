"""What a model's filters become in the light of the question."""

from __future__ import annotations

from quarry.campaigns.guard import guard, stems_of
from quarry.campaigns.reading import CampaignQuestion
from quarry.core.query.question import Clause, Condition, Question

EMAIL: Clause = (Condition("channel", ("Email",)),)
RADIO: Clause = (Condition("channel", ("Radio",)),)
NOT_RADIO: Clause = (Condition("channel", ("Radio",), is_negated=True),)
CALM: Clause = (Condition("sentiment", ("Calm",)),)
PROMISE: Clause = (Condition("value_prop", ("Free Returns",)),)
GUESSED: Clause = (Condition("company", ("Moss & Sons",), strength="inferred"),)


def asked(*clauses: Clause, text: str = "", theme: str = "") -> CampaignQuestion:
    return CampaignQuestion(Question(text), clauses, theme=theme)


def guarded(call: list[Clause], question: CampaignQuestion, said: str = "", may_widen: bool = False) -> list[Clause]:
    return list(guard(call, question, stems_of([said]), (), may_widen=may_widen).clauses)


def test_what_no_word_says_is_dropped_and_told() -> None:
    outcome = guard([EMAIL, CALM], asked(EMAIL), stems_of(["emails"]), (), may_widen=False)
    assert (outcome.clauses, outcome.dropped) == ((EMAIL,), ("with the sentiment Calm",))


def test_a_value_holds_where_a_word_of_it_was_said() -> None:
    assert guarded([PROMISE], asked(), "who lets me return things") == [PROMISE]
    assert guarded([PROMISE], asked(), "who is cheap") == []


def test_a_value_that_the_model_was_shown_is_not_invented() -> None:
    assert guard([CALM], asked(), stems_of(["moods"]), [("sentiment", "Calm")], may_widen=False).clauses == (CALM,)


def test_words_that_were_not_understood_may_mean_a_value() -> None:
    assert guarded([CALM], asked(theme="soothing"), "soothing ads") == [CALM]


def test_what_the_words_state_is_added() -> None:
    assert guarded([], asked(EMAIL, NOT_RADIO)) == [EMAIL, NOT_RADIO]
    assert guarded([], asked(GUESSED)) == []


def test_of_what_the_question_names_the_model_may_choose() -> None:
    both: Clause = (Condition("channel", ("Email", "Radio")),)
    assert guarded([EMAIL], asked(both)) == [EMAIL]


def test_what_is_ruled_out_stays_so_whatever_the_model_asks_for() -> None:
    assert guarded([EMAIL], asked(NOT_RADIO), "emails") == [EMAIL, NOT_RADIO]
    assert guarded([], asked(EMAIL, NOT_RADIO), may_widen=True) == [NOT_RADIO]


def test_of_several_values_those_that_nobody_said_are_dropped() -> None:
    either: Clause = (Condition("channel", ("Email", "Radio")),)
    assert guarded([either], asked(EMAIL)) == [EMAIL]
