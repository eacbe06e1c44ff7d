"""Scores of the pair models, recorded in `scores.npy`, so that tests need not compute them.

A score is found by its two texts, the model's weights and the code. One that is not recorded is computed, so a file that is out
of date only makes the tests slower. After a run of all tests, `python -m tests.recorded` records what this run has used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from inspect import getsource
from pathlib import Path
from typing import IO

import numpy as np

from quarry.models.local_embedding import MiniLM, WordPiece
from quarry.reader.learned import PairModel

FILE = Path(__file__).with_name("scores.npy")
ROW = np.dtype([("pair", "<u8"), ("score", "<f4")])
USED = Path(__file__).parents[1] / ".pytest_cache" / "scores"
"""What each process of the last run has used."""

compute_scores = PairModel.scores


@cache
def _recorded() -> dict[int, float]:
    rows = np.load(FILE) if FILE.exists() else np.empty(0, ROW)
    return dict(zip(rows["pair"].tolist(), rows["score"].tolist(), strict=True))


@cache
def _model(model: PairModel) -> bytes:
    """What its scores depend on. Adapters change each row of the weights."""
    layer = model._network._layers[0]
    code = "".join(map(getsource, (WordPiece, MiniLM, type(layer), PairModel)))
    weights = layer.queries_keys_values.weight[0]
    return hashlib.sha256(weights.tobytes() + repr((code, model._weights, model._bias)).encode()).digest()


def recorded_scores(used: IO[bytes]) -> Callable[[PairModel, str, Sequence[str]], list[float]]:
    """`PairModel.scores` from the record. Notes what is used."""

    def scores(model: PairModel, question: str, texts: Sequence[str]) -> list[float]:
        known = _recorded()
        pairs = [_key(model, question, text) for text in texts]
        missing = [text for pair, text in zip(pairs, texts, strict=True) if pair not in known]
        if missing:
            computed = dict(zip(missing, compute_scores(model, question, missing), strict=True))
            known |= {_key(model, question, text): score for text, score in computed.items()}
        found = [known[pair] for pair in pairs]
        used.write(np.array([*zip(pairs, found, strict=True)], ROW).tobytes())
        return found

    return scores


def _key(model: PairModel, question: str, text: str) -> int:
    return int.from_bytes(hashlib.sha256(_model(model) + repr((question, text)).encode()).digest()[:8], "little")


def main() -> None:
    rows = np.concatenate([np.fromfile(path, ROW) for path in USED.iterdir()])
    _, first = np.unique(rows["pair"], return_index=True)
    np.save(FILE, rows[first])
    print(f"{len(first)} scores recorded")


if __name__ == "__main__":
    main()
