"""References that no foreign key declares, by the names of columns: `customer_id` beside a table `customers`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from quarry.collections.column_types import is_comparable, is_single
from quarry.collections.guessing import words
from quarry.collections.relations import Column, Reference, Relation
from quarry.language.word_forms import singular

_OWN_NAME_MIN = 4
"""A table's name of so many letters may have others before it in the column that refers to it: `owneruserid`."""


def with_guessed_references(relations: Sequence[Relation]) -> list[Relation]:
    """The tables, with references from columns that no foreign key has to the table that their names mean."""
    prefix = _prefix(relations)
    targets = [target for relation in relations if (target := _target(relation, prefix))]
    return [replace(each, references=(*each.references, *_guessed(each, targets, prefix))) for each in relations]


def _prefix(relations: Sequence[Relation]) -> str | None:
    """The word that the names of all tables begin with, where they have more of them: `wp` of `wp_posts`."""
    named = [words(relation.name) for relation in relations if not relation.is_partition]
    firsts = {each[0] for each in named if len(each) > 1}
    return firsts.pop() if len(firsts) == 1 and len(named) > 1 and all(len(each) > 1 for each in named) else None


def _target(relation: Relation, prefix: str | None) -> tuple[Relation, Column, str] | None:
    """A table that can be referred to by one column, that key, and how a column that refers to it is called."""
    if relation.is_partition or relation.kind not in ("table", "partitioned table") or len(relation.primary_key) != 1:
        return None
    key = relation.by_name[relation.primary_key[0]]
    own, called = _name_of(relation, prefix), "".join(words(key.name))
    return relation, key, called if called.startswith(own) else own + called


def _name_of(relation: Relation, prefix: str | None) -> str:
    *before, last = words(relation.name)[prefix is not None :] or ("",)
    return "".join((*before, singular(last)))


def _guessed(
    relation: Relation, targets: Iterable[tuple[Relation, Column, str]], prefix: str | None
) -> Iterable[Reference]:
    known = {name for reference in relation.references for name in reference.columns}
    for column in relation.columns:
        if column.name in known or relation.primary_key == (column.name,) or not is_single(column):
            continue
        called = "".join(words(column.name))
        fitting = [
            (len(name), target.qualified, key)
            for target, key, name in targets
            if is_comparable(column, key)
            and (called == name or (called.endswith(name) and len(_name_of(target, prefix)) >= _OWN_NAME_MIN))
        ]
        if fitting:
            _, target, key = max(fitting, key=lambda each: each[0])
            yield Reference((column.name,), target, (key.name,), is_guessed=True)
