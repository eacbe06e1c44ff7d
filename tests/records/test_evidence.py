"""Numbering of sources, and how far they carry an answer."""

from __future__ import annotations

import pytest

from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.platform.snippet import MATCH_END, MATCH_START
from quarry.records.candidates import RecordText
from quarry.records.confidence import confidence, kept_label
from quarry.records.contract import ConfidenceLevel, Source
from quarry.records.evidence import SOURCES_MAX, Evidence
from quarry.records.ranking import RankedRecord
from tests.records.sources import record, source


def found(*ids: str, score: float = 0.04) -> list[tuple[RankedRecord, RecordText]]:
    """A search's result, best first."""
    return [
        (RankedRecord(text.key, score / place, place, None, 0.5), text)
        for place, text in enumerate((record(id) for id in ids), start=1)
    ]


def test_sources_are_numbered_in_the_order_in_which_they_were_found() -> None:
    evidence = Evidence()
    assert [item.n for item in evidence.add(found("a", "b"))] == [1, 2]
    assert [item.n for item in evidence.add(found("c", "a"))] == [3, 1]
    assert [(item.n, item.text.id) for item in evidence.sources] == [(1, "a"), (2, "b"), (3, "c")]


def test_once_full_only_known_sources_are_given_again() -> None:
    evidence = Evidence()
    evidence.add(found(*(str(number) for number in range(SOURCES_MAX + 3))))
    assert len(evidence.sources) == SOURCES_MAX
    assert [item.n for item in evidence.add(found("new", "0"))] == [1]


def test_weight_is_the_share_of_the_best_score_of_its_search() -> None:
    evidence = Evidence()
    evidence.add(found("a", "b"))
    evidence.add(found("c", score=0.001))
    assert [item.weight for item in evidence.sources] == [1.0, 0.5, 1.0]


def test_a_snippet_is_escaped_but_for_its_marks() -> None:
    text = record(body=f'<b>{MATCH_START}elm{MATCH_END}</b> & "co"')
    assert source(1, text).to_source().snippet == "&lt;b&gt;<mark>elm</mark>&lt;/b&gt; &amp; &quot;co&quot;"


def sent(n: int, similarity: float | None) -> Source:
    return Source(n=n, type="motion", id=str(n), title="", snippet="", similarity=similarity)


@pytest.mark.parametrize(
    ("similarities", "level"),
    [
        ([], "low"),
        ([0.9] * 2, "low"),
        ([0.9] * 3, "medium"),
        ([0.71] * 6, "high"),
        ([0.7] * 6, "medium"),
        ([0.49] * 6, "low"),
        ([None] * 12, "medium"),
        ([0.8, None, None, None, None, None], "high"),
    ],
)
def test_confidence_follows_count_and_mean_similarity(similarities: list[float | None], level: ConfidenceLevel) -> None:
    sources = [sent(n, similarity) for n, similarity in enumerate(similarities, start=1)]
    assert confidence(sources)[0] == level


def test_a_model_whose_similarities_are_lower_has_bounds_of_its_own() -> None:
    sources = [sent(n, 0.61) for n in range(6)]
    assert [confidence(sources, model=model)[0] for model in (LOCAL_EMBEDDING_MODEL, "another")] == ["high", "medium"]


@pytest.mark.parametrize(
    ("count", "label"),
    [
        (0, "Low confidence, based on 0 sources"),
        (1, "Low confidence, based on 1 source"),
        (8, "High confidence, based on 8 sources"),
    ],
)
def test_the_label_says_level_and_count(count: int, label: str) -> None:
    sources = [sent(n, 0.9) for n in range(count)]
    assert confidence(sources)[1] == label
    assert kept_label(confidence(sources)[0], count, has_queries=False) == label


def test_what_was_counted_is_trusted_without_sources() -> None:
    assert confidence([], "counted on 1,234 rows") == ("high", "High confidence, counted on 1,234 rows")
    assert kept_label("high", 0, has_queries=True) == "High confidence, counted on the records"
    assert confidence([], "counted on 9 rows", is_partial=True) == ("medium", "Medium confidence, counted on 9 rows")
    assert kept_label("medium", 0, has_queries=True) == "Medium confidence, counted on the records"
