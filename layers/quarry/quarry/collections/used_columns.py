"""The columns of its source that a collection is made of, and how tables are joined: by what it names, else by the catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, LiteralString

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.facet_declaration import FacetDeclaration
from quarry.collections.json_paths import PathType, keys_of, path_sql
from quarry.collections.naming import table_name
from quarry.collections.path_types import Relations, path_types
from quarry.collections.reference_declarations import LinkDeclaration
from quarry.collections.relations import Column, Reference, Relation
from quarry.collections.templates import template_columns
from quarry.retrieval.facets import NUMERIC_KINDS, identifier

NUMBERS = frozenset(("smallint", "integer", "bigint", "numeric", "real", "double precision"))
"""The types of numbers, as `base` of a column."""
_TEXTS = frozenset(("text", "character varying"))


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

    def as_kind(self, name: str, kind: str, row: LiteralString) -> LiteralString:
        """Its value as a facet or a field of a kind has it. A column of that type stays bare, so that an index on it serves."""
        value, base = self.sql(name, row), self.base
        if self.is_array:
            return f"{value}::text[]"
        if kind == "date":
            return value if base == "date" else f"({value})::date"
        if kind in NUMERIC_KINDS:
            return value if base in NUMBERS else f"{value}::numeric"
        if kind == "boolean":
            return value if base == "boolean" else f"({value}::numeric <> 0)"
        return value if kind == "datetime" or base in _TEXTS else f"{value}::text"


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
        if facet.is_of_row
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


def joined_by(
    facet: FacetDeclaration, source: Relation, joins: Relation, other: Relation
) -> tuple[Reference | None, Reference | None]:
    """How a table joins rows of `source` with those of `other`: by the columns that the facet names, else by the only foreign
    keys of one column; None where that is not clear.
    """

    def reference(named: str | None, target: Relation) -> Reference | None:
        if named is not None:
            keys = target.primary_key[:1] if len(target.primary_key) == 1 else (named,)
            return Reference((named,), target.qualified, keys)
        found = [each for each in joins.references if each.target == target.qualified and len(each.columns) == 1]
        return found[0] if len(found) == 1 else None

    key = facet.key
    by, to = reference(facet.by, source), reference(facet.to, other)
    if to is not None and key is not None:
        to = Reference(to.columns, to.target, (key,))
    return by, to


def linked_by(link: LinkDeclaration, source: Relation) -> Reference | None:
    """How a link leads on: by the columns that it names, else by the foreign key of its columns; None where neither says it."""
    target = table_name(link.of) if link.of else None
    if target and link.key:
        return Reference(link.by, target, link.key)
    found = (each for each in source.references if each.columns == link.by and target in (None, each.target))
    return next(found, None)


def referred_key(source: Relation, by: str, other: Relation) -> str | None:
    """The column of `other` that the column `by` of `source` refers to where nothing else is said: that of the foreign key,
    else the primary key; None where that has several columns, or there is none.
    """
    for reference in source.references:
        if reference.columns == (by,) and reference.target == other.qualified:
            return reference.target_columns[0]
    return other.primary_key[0] if len(other.primary_key) == 1 else None
