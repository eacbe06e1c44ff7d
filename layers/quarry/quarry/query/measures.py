"""Measures that a source declares: an aggregate by a name that always means the same. Pure."""

from __future__ import annotations

from typing import get_args

from quarry.query.algebra import Aggregate, Function
from quarry.query.paths import Rows, unknown
from quarry.query.schema import Measure


def defined(aggregate: Aggregate, rows: Rows, pointer: str) -> tuple[Measure, Aggregate]:
    """The measure that is named, and its aggregate, with the conditions under which it is asked for. Raises InvalidInput."""
    name = aggregate.field or ""
    found = rows.measures.get(name)
    if found is None:
        functions = [each for each in get_args(Function) if each != "measure"]
        raise unknown(pointer, rows.name, "measure or function", name, [*rows.measures, *functions])
    return found, _under(found.aggregate, aggregate)


def _under(definition: Aggregate, asked: Aggregate) -> Aggregate:
    if not asked.where:
        return definition
    if definition.of:
        of = tuple(_under(each, asked) if isinstance(each, Aggregate) else each for each in definition.of)
        return definition.model_copy(update={"of": of})
    return definition.model_copy(update={"where": (*definition.where, *asked.where)})
