"""Vectors that tests choose, and vectors as text, for statements that they send on connections of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence

DIMENSIONS = 384


def vector_literal(vector: Sequence[float]) -> str:
    """A vector as pgvector reads it; the SQL side casts it to halfvec."""
    return "[" + ",".join(format(value, ".6g") for value in vector) + "]"


def direction(degrees: float) -> list[float]:
    """A unit vector at this angle to the first axis."""
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees)), *[0.0] * (DIMENSIONS - 2)]
