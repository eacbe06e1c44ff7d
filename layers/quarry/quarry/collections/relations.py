"""The tables and views of a database as they are: their columns, keys, references, sizes, and what they let us do. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from quarry.collections.json_paths import CATEGORIES, JSON_TYPES, TEXT, PathType, keys_of
from quarry.collections.value_shapes import Seen

RelationKind = Literal["table", "partitioned table", "view", "materialized view", "foreign table"]


@dataclass(frozen=True)
class Column:
    """A column. `type` is its name in SQL, `base` that of the type beneath domains and arrays; `width` is in bytes.

    `distinct` is the planner's estimate of how many values there are: below 0, a share of the rows; None before ANALYZE. `least`
    and `most` are the ends of what it has seen of a number, `seen` what it has seen of texts.
    """

    name: str
    number: int
    type: str
    base: str
    category: str
    is_array: bool
    is_nullable: bool
    width: int | None
    distinct: float | None
    comment: str | None
    least: float | None = None
    most: float | None = None
    seen: Seen | None = None


def is_date_type(base: str) -> bool:
    """Whether a type, as `base` of a column, is of days or moments, not of times of day."""
    return base.startswith(("date", "timestamp"))


@dataclass(frozen=True)
class Reference:
    """A foreign key: these columns hold the key `target_columns` of the table `target`. `is_guessed`: no constraint says so."""

    columns: tuple[str, ...]
    target: tuple[str, str]
    target_columns: tuple[str, ...]
    is_guessed: bool = False


@dataclass(frozen=True)
class Relation:
    """A table or view. `rows` is the planner's estimate, None before ANALYZE and for views.

    `is_partition`: its rows are found in its parent, too. `is_row_security_active`: policies may hide rows from the role that
    looked; `may_select` and `may_trigger`: what its rights are. `bypassed` are the tables with policies that a view reads with
    the rights of its owner, or that a materialized view has copied: nothing hides their rows from who reads the view. `documents`
    are the keys that a sample of its JSON columns holds, as columns whose names are paths (`metadata.author`).
    """

    oid: int
    schema: str
    name: str
    kind: RelationKind
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    unique_keys: tuple[tuple[str, ...], ...]
    references: tuple[Reference, ...]
    rows: int | None
    is_partition: bool
    has_row_security: bool
    is_row_security_active: bool
    may_select: bool
    may_trigger: bool
    comment: str | None
    bypassed: tuple[str, ...] = ()
    documents: tuple[Column, ...] = ()

    @property
    def qualified(self) -> tuple[str, str]:
        """Schema and name."""
        return self.schema, self.name

    @property
    def keys(self) -> list[tuple[str, ...]]:
        """What tells each row from all others: the primary key, then the unique keys whose columns are never null."""
        never_null = {column.name for column in self.columns if not column.is_nullable}
        unique = [key for key in self.unique_keys if never_null.issuperset(key)]
        return [self.primary_key, *unique] if self.primary_key else unique

    @property
    def by_name(self) -> Mapping[str, Column]:
        """The columns, by name."""
        return {column.name: column for column in self.columns}

    @property
    def names(self) -> list[str]:
        """What a declaration can name: columns, and the keys that were seen in JSON."""
        return [*self.by_name, *(each.name for each in self.documents)]

    def at(self, name: str, type: PathType | None = None) -> Column | None:
        """A column, or a path as a column of the given type, else of the type that was seen there, else of text.

        None where there is no such column, or the one that a path begins with holds no JSON.
        """
        keys = keys_of(name)
        if name in self.by_name or not keys:
            return self.by_name.get(name)
        holder = self.by_name.get(keys[0])
        if holder is None or holder.is_array or holder.base not in JSON_TYPES:
            return None
        seen = next((each for each in self.documents if each.name == name), None)
        found = seen or Column(name, holder.number, TEXT, TEXT, "S", False, True, None, None, None)
        if type is None:
            return found
        return replace(found, type=type.base, base=type.base, category=CATEGORIES[type.base], is_array=type.is_array)


@dataclass(frozen=True)
class Embedding:
    """The model that embeds questions, and how many numbers a vector of it has."""

    model: str
    dimensions: int


@dataclass(frozen=True)
class Catalog:
    """What a declaration is checked against: the tables that it names, and all names that it could have meant.

    `languages` are text search configurations. `vectors` tells what those of tables are compared with, where that is known.
    """

    relations: Mapping[tuple[str, str], Relation]
    names: frozenset[tuple[str, str]]
    languages: frozenset[str]
    vectors: Embedding | None = None
