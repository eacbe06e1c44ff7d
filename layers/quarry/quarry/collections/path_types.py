"""The type of each JSON path, from how a declaration uses it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quarry.collections.declaration import CollectionDeclaration, Poll
from quarry.collections.facet_declaration import FacetDeclaration
from quarry.collections.json_paths import CATEGORIES, MOMENT, NUMBER, TEXT, TRUTH, PathType
from quarry.collections.naming import table_name
from quarry.collections.reference_declarations import Parent, Referred
from quarry.collections.relations import Column, Relation
from quarry.retrieval.facets import FacetKind

TYPES_OF_KINDS: Mapping[FacetKind, str] = {
    "number": NUMBER, "money": NUMBER, "year": NUMBER, "date": MOMENT, "boolean": TRUTH,
}  # fmt: skip
"""What values of these kinds are read as. All others are texts."""
_WHOLE_NUMBERS = frozenset(("bigint", "integer", "smallint"))

Relations = Mapping[tuple[str, str], Relation]


def path_types(declared: CollectionDeclaration, relations: Relations) -> dict[str, PathType]:
    """The types of what a declaration names of its source, by name. What it names as text alone is not among them."""
    types: dict[str, PathType] = {}
    for name, type in _uses(declared, relations):
        types.setdefault(name, type)
    return types


def _uses(declared: CollectionDeclaration, relations: Relations) -> Iterator[tuple[str, PathType]]:
    for name, facet in declared.facets.items():
        if facet.of is None and facet.related is None and facet.expression is None:
            yield from ((column, type_of_facet(facet)) for column in facet.columns_as(name))
    if declared.date is not None:
        yield declared.date, PathType(MOMENT)
    if isinstance(declared.sync, Poll):
        yield declared.sync.poll, PathType(MOMENT)
    of_facets = (facet.reference for facet in declared.facets.values() if facet.reference)
    for each in (*of_facets, *declared.references.values()):
        yield each.by, _type_of_key(each, relations)
    for facet in declared.facets.values():
        if facet.expression is not None:
            yield from ((column, PathType(NUMBER)) for column in facet.used_columns)


def type_of_facet(facet: FacetDeclaration) -> PathType:
    """The type that a path has in which a facet has its value."""
    return PathType(TYPES_OF_KINDS.get(facet.kind, TEXT), facet.kind == "array")


def _type_of_key(referred: Referred | Parent, relations: Relations) -> PathType:
    """The type by which a path is compared with the key that it refers to."""
    other = relations.get(table_name(referred.of))
    key = referred.key or (other.primary_key[0] if other is not None and len(other.primary_key) == 1 else None)
    return type_to_compare(other.by_name.get(key) if other is not None and key is not None else None)


def type_to_compare(column: Column | None) -> PathType:
    """The type that a path has which is compared with this column."""
    base = column.base if column is not None else TEXT
    base = "bigint" if base in _WHOLE_NUMBERS else base
    return PathType(base if base in CATEGORIES else TEXT)
