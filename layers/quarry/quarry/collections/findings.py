"""Looks up in the catalog what a declaration names. What is missing or does not fit becomes an error or a warning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from quarry.collections.column_types import VECTOR, dimensions_of
from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.declaration_file import Lines
from quarry.collections.json_paths import PathType, covers, keys_of, overlap
from quarry.collections.naming import nearest, table_name
from quarry.collections.reference_declarations import Vectors
from quarry.collections.relations import Catalog, Column, Embedding, Relation
from quarry.collections.uses import Use, path_types

_SYSTEM_SCHEMAS = ("pg_catalog", "information_schema")
_UNQUOTABLE = frozenset("{}")
"""Characters that mean something else in the text of a statement with parameters."""


@dataclass
class Checked:
    """What is wrong with declarations. With errors they cannot be used; with warnings they can."""

    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Findings:
    """The findings about one collection. `own_schema` is Quarry's, whose tables cannot be collections; None where they can."""

    name: str
    declared: CollectionDeclaration
    catalog: Catalog
    lines: Lines
    own_schema: str | None
    checked: Checked

    def wrong(self, message: str, *path: str) -> None:
        """Note an error at the key `path` of the collection."""
        self.checked.errors.append(self.lines.problem(("collections", self.name, *path), message))

    def doubtful(self, message: str, *path: str) -> None:
        """Note a warning at the key `path` of the collection."""
        self.checked.warnings.append(self.lines.problem(("collections", self.name, *path), message))

    def relation(self, name: str, *path: str) -> Relation | None:
        """The table or view of this name; None where it does not exist, which is an error at `path`."""
        qualified = table_name(name)
        schema, table = qualified
        if schema in (self.own_schema, *_SYSTEM_SCHEMAS):
            self.wrong(f"{table} belongs to the schema {schema}, which is not searched", *path)
            return None
        relation = self.catalog.relations.get(qualified)
        if relation is None:
            self.wrong(f"there is no table or view {schema}.{table}{self._nearest_table(qualified)}", *path)
        return relation

    def _nearest_table(self, qualified: tuple[str, str]) -> str:
        schema, table = qualified
        elsewhere = sorted(f"{known}.{table}" for known, name in self.catalog.names if name == table)
        if elsewhere:
            return f"; did you mean {elsewhere[0]!r}?"
        own = [".".join(known) for known in self.catalog.names if known[0] != self.own_schema]
        return nearest(f"{schema}.{table}", own)

    @cached_property
    def types(self) -> Mapping[str, PathType]:
        """The types of the JSON paths of the source, by name."""
        return path_types(self.declared, self.catalog.relations)

    def column(self, relation: Relation, use: Use) -> Column | None:
        """The column of `relation` that is used; None where it does not exist, which is an error. So is one that does not fit."""
        name, is_own = use.column, use.of is None
        column = relation.at(name, (self.types.get(name) if is_own else use.type) or PathType())
        if column is None:
            self.wrong(f"{relation.name} has no column {name!r}{nearest(name, relation.names)}", *use.path)
        elif name in relation.by_name and keys_of(name) and not is_own:
            self.wrong(f"{name!r} is a column, but reads as a key in JSON: rename it in a view", *use.path)
        elif _UNQUOTABLE & {*name}:
            self.wrong(f"a column called {name!r} cannot be used: rename it in a view, without {{ and }}", *use.path)
        elif not use.fit.accepts(column):
            self.wrong(f"the column {name!r} is {column.type}, not {use.fit.wanted}", *use.path)
        elif name not in relation.by_name:
            self._doubt_path(relation, name, *use.path)
        return column

    def _doubt_path(self, relation: Relation, name: str, *path: str) -> None:
        """Warn of a key that no row of the sample has: it may be misspelt."""
        holder = keys_of(name)[0]
        seen = [each.name for each in relation.documents if covers(holder, each.name)]
        if seen and not any(overlap(name, each) for each in seen):
            self.doubtful(f"few or no rows of a sample have a single value at {name!r}{nearest(name, seen)}", *path)


_OR_EMBED = "or delete `vectors` to have the texts embedded"


def vectors_problem(vectors: Vectors, column: Column, made: Embedding | None) -> str | None:
    """Why a column's vectors cannot be compared with those of questions, and what to do; None if they can be."""
    if made is None or not VECTOR.accepts(column):
        return None
    if vectors.model not in (None, made.model):
        return (
            f"{column.name!r} was made by {vectors.model}, but {made.model} embeds questions: set OPENAI_EMBEDDING_MODEL to "
            f"{vectors.model}, {_OR_EMBED}"
        )
    dimensions = dimensions_of(column)
    if dimensions not in (None, made.dimensions):
        return (
            f"{column.name!r} holds vectors of {dimensions} dimensions, but {made.model}, which embeds questions, makes "
            f"{made.dimensions}: set the model that made them (OPENAI_EMBEDDING_MODEL, EMBEDDING_DIMENSIONS) and run "
            f"`quarry embed --all`, {_OR_EMBED}"
        )
    return None
