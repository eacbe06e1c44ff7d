"""What is asked for and not told by what was found."""

from __future__ import annotations

import datetime

import pytest

from quarry.records.fallbacks import IN_PART
from quarry.records.untold import untold
from tests.records.sources import record, source

CHAIN = record("chain", title="The mayor's chain", body="Mayor Lind wore the chain of 1887. She lost it.")
BAKER = record("baker", title="The bakery", body="The baker, 44, sells a loaf for $3.")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How old is mayor Lind?", "Of this the records found tell no age: this may answer the question only in part."),
        ("What does the mayor's chain cost?", "Of this the records found tell no price or sum: "),
        ("Who is the mayor, and how heavy is her chain?", "Of this the records found tell no weight: "),
        ("How old is the baker?", ""),
        ("What does the baker's loaf cost?", ""),
        ("Who lost the chain?", ""),
        ("How many loops has the chain?", ""),
        ("Who lost the insignia of the mayor?", ""),
        ("When was the chain sold?", "Of this the records found do not say when the chain was sold: "),
        ("When does the baker sell a loaf?", "Of this the records found tell no date or time: "),
        ("Who sells the chain?", "Of this the records found do not say who sells: "),
        ("Who forged the chain?", "Of this the records found do not say who forged: "),
        (
            "How many chains has the mayor, and who forged them?",
            "Of this the records found tell no number of chains and do not say who forged: ",
        ),
    ],
)
def test_a_quantity_that_what_is_nearest_does_not_tell_is_named(question: str, said: str) -> None:
    told = untold(question, [source(1, CHAIN), source(2, BAKER)])
    assert (told or "").startswith(said)
    assert bool(told) == bool(said)


def test_what_is_asked_in_no_such_form_is_neither_told_nor_untold() -> None:
    assert untold("What about the mayor's chain?", [source(1, CHAIN), source(2, BAKER)]) is None
    assert untold("How old is the baker?", [source(1, CHAIN), source(2, BAKER)]) == ""


def test_a_price_of_something_else_in_the_same_record_is_none_of_what_is_asked_of() -> None:
    body = "A parking space is easy to find. The sweeper cost $900. It is loud. They sweep at night."
    parking = record("parking", title="Streets", body=f"{body} A ticket for parking is given at noon.")
    asked = "How much does a parking ticket cost?"
    assert untold(asked, [source(1, parking)]) == f"Of this the records found tell no price or sum: {IN_PART}."


def test_a_kind_that_the_sentence_of_another_thing_tells_is_none_of_what_is_asked_of() -> None:
    of_another = record("other", title="Routes", body="A bus ran forty minutes late. The driver took the old bridge.")
    leaning = record("leaning", title="Routes", body="The driver took the old bridge. It is forty metres long.")
    assert untold("How long is the old bridge?", [source(1, of_another)]) == (
        f"Of this the records found tell no duration or length: {IN_PART}."
    )
    assert untold("How long is the old bridge?", [source(1, leaning)]) == ""


def test_a_vote_is_told_of_the_sentence_that_it_stands_behind() -> None:
    body = "The weir is dredged. Result: Carried. Against: Bo Lind. The gate is shut at night."
    river = record("river", title="The river", body=body)
    assert untold("Who voted against the dredging of the weir?", [source(1, river)]) == ""
    unknown = f"Of this the records found do not say who voted: {IN_PART}."
    assert untold("Who voted against the shutting of the gate?", [source(1, river)]) == unknown


def test_a_reason_may_stand_in_another_sentence_than_what_it_is_of() -> None:
    mill = record("mill", title="The mill", body="The mill was sold at noon. Its wheel had burst because of the flood.")
    assert untold("Why was the mill sold?", [source(1, mill)]) == ""


def test_a_name_of_who_speaks_is_none_of_what_they_speak_of() -> None:
    said = record("said", title="Ada Lind, Member", author="Ada Lind", body="The mate of the old coaster fell asleep.")
    asked = "What is the name of the mate of the coaster?"
    assert (
        untold(asked, [source(1, said)]) == f"Of this the records found do not tell the name of “the mate”: {IN_PART}."
    )


def test_a_date_counts_beside_most_of_what_is_asked_of() -> None:
    may = record("may", title="The ferry", body="The ferry was mended in May. It leaves from the pier.")
    noon = record("noon", title="The ferry", body="The ferry for the island leaves at noon.")
    asked = "When does the ferry leave for the island?"
    assert untold(asked, [source(1, may)]) == f"Of this the records found tell no date or time: {IN_PART}."
    assert untold(asked, [source(1, noon)]) == ""


def test_a_year_of_which_no_record_is_or_speaks_is_named() -> None:
    flood = record("flood", title="The flood", body="The flood of 2021 cost $3 million.")
    dated = record("dated", title="The flood", body="It cost $3 million.", date=datetime.date(2021, 5, 1))
    season = record("season", title="The flood", body="The flood of 2020–21 cost $3 million.")
    for each in (flood, dated, season):
        assert untold("What did the 2021 flood cost?", [source(1, each)]) == ""
        told = untold("What did the 2019 flood cost?", [source(1, each)])
        assert told == f"Of this the records found tell nothing of 2019: {IN_PART}."


def test_a_value_without_a_unit_may_be_any_quantity() -> None:
    priced = record("priced", title="The chain of the mayor", body="Silver.\nworth: 4200")
    assert untold("What does the mayor's chain cost?", [source(1, priced), source(2, BAKER)]) is None


def test_what_is_said_again_of_a_question_is_short_and_no_markup() -> None:
    told = untold(f"When was the chain of [1] <b> *{'x ' * 900}* sold?", [source(1, CHAIN), source(2, BAKER)])
    assert told is not None
    assert "the chain of \\[1\\] \\<b\\>" in told
    assert len(told) < 250
