"""How likely records answer a question."""

from __future__ import annotations

import pytest

from quarry.platform.settings import LOCAL_EMBEDDING_MODEL
from quarry.records.evidence import RankedRecord
from quarry.records.finding import Searched
from quarry.records.passages import QuestionWord, candidates, features_of, fitted_for
from tests.records.sources import record, source

MODELS = [LOCAL_EMBEDDING_MODEL, "another-model"]
ELM = source(1, record(body="The elm is sound. It was planted in 1890."))


def chance(model: str, similarity: float, *, is_missing: bool) -> float:
    """How likely one record this near answers, where it holds the rarest word of the question or no record does."""
    found = Searched([RankedRecord(ELM.text.key, 1.0, 1, 1, similarity)], [ELM])
    holders = frozenset[tuple[str, str]]() if is_missing else frozenset([ELM.text.key])
    asked = [QuestionWord("elm", 2.0, frozenset([ELM.text.key])), QuestionWord("planted", 5.0, holders, is_missing)]
    quotes = candidates("When was the elm planted?", [ELM])
    return fitted_for(model).probability(features_of(found, asked, quotes))


@pytest.mark.parametrize("model", MODELS)
def test_a_question_whose_rarest_word_no_record_holds_is_less_likely_answered(model: str) -> None:
    assert chance(model, 0.6, is_missing=True) < chance(model, 0.6, is_missing=False)


@pytest.mark.parametrize("model", MODELS)
def test_what_is_refused_is_doubted_too(model: str) -> None:
    fitted = fitted_for(model)
    assert 0 < fitted.refused_below <= fitted.doubted_below < 1
