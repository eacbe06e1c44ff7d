"""The columns of its source that a collection is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, LiteralString

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.json_paths import PathType, keys_of, path_sql
from quarry.collections.naming import table_name
from quarry.collections.path_types import Relations, path_types
from quarry.collections.relations import Column, Relation
from quarry.collections.templates import (
    template_columns,
)
from quarry.retrieval.facets import identifier


@dataclass(frozen=True)
class UsedColumn:
    """A column that a collection is made of: its number in the table, and the type beneath its domains and arrays. Of a key in
    a JSON column, `path` is that column and the key.
    """

    number: int
    base: str
    is_array: bool
    path: tuple[str, ...] = ()

    @classmethod
    def of(cls, column: Column) -> UsedColumn:
        """A column of a table; of a path, by its name, what stands there."""
        return cls(column.number, column.base, column.is_array)

    @classmethod
    def at(cls, relation: Relation, name: str, type: PathType | None = None) -> UsedColumn:
        """A column or path of a table. Raises KeyError where there is none."""
        column = relation.at(name, type)
        if column is None:
            raise KeyError(name)
        return replace(cls.of(column), path=() if name in relation.by_name else keys_of(name))

    @classmethod
    def stored(cls, stored: Mapping[str, Any]) -> UsedColumn:
        """One that the database keeps."""
        return cls(**{**stored, "path": tuple(stored.get("path", ()))})

    def to_store(self) -> dict[str, object]:
        """What the database keeps of it: earlier versions know no paths."""
        kept = asdict(self)
        return kept if self.path else {name: each for name, each in kept.items() if name != "path"}

    def sql(self, name: str, row: LiteralString) -> LiteralString:
        """Its value in the row `row`; `name` is its own."""
        return (
            path_sql(self.path, PathType(self.base, self.is_array), row) if self.path else f"{row}.{identifier(name)}"
        )


def used_columns(declaration: CollectionDeclaration, relation: Relation, relations: Relations) -> dict[str, UsedColumn]:
    """The columns and paths of the source that a collection uses, by name; `relations` are the tables that it names.

    Raises KeyError for what there is not.
    """
    names = columns_named(declaration, key_of(declaration, relation))
    types = path_types(declaration, relations)
    return {name: UsedColumn.at(relation, name, types.get(name, PathType())) for name in names}


def columns_named(declaration: CollectionDeclaration, key: Sequence[str]) -> dict[str, None]:
    facets = [
        column
        for name, facet in declaration.facets.items()
        if facet.through is None
        for column in facet.used_columns or (name,)
    ]
    poll = [] if isinstance(declaration.sync, str) else [declaration.sync.poll]
    single = [name for name in (declaration.date, declaration.scope, declaration.language_column) if name]
    single += [*template_columns(declaration.url or ""), *(declaration.where.columns if declaration.where else ())]
    single += [declaration.vectors.column] if declaration.vectors else []
    references = [each.by for each in declaration.references.values()]
    if not declaration.is_searched:
        # of these no trigger compares the columns
        references += [*declaration.fields, *(name for each in declaration.links.values() for name in each.by)]
    return dict.fromkeys((
        *key, *declaration.text, *declaration.headings, *declaration.embedded, *declaration.shown, *single, *poll, *facets,
        *references,
    ))  # fmt: skip


def key_of(declaration: CollectionDeclaration, relation: Relation) -> tuple[str, ...]:
    """The columns that tell rows apart, by the declaration or else the primary key; none where rows are only counted and that
    key is hidden.
    """
    if declaration.key or declaration.is_searched or not {*relation.primary_key} & {*declaration.hidden}:
        return declaration.key or relation.primary_key
    return ()


def declared_source(declaration: CollectionDeclaration) -> tuple[str, str]:
    """Schema and name of what a declaration is made of."""
    return table_name(declaration.source)
