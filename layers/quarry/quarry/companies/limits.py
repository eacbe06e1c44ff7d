"""The limits, thresholds and weights of a company search, as the settings have them."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import ConfigDict

from quarry.companies.candidates import Scoring
from quarry.core.lazy_model import LazyModel
from quarry.core.settings import Settings

_PREFIX = "company_"

TOP_COMPARED = 5
"""A search has converged when this many of the best are the same as before, in the same order."""


class CompanyLimits(LazyModel):
    """See the settings of the same names, with COMPANY_ before them."""

    model_config = ConfigDict(frozen=True)

    planner: Literal["always", "auto", "never"]
    max_iterations: int
    max_tool_calls: int
    max_seconds: float
    max_tokens: int
    exact_name_min: float
    seed_name_min: float
    confidence_target: float
    accepted_confidence_min: float
    name_similarity_min: float
    semantic_min: float
    semantic_weight: float
    keyword_weight: float
    niche_weight: float
    keyword_only_weight: float
    niche_only_weight: float
    variants_executed: int
    variants_held: int
    retrieved_max: int
    taxonomy_max: int
    hydrated_max: int
    filtered_max: int
    reranked_max: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls.model_validate({name: getattr(settings, _PREFIX + name) for name in cls.model_fields})

    @property
    def scoring(self) -> Scoring:
        """What the SQL functions are told."""
        return Scoring(
            semantic_weight=self.semantic_weight,
            keyword_weight=self.keyword_weight,
            niche_weight=self.niche_weight,
            keyword_only_weight=self.keyword_only_weight,
            niche_only_weight=self.niche_only_weight,
            min_semantic=self.semantic_min,
            min_name_similarity=self.name_similarity_min,
        )
