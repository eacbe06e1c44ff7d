"""Tables as the catalog tells them, made without a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from quarry.collections.relations import Catalog, Column, Reference, Relation

TYPES = {
    "text": ("text", "S"), "varchar(40)": ("character varying", "S"), "citext": ("citext", "S"), "integer": ("integer", "N"),
    "bigint": ("bigint", "N"), "numeric(10,2)": ("numeric", "N"), "money": ("money", "N"), "boolean": ("boolean", "B"),
    "date": ("date", "D"), "timestamp with time zone": ("timestamp with time zone", "D"),
    "time without time zone": ("time without time zone", "D"), "uuid": ("uuid", "U"), "json": ("json", "U"),
    "jsonb": ("jsonb", "U"), "bytea": ("bytea", "U"), "tsvector": ("tsvector", "U"), "mood": ("mood", "E"),
    "point": ("point", "G"), "inet": ("inet", "I"), "interval": ("interval", "T"), '"char"': ('"char"', "Z"),
}  # fmt: skip
"""The base and the category of types, by their names."""


def column(name: str, type: str = "text", *, number: int = 1, is_nullable: bool = True, **known: Any) -> Column:
    """A column of a type of TYPES, or of an array of it, as in `text[]`."""
    base, category = TYPES[type.removesuffix("[]")]
    facts = {"width": None, "distinct": None, "comment": None, **known}
    return Column(name, number, type, base, category, type.endswith("[]"), is_nullable, **facts)


def table(
    name: str,
    columns: Sequence[tuple[str, str] | Column],
    *,
    key: Sequence[str] = (),
    unique: Sequence[Sequence[str]] = (),
    references: Sequence[Reference] = (),
    **known: Any,
) -> Relation:
    """A table with a primary key, whose columns are never null, and unique ones. `known` are other facts of it."""
    facts = {
        "oid": 1, "schema": "public", "kind": "table", "rows": None, "is_partition": False, "has_row_security": False,
        "is_row_security_active": False, "may_select": True, "may_trigger": True, "comment": None, **known,
    }  # fmt: skip
    return Relation(
        name=name,
        columns=tuple(
            each if isinstance(each, Column) else column(*each, number=place, is_nullable=each[0] not in key)
            for place, each in enumerate(columns, 1)
        ),
        primary_key=tuple(key),
        unique_keys=tuple(map(tuple, unique)),
        references=tuple(references),
        **facts,
    )


def catalog(*relations: Relation) -> Catalog:
    """These tables are all that there is."""
    by_name = {relation.qualified: relation for relation in relations}
    return Catalog(by_name, frozenset(by_name), frozenset({"english", "german", "simple"}))
