"""Writes what was learned into the files that `quarry.reader.learned` reads."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quarry.reader.learned import CHANCES_FILE, WEIGHTS_FILE, WORDS_FILE, Calibration, KnownWords, Learned


def packed(weights: Sequence[float]) -> bytes:
    """Encodes weights for the file: the positions of the non-zero ones as deltas, then the values as half floats."""
    nonzero = [(place, weight) for place, weight in enumerate(weights) if struct.pack("<e", weight) not in _NOTHING]
    places = [place for place, _ in nonzero]
    steps = [place - before for place, before in zip(places, [0, *places], strict=False)]
    numbers = struct.pack(f"<I{len(nonzero)}H", len(nonzero), *steps)
    return zlib.compress(numbers + struct.pack(f"<{len(nonzero)}e", *(weight for _, weight in nonzero)), 9)


_NOTHING = (struct.pack("<e", 0.0), struct.pack("<e", -0.0))


def write(folder: Path, weights: Learned) -> None:
    """Writes the files that `learned` reads."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WEIGHTS_FILE).write_bytes(packed(weights.weights))
    chances = {
        "linear_share": weights.linear_share,
        "by_linear": _json(weights.by_linear),
        "by_both": _json(weights.by_both),
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


def write_words(folder: Path, vocabulary: KnownWords) -> None:
    """Writes the file that `known_words` reads."""
    stored = {
        "framing": {kind: sorted(words) for kind, words in sorted(vocabulary.framing.items())},
        "telling": sorted(vocabulary.telling),
        "grouping": sorted(vocabulary.grouping),
        "ordering": {
            way: {word: sorted(of) for word, of in sorted(words.items())} for way, words in vocabulary.ordering.items()
        },
    }
    (folder / WORDS_FILE).write_text(json.dumps(stored, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
