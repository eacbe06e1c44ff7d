"""The columns of its source that a collection uses, as SQL reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, LiteralString

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.relations import Column, PathType, Relation, keys_of, path_sql
from quarry.collections.uses import Relations, columns_named, declared_source, path_types
from quarry.collections.value_shapes import TRUTHS
from quarry.retrieval.facets import NUMERIC_KINDS, identifier

NUMBERS = frozenset(("smallint", "integer", "bigint", "numeric", "real", "double precision"))
"""The types of numbers, as `base` of a column."""
_TEXTS = frozenset(("text", "character varying"))


@dataclass(frozen=True)
class UsedColumn:
    """A column that a collection uses: its number in the table and its type without domains and arrays.

    For a key in a JSON column, `path` holds that column and the keys.
    """

    number: int
    base: str
    is_array: bool
    path: tuple[str, ...] = ()

    @classmethod
    def of(cls, column: Column) -> UsedColumn:
        """A column of a table."""
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
        """A column as the database stores it."""
        return cls(**{**stored, "path": tuple(stored.get("path", ()))})

    def to_store(self) -> dict[str, object]:
        """What the database stores. Earlier versions know no paths."""
        kept = asdict(self)
        return kept if self.path else {name: each for name, each in kept.items() if name != "path"}

    def sql(self, name: str, row: LiteralString) -> LiteralString:
        """The value of the column `name` in the row `row`."""
        return (
            path_sql(self.path, PathType(self.base, self.is_array), row) if self.path else f"{row}.{identifier(name)}"
        )

    def as_kind(self, name: str, kind: str, row: LiteralString) -> LiteralString:
        """The value as a facet or field of a kind. A column of that type is not cast, so that an index on it can be used."""
        value, base = self.sql(name, row), self.base
        if self.is_array:
            return f"{value}::text[]"
        if kind == "date":
            return value if base == "date" else f"({value})::date"
        if kind in NUMERIC_KINDS:
            return value if base in NUMBERS else f"{value}::numeric"
        if kind == "boolean":
            return value if base == "boolean" else _number_truth(value) if base in NUMBERS else _text_truth(value)
        return value if kind == "datetime" or base in _TEXTS else f"{value}::text"


def _number_truth(value: LiteralString) -> LiteralString:
    return f"({value}::numeric <> 0)"


def _text_truth(value: LiteralString) -> LiteralString:
    """Whether a text says yes; null where it says neither yes nor no."""
    text: LiteralString = f"lower(btrim({value}::text))"
    yes, no = (", ".join(f"'{pair[place]}'" for pair in (*TRUTHS, ("1", "0"))) for place in (0, 1))
    return f"(case when {text} in ({yes}) then true when {text} in ({no}) then false end)"


def used_columns(declaration: CollectionDeclaration, relation: Relation, relations: Relations) -> dict[str, UsedColumn]:
    """The columns and paths of the source that a collection uses, by name. `relations` are the tables that it names.

    Raises KeyError for a column that does not exist.
    """
    types = path_types(declaration, relations)
    names = columns_named(declaration, {**relations, declared_source(declaration): relation})
    return {name: UsedColumn.at(relation, name, types.get(name, PathType())) for name in names}
