"""How tables are joined, by what a declaration names or else by foreign keys."""

from __future__ import annotations

from quarry.collections.declaration import FacetDeclaration
from quarry.collections.naming import table_name
from quarry.collections.reference_declarations import LinkDeclaration
from quarry.collections.relations import Reference, Relation


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
