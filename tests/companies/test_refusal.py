"""When a question is refused, and which of its companies come first: the fitted regressions."""

from __future__ import annotations

import pytest

from quarry.companies.ranking import evidence_for, is_answered
from quarry.companies.state import CompanyIntent
from tests.companies.factories import company, entry

ROASTER = company("c-roast", "Tallow Lane", description="Roasts single-farm beans and trains baristas.")
OTHERS = [company(f"c-{place}", "Other", description="Paints shopfronts by hand.") for place in range(3)]
ESPRESSO = CompanyIntent(topic="learn to make good espresso", words=("learn", "make", "good", "espresso"))


@pytest.mark.parametrize(
    ("nearest", "absent_share", "is_shown"),
    [(0.45, 1.0, True), (0.6, 0.5, True), (0.2, 1.0, False), (0.26, 1.0, False)],
)
def test_meaning_alone_keeps_a_question_and_words_that_no_profile_has_do_not_refuse_it(
    nearest: float, absent_share: float, *, is_shown: bool
) -> None:
    entries = [entry(ROASTER, semantic=nearest), *(entry(each, semantic=nearest / 2) for each in OTHERS)]
    assert is_answered(entries, ESPRESSO, None, absent_share, by_meaning=True) is is_shown


def test_by_words_alone_a_word_that_no_profile_has_refuses() -> None:
    assert not is_answered([entry(ROASTER)], ESPRESSO, None, 0.25, by_meaning=False)
    assert is_answered([entry(ROASTER)], ESPRESSO, None, 0.0, by_meaning=False)


def test_a_rare_word_weighs_more_than_one_that_all_profiles_have() -> None:
    intent = CompanyIntent(topic="paints beans", words=("paint", "bean"))
    rare, common = evidence_for([entry(ROASTER), *map(entry, OTHERS)], intent, None)[:2]
    assert rare.values["words"] > common.values["words"]
