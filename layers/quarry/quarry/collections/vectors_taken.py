"""Vectors that tables hold: checks that the model which embeds questions made them, and reads them again after a change of
model.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Sequence

from quarry.collections.catalog_reading import columns_of
from quarry.collections.collection import Collection
from quarry.collections.findings import vectors_problem
from quarry.collections.relations import Embedding
from quarry.collections.row_sql import LINE_BREAK, joined_texts
from quarry.collections.upkeep import compare, keep_in_step, read_collections
from quarry.models.interface import EmbeddingModel
from quarry.platform.errors import ConfigurationError
from quarry.postgres.embed import remember_model
from quarry.postgres.pool import Database

ROWS_COMPARED = 5
CHARACTERS_COMPARED = 1_000
UNLIKE = 0.25
"""The least cosine between two vectors of the same text from one model.

Vectors of different models are as good as random: with 384 numbers, five standard deviations are 0.25, with more numbers
less. Vectors of the same model are near 1, even if more or less of the text was embedded.
"""


async def with_given_vectors(database: Database, model: EmbeddingModel) -> list[Collection]:
    """The collections whose tables hold vectors. Raises ConfigurationError where the model cannot have made them."""
    found = [each for each in (await read_collections(database)).values() if each.declaration.vectors]
    columns = await columns_of(database, [each.source for each in found])
    for each in found:
        vectors = each.declaration.vectors
        column = next((one for one in columns[each.source] if vectors and one.name == vectors.column), None)
        made = Embedding(model.name, model.dimensions)
        if vectors and column and (problem := vectors_problem(vectors, column, made)):
            raise ConfigurationError(f"{each.name}: {problem}, and run `quarry apply` first.")
    return found


async def take_over_vectors(database: Database, collections: Sequence[Collection], model: EmbeddingModel) -> None:
    """Read the vectors of these collections from their tables again, and store the name of the model."""
    if not collections:
        return
    await remember_model(database, model)
    for each in collections:
        await compare(database, each)
    await keep_in_step(database, collections)


async def are_unlike(database: Database, collection: Collection, model: EmbeddingModel) -> bool:
    """Whether a few vectors of a collection's table are unlike those that the model makes of the same texts.

    Raises ModelError, and PostgresError where the table cannot be read.
    """
    vectors = collection.declaration.vectors
    assert vectors is not None, collection.name
    vector = collection.column(vectors.column)
    text = joined_texts(LINE_BREAK, map(collection.text, collection.declaration.text))
    rows = await database.rows(
        f"select left({text}, %(most)s) as said, {vector}::text as vector from {collection.source_sql} x"
        f" where {vector} is not null and {text} <> '' limit %(rows)s",
        {"most": CHARACTERS_COMPARED, "rows": ROWS_COMPARED},
    )
    made = await model.embed([row["said"] for row in rows]) if rows else []
    likeness = [_cosine(json.loads(row["vector"]), each) for row, each in zip(rows, made, strict=True)]
    return bool(likeness) and max(likeness) < UNLIKE


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(map(operator.mul, one, other)) / lengths if lengths else 0.0
