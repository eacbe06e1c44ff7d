"""The weights of the parts of segments, as the package holds them. `tools/fit/people` writes them."""

from __future__ import annotations

import json
import zlib
from functools import cache
from importlib.resources import files
from pathlib import Path

from quarry.people.meaning import Weights

WEIGHTS_FILE = "parts.json.zz"
"""JSON on one line, compressed by zlib: most of it is words that repeat."""


@cache
def learned() -> Weights:
    """What the package holds."""
    held: Weights = json.loads(zlib.decompress((files("quarry.people") / "weights" / WEIGHTS_FILE).read_bytes()))
    return held


def write(folder: Path, weights: Weights) -> int:
    """Write the file that `learned` reads; returns its bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(weights, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return (folder / WEIGHTS_FILE).write_bytes(zlib.compress(text.encode(), 9))
