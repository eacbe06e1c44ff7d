"""What is fitted for answering: the weights that say how likely records answer and the levels that follow, and the pair model
trained for "does this sentence answer this question". `tools/fit/answerability.py` and `tools/fit/adapters.py` fit them, and
`tests/pairs/README.md` says on what.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from quarry.platform.setting_fields import LOCAL_EMBEDDING_MODEL
from quarry.reader.features import chance_of
from quarry.reader.learned import PairModel, read_pair_model
from quarry.records.contract import ConfidenceLevel

WEIGHTS_FILE = "answerability.json"
BY_MEANING, BY_WORDS = "meaning", "words"
"""The two sets of weights: with the local embedding model, and where words are all that is known."""

Features = Mapping[str, float]


@dataclass(frozen=True)
class Fitted:
    """The weights for one kind of embedding model. A question is refused below one probability and doubted below another; `low`
    and `high` bound the levels of confidence. On questions to collections that it was not fitted to, high is right nine times in
    ten and low at most half of the time.
    """

    weights: Features
    refused_below: float
    doubted_below: float
    low: float
    high: float

    def probability(self, features: Features) -> float:
        """How likely a question with these features is answered, from 0 to 1."""
        return chance_of(self.weights, features)

    def level(self, probability: float) -> ConfidenceLevel:
        """How far an answer of this probability can be trusted."""
        if probability < self.low:
            return "low"
        return "high" if probability >= self.high else "medium"


@cache
def _all_fitted() -> Mapping[str, Fitted]:
    text = (files("quarry.records") / "weights" / WEIGHTS_FILE).read_text(encoding="utf-8")
    read: dict[str, dict[str, Any]] = json.loads(text)
    return {name: Fitted(**each) for name, each in read.items()}


def fitted_for(model: str) -> Fitted:
    """The weights for an embedding model; for one that none were fitted with, those that use words alone."""
    return _all_fitted()[BY_MEANING if model == LOCAL_EMBEDDING_MODEL else BY_WORDS]


ADAPTERS_FILE = "answers.safetensors"


@cache
def answer_model() -> PairModel | None:
    """The model that compares questions with sentences, read at the first call. None and errors as `read_pair_model`."""
    return read_pair_model("quarry.records", ADAPTERS_FILE)
