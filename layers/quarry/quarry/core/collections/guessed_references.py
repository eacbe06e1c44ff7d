"""References that no foreign key declares, by the names of columns: `customer_id` beside a table `customers`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from quarry.core.collections.column_types import is_comparable, is_single
from quarry.core.collections.guessing import words
from quarry.core.collections.relations import Column, Reference, Relation
from quarry.core.language.nouns import singular

_OWN_NAME_MIN = 4
"""A table's name of so many letters may have others before it in the column that refers to it: `owneruserid`."""


def with_guessed_references(relations: Sequence[Relation]) -> list[Relation]:
    """The tables, with references from columns that no foreign key has to the table that their names mean."""
    targets = [target for relation in relations if (target := _target(relation))]
    return [replace(each, references=(*each.references, *_guessed(each, targets))) for each in relations]


def _target(relation: Relation) -> tuple[Relation, Column, str] | None:
    """A table that can be referred to by one column, that key, and how a column that refers to it is called."""
    if relation.is_partition or relation.kind not in ("table", "partitioned table") or len(relation.primary_key) != 1:
        return None
    key = relation.by_name[relation.primary_key[0]]
    own, called = _name_of(relation), "".join(words(key.name))
    return relation, key, called if called.startswith(own) else own + called


def _name_of(relation: Relation) -> str:
    *before, last = words(relation.name) or ("",)
    return "".join((*before, singular(last)))


def _guessed(relation: Relation, targets: Iterable[tuple[Relation, Column, str]]) -> Iterable[Reference]:
    known = {name for reference in relation.references for name in reference.columns}
    for column in relation.columns:
        if column.name in known or relation.primary_key == (column.name,) or not is_single(column):
            continue
        called = "".join(words(column.name))
        fitting = [
            (len(name), target.qualified, key)
            for target, key, name in targets
            if is_comparable(column, key)
            and (called == name or (called.endswith(name) and len(_name_of(target)) >= _OWN_NAME_MIN))
        ]
        if fitting:
            _, target, key = max(fitting, key=lambda each: each[0])
            yield Reference((column.name,), target, (key.name,), is_guessed=True)
