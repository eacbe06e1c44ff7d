"""The everyday words of English: what is one of them is no slip of the pen for something else."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from quarry.language.stemming import stem


def is_everyday(word: str) -> bool:
    """Whether `word`, in any of its forms, is a word that everybody uses. Names are none."""
    return stem(word) in _stems()


@cache
def _stems() -> frozenset[str]:
    lines = (Path(__file__).parent / "data" / "words.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))
