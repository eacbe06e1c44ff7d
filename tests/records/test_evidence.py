"""How far its sources carry an answer."""

from __future__ import annotations

import pytest

from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.records.answer_cache import confidence, kept_label
from quarry.records.contract import ConfidenceLevel, Source


def sent(n: int, similarity: float | None) -> Source:
    return Source(n=n, type="motion", id=str(n), title="", snippet="", similarity=similarity)


@pytest.mark.parametrize(
    ("similarities", "level"),
    [
        ([], "low"),
        ([0.9] * 3, "medium"),
        ([0.71] * 6, "high"),
        ([0.7] * 6, "medium"),
        ([0.8, None, None, None, None, None], "high"),
    ],
)
def test_confidence_follows_count_and_mean_similarity(similarities: list[float | None], level: ConfidenceLevel) -> None:
    sources = [sent(n, similarity) for n, similarity in enumerate(similarities, start=1)]
    assert confidence(sources).level == level


def test_a_model_whose_similarities_are_lower_has_bounds_of_its_own() -> None:
    sources = [sent(n, 0.61) for n in range(6)]
    assert confidence(sources, model=LOCAL_EMBEDDING_MODEL).level == "high"
    assert confidence(sources).level == "medium"


def test_what_was_counted_is_trusted_without_sources() -> None:
    assert confidence([], "counted on 1,234 rows").label == "High confidence, counted on 1,234 rows"
    assert kept_label("high", 0, has_queries=True) == "High confidence, counted on the records"
    assert confidence([], "counted on 9 rows", is_partial=True).label == "Medium confidence, counted on 9 rows"
    assert kept_label("medium", 0, has_queries=True) == "Medium confidence, counted on the records"
