"""Vectors that tables hold, when all others are made by another model: taken over again, if they can be of that model."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.core.collections.collection import Collection
from quarry.core.collections.plain_columns import columns_of
from quarry.core.collections.relations import Embedding
from quarry.core.collections.upkeep import compare, keep_in_step, read_collections
from quarry.core.collections.vectors_given import vectors_problem
from quarry.core.errors import ConfigurationError
from quarry.core.model.interface import EmbeddingModel
from quarry.core.postgres.embed import remember_model
from quarry.core.postgres.pool import Database


async def with_given_vectors(database: Database, model: EmbeddingModel) -> list[Collection]:
    """The collections whose tables hold their vectors. Raises ConfigurationError where these cannot be of the model."""
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
    """Read the vectors of these collections from their tables again, and have the database remember the model."""
    if not collections:
        return
    await remember_model(database, model)
    for each in collections:
        await compare(database, each)
    await keep_in_step(database, collections)
