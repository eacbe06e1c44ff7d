"""The pair model trained for "does this sentence answer this question": the local embedding model with adapters of its own.

A score is the log-odds that the sentence answers; 0 is even. `tests/pairs/README.md` says what it was trained on, and
`tools.fit.adapters` trains it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

from quarry.models.local_embedding import LocalEmbedding, MiniLM, installed_weights
from quarry.models.safetensors import read_safetensors
from quarry.reader.pair_model import PairModel

ADAPTERS_FILE = "answers.safetensors"


@cache
def answer_model() -> PairModel | None:
    """The model of the package, read at the first call; None where the embedding model is not installed.

    Raises ModelUnavailable where it is and cannot be read.
    """
    if not LocalEmbedding.available():
        return None
    with as_file(files("quarry.records") / "weights" / ADAPTERS_FILE) as file:
        adapters = read_safetensors(file)
    return PairModel(MiniLM.with_adapters(installed_weights(), adapters), adapters)
