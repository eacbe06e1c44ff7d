"""The confidence of an answer and its label. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.records.contract import ConfidenceLevel, Source

HIGH_SOURCES_MIN = 6
LOW_SOURCES_MAX = 2
SIMILARITY_BOUNDS = {LOCAL_EMBEDDING_MODEL: (0.4, 0.6)}
"""Of an embedding model that gives other similarities than `OTHER_BOUNDS` are for: a lower mean is low, a higher one may be high.
`docs/search-quality.md` says how often answers on each side of these are right.
"""
OTHER_BOUNDS = (0.5, 0.7)


def confidence(
    sources: Sequence[Source],
    basis: str = "",
    *,
    model: str = "",
    likely: ConfidenceLevel | None = None,
    is_doubtful: bool = False,
    is_partial: bool = False,
) -> tuple[ConfidenceLevel, str]:
    """How far the sources that an answer cites carry it, and a label that says so. `likely` is the level by the probability of an
    answer that is made of the sources' own sentences.

    Without one, high is six sources or more with a mean similarity above the upper bound for the embedding `model`, and low is
    two or fewer, or a mean below the lower bound. The mean is over the sources that have a similarity; where none has, the count
    alone decides between low and medium. A number that was counted exactly is high by its `basis`; medium, where more is said
    that nothing supports (`is_partial`). What may not answer the question (`is_doubtful`) is low.
    """
    level: ConfidenceLevel = "medium"
    if basis:
        level = "low" if is_doubtful else "medium" if is_partial else "high"
        return level, _label(level, basis)
    count = len(sources)
    similarities = [source.similarity for source in sources if source.similarity is not None]
    mean = fsum(similarities) / len(similarities) if similarities else None
    lower, upper = SIMILARITY_BOUNDS.get(model, OTHER_BOUNDS)
    if likely is not None and count and not is_doubtful:
        level = likely
    elif is_doubtful or count <= LOW_SOURCES_MAX or (mean is not None and mean < lower):
        level = "low"
    elif count >= HIGH_SOURCES_MIN and mean is not None and mean > upper:
        level = "high"
    return level, _label(level, _based_on(count))


def kept_label(level: ConfidenceLevel, source_count: int, *, has_queries: bool) -> str:
    """The label of an answer that was kept with this level and cites so many sources. It was counted where it cites none, or
    rests on queries and has a higher level than its sources give.
    """
    least = {"high": HIGH_SOURCES_MIN, "medium": 1, "low": 0}[level]
    is_counted = source_count < (least if has_queries else min(1, least))
    return _label(level, "counted on the records" if is_counted else _based_on(source_count))


def _label(level: ConfidenceLevel, basis: str) -> str:
    return f"{level.capitalize()} confidence, {basis}"


def _based_on(count: int) -> str:
    return f"based on {count} source{'' if count == 1 else 's'}"
