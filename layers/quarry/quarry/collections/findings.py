"""What a declaration names, looked up in the catalog; what is missing or does not fit becomes a finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from quarry.collections.column_types import VECTOR, Fit, dimensions_of
from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.declaration_file import Lines
from quarry.collections.json_paths import PathType, covers, keys_of, overlap
from quarry.collections.naming import nearest, table_name
from quarry.collections.path_types import path_types
from quarry.collections.reference_declarations import Vectors
from quarry.collections.relations import Catalog, Column, Embedding, Relation

_SYSTEM_SCHEMAS = ("pg_catalog", "information_schema")
_UNQUOTABLE = frozenset("%{}")
"""What a name may not hold that stands in the text of a statement with parameters."""


@dataclass
class Checked:
    """What is wrong with declarations: errors forbid to use them, warnings do not."""

    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Findings:
    """The findings about one collection. `own_schema` is Quarry's, whose tables are no collections; None where they may be."""

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
        """The table or view of this name; None where there is none, which is an error at `path`."""
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
        """Of which type the paths are that are named of the source."""
        return path_types(self.declared, self.catalog.relations)

    def column(
        self, relation: Relation, name: str, fit: Fit, *path: str, type: PathType | None = None
    ) -> Column | None:
        """The column of a relation; None where there is none. What is missing or does not fit is an error at `path`."""
        is_own = relation.qualified == table_name(self.declared.source)
        column = relation.at(name, type or (self.types.get(name, PathType()) if is_own else PathType()))
        if column is None:
            self.wrong(f"{relation.name} has no column {name!r}{nearest(name, relation.names)}", *path)
        elif name in relation.by_name and keys_of(name) and not is_own:
            self.wrong(f"{name!r} is a column, and reads as a key in JSON: call it otherwise in a view", *path)
        elif _UNQUOTABLE & {*name}:
            self.wrong(f"a column called {name!r} cannot be used: give it a name without %, {{ and }} in a view", *path)
        elif not fit.accepts(column):
            self.wrong(f"the column {name!r} is {column.type}, not {fit.wanted}", *path)
        elif name not in relation.by_name:
            self._doubt_path(relation, name, *path)
        return column

    def _doubt_path(self, relation: Relation, name: str, *path: str) -> None:
        """A key that a sample does not have may be misspelt."""
        holder = keys_of(name)[0]
        seen = [each.name for each in relation.documents if covers(holder, each.name)]
        if seen and not any(overlap(name, each) for each in seen):
            self.doubtful(f"hardly any row of a sample has one value at {name!r}{nearest(name, seen)}", *path)


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
