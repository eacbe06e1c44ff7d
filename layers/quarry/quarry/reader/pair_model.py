"""The second stage: the local embedding model reads a question together with a candidate in words, and scores the pair.

Low-rank adapters (LoRA, Hu et al. 2021) turn the weights that embed into weights that compare; the rest of the model stays
as it is. A pair is [CLS] question [SEP] candidate [SEP], as BERT reads two texts (Devlin et al. 2018). The score is a linear
map of the mean of the outputs; 0 is the score of "none of these". `tools.fit.adapters` trains the adapters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from quarry.models.local_embedding import LocalEmbedding, MiniLM, installed_weights
from quarry.models.safetensors import read_safetensors

if TYPE_CHECKING:
    from quarry.models.local_embedding import Array

ADAPTERS_FILE = "adapters.safetensors"
PAIRS_MAX = 10
"""Candidates of a question that are read."""
QUESTION_PIECES_MAX = 48
CANDIDATE_PIECES_MAX = 48
HEAD_WEIGHT = "head.weight"
HEAD_BIAS = "head.bias"


def first_text(question: str, previous: str) -> str:
    """What candidates are read next to: the question, behind the one that it may go on from."""
    return f"{previous} / {question}" if previous else question


def encoded_pair(question: Sequence[int], candidate: Sequence[int]) -> tuple[list[int], int]:
    """The pieces of two texts in one, each encoded by itself, and where the second begins. The end of a question stays."""
    start, *said = question
    first = [start, *said[-QUESTION_PIECES_MAX:]]
    return [*first, *candidate[1:][-CANDIDATE_PIECES_MAX:]], len(first)


class PairModel:
    """The embedding model with adapters and a head. It never changes, so threads may share it."""

    def __init__(self, network: MiniLM, adapters: Mapping[str, Array]) -> None:
        self._network = network
        self._weights = [float(each) for each in adapters[HEAD_WEIGHT]]
        self._bias = float(adapters[HEAD_BIAS][0])

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each candidate fits the question, which is as `first_text` has it."""
        encode = self._network.tokenizer.encode
        said = encode(question)
        means = self._network.means([encoded_pair(said, encode(text)) for text in texts])
        return [float(mean @ self._weights) + self._bias for mean in means]


def read_pair_model(package: str, file: str) -> PairModel | None:
    """The embedding model with the adapters of `file` among the weights of a package; None where the embedding model is not
    installed.

    Raises ModelUnavailable where it is and cannot be read.
    """
    if not LocalEmbedding.available():
        return None
    with as_file(files(package) / "weights" / file) as path:
        adapters = read_safetensors(path)
    return PairModel(MiniLM.with_adapters(installed_weights(), adapters), adapters)


@cache
def pair_model() -> PairModel | None:
    """The model that compares questions with queries, read at the first call. None and errors as `read_pair_model`."""
    return read_pair_model("quarry.reader", ADAPTERS_FILE)
