"""Whether vectors that a table holds can be searched by: whether the model that embeds questions made them. Pure."""

from __future__ import annotations

from quarry.collections.column_types import VECTOR, dimensions_of
from quarry.collections.relations import Column, Embedding
from quarry.collections.row_choice import Vectors

_OR_EMBED = "or leave `vectors` out to have the texts embedded"


def vectors_problem(vectors: Vectors, column: Column, made: Embedding | None) -> str | None:
    """Why a column's vectors cannot be compared with those of questions, and what to do; None if they can be."""
    if made is None or not VECTOR.accepts(column):
        return None
    if vectors.model not in (None, made.model):
        return (
            f"{column.name!r} was made by {vectors.model}, and {made.model} embeds questions: set OPENAI_EMBEDDING_MODEL to "
            f"{vectors.model}, {_OR_EMBED}"
        )
    dimensions = dimensions_of(column)
    if dimensions not in (None, made.dimensions):
        return (
            f"{column.name!r} holds vectors of {dimensions} dimensions, and {made.model}, which embeds questions, makes "
            f"{made.dimensions}: set the model that made them (OPENAI_EMBEDDING_MODEL, EMBEDDING_DIMENSIONS) and run "
            f"`quarry embed --all`, {_OR_EMBED}"
        )
    return None
