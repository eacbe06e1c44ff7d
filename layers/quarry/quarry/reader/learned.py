"""What was learned from data: the weights of features, the calibration of readings, and the model that scores pairs of texts.
`tools/fit` writes all of them.

In the second stage, the local embedding model reads a question together with a candidate as text, and scores the pair. Low-rank
adapters (LoRA, Hu et al. 2021) turn the embedding weights into comparison weights; the rest of the model stays unchanged. A
pair is [CLS] question [SEP] candidate [SEP], as BERT reads two texts (Devlin et al. 2018). The score is a linear map of the
mean of the outputs; 0 is the score of "none of these".
"""

from __future__ import annotations

import json
import struct
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from quarry.models.local_embedding import LocalEmbedding, MiniLM, installed_weights, read_safetensors
from quarry.reader.features import DIMENSIONS, chance_of

if TYPE_CHECKING:
    from quarry.models.local_embedding import Array

WEIGHTS_FILE = "weights.bin"
CHANCES_FILE = "chances.json"
WORDS_FILE = "words.json"
NEVER = 2.0
"""A threshold that no probability reaches."""


class Thresholds(NamedTuple):
    """How likely an answer of a kind must be right to be given without doubt, and to be given at all."""

    confident: float
    doubted: float


class Calibration(NamedTuple):
    """`coefficients` turn what is known about a reading into a probability; `thresholds` are by kind of answer."""

    coefficients: Mapping[str, float]
    thresholds: Mapping[str, Thresholds]

    def chance(self, properties: Mapping[str, float]) -> float:
        """The probability that a reading with these properties is right."""
        return chance_of(self.coefficients, properties)

    def thresholds_of(self, kind: str) -> Thresholds:
        """The thresholds for a kind of answer. A kind that was never seen in training gets no answer."""
        return self.thresholds.get(kind, Thresholds(NEVER, NEVER))


class Learned(NamedTuple):
    """The weights of the linear stage, and the calibration with and without the pair model. `linear_share` is the factor of the
    linear score when it is added to the score of the pair model.
    """

    weights: Sequence[float]
    by_linear: Calibration
    by_both: Calibration
    linear_share: float

    def calibration(self, *, has_pairs: bool) -> Calibration:
        """The calibration with or without the pair model."""
        return self.by_both if has_pairs else self.by_linear


@cache
def learned() -> Learned:
    """Reads the weights and calibrations in the package."""
    folder = files("quarry.reader") / "weights"
    chances = json.loads((folder / CHANCES_FILE).read_text(encoding="utf-8"))
    weights = StoredWeights((folder / WEIGHTS_FILE).read_bytes())
    by_linear, by_both = (_calibration(chances[name]) for name in ("by_linear", "by_both"))
    return Learned(weights, by_linear, by_both, chances["linear_share"])


ANYTHING = "*"
COUNT = "count"


class KnownWords(NamedTuple):
    """Words of questions that the data answers: those that frame a question and state no condition, by kind of answer, and those
    that name nothing but can tell what is asked for. `ordering` are the words for the most or least, by direction, each with
    what it was said of: what a field `measures`, COUNT, and ANYTHING if it is said of numbers of all kinds. `grouping` are the
    words that ask for groups.
    """

    framing: Mapping[str, frozenset[str]]
    telling: frozenset[str]
    grouping: frozenset[str]
    ordering: Mapping[str, Mapping[str, frozenset[str]]]


@cache
def known_words() -> KnownWords:
    """Reads the known words in the package."""
    stored = json.loads((files("quarry.reader") / "weights" / WORDS_FILE).read_text(encoding="utf-8"))
    ordering = {way: {word: frozenset(of) for word, of in words.items()} for way, words in stored["ordering"].items()}
    framing = {kind: frozenset(words) for kind, words in stored["framing"].items()}
    return KnownWords(framing, frozenset(stored["telling"]), frozenset(stored["grouping"]), ordering)


def _calibration(chances: Mapping[str, Any]) -> Calibration:
    thresholds = {kind: Thresholds(**each) for kind, each in chances["thresholds"].items()}
    return Calibration(chances["coefficients"], thresholds)


class StoredWeights(Sequence[float]):
    """The weights of a file, each decoded when it is read: a question needs few of them, and to decode all takes 80 ms."""

    def __init__(self, data: bytes) -> None:
        unpacked = zlib.decompress(data)
        (count,) = struct.unpack_from("<I", unpacked)
        steps = array("H", unpacked[4 : 4 + 2 * count])
        if sys.byteorder == "big":
            steps.byteswap()
        self._places = array("I", accumulate(steps))
        self._values = unpacked[4 + 2 * count :]
        self._cache: dict[int, float] = {}

    def __len__(self) -> int:
        return DIMENSIONS

    @overload
    def __getitem__(self, place: int) -> float: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[float]: ...
    def __getitem__(self, place: int | slice) -> float | Sequence[float]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(DIMENSIONS))]
        weight = self._cache.get(place)
        if weight is None:
            weight = self._cache[place] = self._decoded(place)
        return weight

    def __iter__(self) -> Iterator[float]:
        return map(self._decoded, range(DIMENSIONS))

    def _decoded(self, place: int) -> float:
        number = bisect_left(self._places, place)
        if number == len(self._places) or self._places[number] != place:
            return 0.0
        weight: float = struct.unpack_from("<e", self._values, 2 * number)[0]
        return weight


ADAPTERS_FILE = "adapters.safetensors"
PAIRS_MAX = 10
"""How many candidates of a question the pair model reads."""
QUESTION_PIECES_MAX = 48
CANDIDATE_PIECES_MAX = 48
HEAD_WEIGHT = "head.weight"
HEAD_BIAS = "head.bias"


def first_text(question: str, previous: str) -> str:
    """The first text of each pair: the question, after the previous one if it is a follow-up."""
    return f"{previous} / {question}" if previous else question


def encoded_pair(question: Sequence[int], candidate: Sequence[int]) -> tuple[list[int], int]:
    """Two encoded texts as one pair, and the position where the second starts. A long question loses its beginning."""
    start, *question_tokens = question
    first = [start, *question_tokens[-QUESTION_PIECES_MAX:]]
    return [*first, *candidate[1:][-CANDIDATE_PIECES_MAX:]], len(first)


class PairModel:
    """The embedding model with adapters and a head. It is immutable, so threads can share it."""

    def __init__(self, network: MiniLM, adapters: Mapping[str, Array]) -> None:
        self._network = network
        self._weights = [float(each) for each in adapters[HEAD_WEIGHT]]
        self._bias = float(adapters[HEAD_BIAS][0])

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each candidate fits the question, which `first_text` made."""
        encode = self._network.tokenizer.encode
        question_tokens = encode(question)
        means = self._network.means([encoded_pair(question_tokens, encode(text)) for text in texts])
        return [float(mean @ self._weights) + self._bias for mean in means]


def read_pair_model(package: str, file: str) -> PairModel | None:
    """The embedding model with the adapters in `file`, from the weights of a package. None if the embedding model is not
    installed.

    Raises ModelUnavailable if it is installed but cannot be read.
    """
    if not LocalEmbedding.available():
        return None
    with as_file(files(package) / "weights" / file) as path:
        adapters = read_safetensors(path)
    return PairModel(MiniLM.with_adapters(installed_weights(), adapters), adapters)


@cache
def pair_model() -> PairModel | None:
    """The model that compares questions with queries, loaded on first use. Returns and raises as `read_pair_model` does."""
    return read_pair_model("quarry.reader", ADAPTERS_FILE)
