"""How far an answer can be trusted: pure arithmetic, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.records.contract import ConfidenceLevel, Source
from quarry.records.fitted import fitted_for

HIGH_SOURCES_MIN = 6
HIGH_SIMILARITY_ABOVE = 0.7
LOW_SOURCES_MAX = 2
LOW_SIMILARITY_BELOW = 0.5


def likelihood(chance: float, model: str) -> ConfidenceLevel | None:
    """The level of an answer that is made of the sources' own sentences, by how likely these answer: on questions to collections
    that it was not fitted to, high is right nine times in ten and low at most half of the time. None for an embedding model
    without such a measurement.
    """
    if model != LOCAL_EMBEDDING_MODEL:
        return None
    fitted = fitted_for(model)
    if chance < fitted.low:
        return "low"
    return "high" if chance >= fitted.high else "medium"


def confidence(
    sources: Sequence[Source],
    basis: str = "",
    *,
    likely: ConfidenceLevel | None = None,
    is_doubtful: bool = False,
    is_partial: bool = False,
) -> tuple[ConfidenceLevel, str]:
    """How far the sources that an answer cites carry it, and a label that says so. `likely`: the level that was measured for such
    answers, where one was.

    High: six sources or more with a mean similarity above 0.7. Low: two or fewer, or a mean below 0.5. Else medium. The mean is
    over the sources that have a similarity; where none has, the count alone decides between low and medium. A number that was
    counted exactly is high by what it was counted on, the `basis`, whatever sources come with it; medium, where more is said
    that nothing supports (`is_partial`). What may not answer the question (`is_doubtful`) is low, whatever the sources.
    """
    level: ConfidenceLevel = "medium"
    if basis:
        level = "medium" if is_partial else "high"
        return level, _label(level, basis)
    count = len(sources)
    similarities = [source.similarity for source in sources if source.similarity is not None]
    mean = fsum(similarities) / len(similarities) if similarities else None
    if likely is not None and count and not is_doubtful:
        level = likely
    elif is_doubtful or count <= LOW_SOURCES_MAX or (mean is not None and mean < LOW_SIMILARITY_BELOW):
        level = "low"
    elif count >= HIGH_SOURCES_MIN and mean is not None and mean > HIGH_SIMILARITY_ABOVE:
        level = "high"
    return level, _label(level, _based_on(count))


def kept_label(level: ConfidenceLevel, source_count: int) -> str:
    """The label of an answer that was kept with this level and cites so many sources: one that has a higher level than these give
    was counted.
    """
    least = {"high": HIGH_SOURCES_MIN, "medium": 1, "low": 0}[level]
    is_counted = source_count < least
    return _label(level, "counted on the records" if is_counted else _based_on(source_count))


def _label(level: ConfidenceLevel, basis: str) -> str:
    return f"{level.capitalize()} confidence, {basis}"


def _based_on(count: int) -> str:
    return f"based on {count} source{'' if count == 1 else 's'}"
