"""Measures that a source declares: an aggregate by a name that always means the same. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

from quarry.query.algebra import Aggregate, Function
from quarry.query.paths import Rows, unknown
from quarry.query.schema import Measure


def defined(aggregate: Aggregate, rows: Rows, pointer: str) -> tuple[Measure, Aggregate]:
    """The measure that is named, and its aggregate, with the conditions under which it is asked for. Raises InvalidInput."""
    name = aggregate.field or ""
    found = measure_called(name, rows.measures)
    if found is None:
        functions = [each for each in get_args(Function) if each != "measure"]
        raise unknown(pointer, rows.name, "measure or function", name, [*rows.measures, *functions])
    return found, _under(found.aggregate, aggregate)


def measure_called(name: str, measures: Mapping[str, Measure]) -> Measure | None:
    """The measure of this name or synonym, in any case."""
    if name in measures:
        return measures[name]
    text = name.strip().casefold()
    return next(
        (
            each
            for each in measures.values()
            if text in (other.casefold() for other in (each.name, each.label, *each.synonyms))
        ),
        None,
    )


def measures_named(aggregates: Iterable[Aggregate], measures: Mapping[str, Measure]) -> dict[str, Measure]:
    """The measures that aggregates are computed of, and those that these are, by name."""
    found: dict[str, Measure] = {}
    open_ = [*aggregates]
    while open_:
        for leaf in open_.pop().leaves:
            measure = measure_called(leaf.field or "", measures) if leaf.fn == "measure" else None
            if measure is not None and measure.name not in found:
                found[measure.name] = measure
                open_.append(measure.aggregate)
    return found


def _under(definition: Aggregate, aggregate: Aggregate) -> Aggregate:
    if not aggregate.where:
        return definition
    if definition.of:
        of = tuple(_under(each, aggregate) if isinstance(each, Aggregate) else each for each in definition.of)
        return definition.model_copy(update={"of": of})
    return definition.model_copy(update={"where": (*definition.where, *aggregate.where)})
