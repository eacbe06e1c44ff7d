"""What was learned from data: the weights of features, how likely a reading is right, and the model that scores pairs of texts.
`tools/fit` writes all of them.

The second stage: the local embedding model reads a question together with a candidate in words, and scores the pair. Low-rank
adapters (LoRA, Hu et al. 2021) turn the weights that embed into weights that compare; the rest of the model stays as it is. A
pair is [CLS] question [SEP] candidate [SEP], as BERT reads two texts (Devlin et al. 2018). The score is a linear map of the mean
of the outputs; 0 is the score of "none of these".
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quarry.models.local_embedding import LocalEmbedding, MiniLM, installed_weights
from quarry.models.safetensors import read_safetensors
from quarry.reader.features import DIMENSIONS, chance_of

if TYPE_CHECKING:
    from quarry.models.local_embedding import Array

WEIGHTS_FILE = "weights.bin"
CHANCES_FILE = "chances.json"
NEVER = 2.0
"""A threshold that no chance reaches."""


@dataclass(frozen=True)
class Thresholds:
    """How likely an answer of a kind must be right to be given without doubt, and to be given at all."""

    confident: float
    doubted: float


@dataclass(frozen=True)
class Calibration:
    """`coefficients` make a chance of what is known about a reading; `thresholds` are by the kind of answer."""

    coefficients: Mapping[str, float]
    thresholds: Mapping[str, Thresholds]

    def chance(self, known: Mapping[str, float]) -> float:
        """How likely a reading is right of which this is known."""
        return chance_of(self.coefficients, known)

    def thresholds_of(self, kind: str) -> Thresholds:
        """The thresholds of a kind of answer; of one that was never seen, nothing is given."""
        return self.thresholds.get(kind, Thresholds(NEVER, NEVER))


@dataclass(frozen=True)
class Learned:
    """The weights of the linear stage, and the calibration of readings by it alone and by both stages. `linear_share` is what the
    linear score counts next to that of the pair model.
    """

    weights: Sequence[float]
    by_linear: Calibration
    by_both: Calibration
    linear_share: float

    def calibration(self, *, has_pairs: bool) -> Calibration:
        """The calibration of readings with or without the pair model."""
        return self.by_both if has_pairs else self.by_linear


@cache
def learned() -> Learned:
    """What the package holds."""
    folder = files("quarry.reader") / "weights"
    chances = json.loads((folder / CHANCES_FILE).read_text(encoding="utf-8"))
    weights = unpacked((folder / WEIGHTS_FILE).read_bytes())
    by_linear, by_both = (_calibration(chances[name]) for name in ("by_linear", "by_both"))
    return Learned(weights, by_linear, by_both, chances["linear_share"])


def _calibration(chances: Mapping[str, Any]) -> Calibration:
    thresholds = {kind: Thresholds(**each) for kind, each in chances["thresholds"].items()}
    return Calibration(chances["coefficients"], thresholds)


def packed(weights: Sequence[float]) -> bytes:
    """Weights as the file has them: the places of those that are not 0, as steps from one to the next, then their halves."""
    kept = [(place, weight) for place, weight in enumerate(weights) if struct.pack("<e", weight) not in _NOTHING]
    places = [place for place, _ in kept]
    steps = [place - before for place, before in zip(places, [0, *places], strict=False)]
    numbers = struct.pack(f"<I{len(kept)}H", len(kept), *steps)
    return zlib.compress(numbers + struct.pack(f"<{len(kept)}e", *(weight for _, weight in kept)), 9)


_NOTHING = (struct.pack("<e", 0.0), struct.pack("<e", -0.0))


def unpacked(data: bytes) -> list[float]:
    """The weights of a file."""
    held = zlib.decompress(data)
    (count,) = struct.unpack_from("<I", held)
    steps = struct.unpack_from(f"<{count}H", held, 4)
    values = struct.unpack_from(f"<{count}e", held, 4 + 2 * count)
    weights, place = [0.0] * DIMENSIONS, 0
    for step, value in zip(steps, values, strict=True):
        place += step
        weights[place] = value
    return weights


def write(folder: Path, given: Learned) -> None:
    """Write the files that `learned` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WEIGHTS_FILE).write_bytes(packed(given.weights))
    chances = {
        "linear_share": given.linear_share,
        "by_linear": _json(given.by_linear),
        "by_both": _json(given.by_both),
    }
    (folder / CHANCES_FILE).write_text(json.dumps(chances, indent=1) + "\n", encoding="utf-8")


def _json(calibration: Calibration) -> dict[str, Any]:
    return {
        "coefficients": {name: round(value, 4) for name, value in calibration.coefficients.items()},
        "thresholds": {
            kind: {"confident": round(each.confident, 4), "doubted": round(each.doubted, 4)}
            for kind, each in calibration.thresholds.items()
        },
    }


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
