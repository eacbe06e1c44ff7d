"""The pair model trained for "does this sentence answer this question": the local embedding model with adapters of its own.

A score is the log-odds that the sentence answers; 0 is even. `tests/pairs/README.md` says what it was trained on, and
`tools.fit.adapters` trains it.
"""

from __future__ import annotations

from functools import cache

from quarry.reader.learned import PairModel, read_pair_model

ADAPTERS_FILE = "answers.safetensors"


@cache
def answer_model() -> PairModel | None:
    """The model that compares questions with sentences, read at the first call. None and errors as `read_pair_model`."""
    return read_pair_model("quarry.records", ADAPTERS_FILE)
