"""What is no answer, whatever was found: the question again, a sentence cut short, another topic."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from quarry.answering.written import answer_messages, says_nothing
from quarry.verification.check import Verifier
from quarry.verification.wire import SourceText
from tests.verification.answers import SETS, TODAY, answers

SET = tomllib.loads(Path(__file__).with_name("substance.toml").read_text("utf-8"))


def judged(text: str, verifier: Verifier, *, is_formed: bool = False, is_cut: bool = False) -> bool:
    messages = answer_messages(verifier.question, [], about="a town", card="", today=datetime.date(2026, 11, 29))
    return says_nothing(text, verifier.verify(text), verifier, messages, is_formed=is_formed, is_cut=is_cut)


def withdrawn(kind: str, *, is_formed: bool = False) -> Iterator[bool]:
    for question, text, found in SET["texts"][kind]:
        sources = [SourceText(n, "", each) for n, each in enumerate(SET["found"].get(found, ()), start=1)]
        yield judged(text, Verifier(sources, question=question), is_formed=is_formed, is_cut=kind == "cut")


def test_no_refusal_small_talk_question_back_or_short_answer_is_withdrawn() -> None:
    assert not any(withdrawn("answers"))


@pytest.mark.parametrize(("kind", "least"), [("junk", 0.65), ("cut", 0.9)])
def test_most_ramble_is(kind: str, least: float) -> None:
    found = [*withdrawn(kind)]
    assert sum(found) >= least * len(found)


def test_no_answer_of_the_sets_of_the_check_is_withdrawn_true_or_false() -> None:
    for path in SETS.glob("*.toml"):
        for each in answers(path.stem):
            assert not judged(each.text, Verifier(each.sources, each.results, question=each.question, today=TODAY))


@pytest.mark.parametrize("said", ["Whose do you mean", "Which campaigns offer a "])
def test_the_form_of_an_answer_makes_no_answer_of_a_broken_sentence(said: str) -> None:
    verifier = Verifier(question="Which campaigns offer a discount?")
    assert judged(said, verifier, is_formed=True) == said.endswith(" ")


def test_a_conversation_is_no_reason_to_withdraw_a_question_back() -> None:
    verifier = Verifier(question="Which campaigns of Lumen Bank ran?\nAnd theirs?")
    assert not judged("Lumen Bank's campaigns?", verifier)
