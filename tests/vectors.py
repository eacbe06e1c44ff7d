"""Vectors as text, for statements that tests send on connections of their own."""

from __future__ import annotations

from collections.abc import Sequence


def vector_literal(vector: Sequence[float]) -> str:
    """A vector as pgvector reads it; the SQL side casts it to halfvec."""
    return "[" + ",".join(format(value, ".6g") for value in vector) + "]"
