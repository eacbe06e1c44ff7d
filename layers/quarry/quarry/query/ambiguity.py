"""What a query must tell apart though it does not say so: amounts in several currencies, and rows of one name. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pydantic import ValidationError

from quarry.platform.errors import InvalidInput
from quarry.query.paths import NUMERICAL, Path, invalid, measure_called, resolve
from quarry.schema.algebra import Aggregate, AllOf, Comparison, Condition, Group, Query, Result, comparisons_of
from quarry.schema.source import Field, Schema, Source

_MEASURES = NUMERICAL | {"min", "max"}


def with_currencies(query: Query, schema: Schema) -> Query:
    """The query, grouped by the currency of what it computes, unless it names one. Raises InvalidInput where only one number can
    stand.
    """
    for place, condition in enumerate(query.where):
        _check_nested(condition, schema, f"/where/{place}")
    found = _unnamed(query, schema)
    if not found:
        return query
    if query.asks_for_rows:
        [path, *_] = found
        raise invalid("/select", f"{path} adds amounts in several currencies: ask its rows, grouped by their currency")
    return query.model_copy(update={"group": (*query.group, *(Group(field=each) for each in found))})


def _check_nested(condition: Condition, schema: Schema, pointer: str) -> None:
    for each in comparisons_of([condition]):
        if each.query is not None and (found := _unnamed(each.query, schema)):
            raise invalid(pointer, f"its amounts are in several currencies: compare with those of one, by {found[0]}")


def compared_unlike(query: Query, schema: Schema) -> dict[str, str]:
    """The amounts over several currencies that conditions compare, or rows are ordered by, as bare numbers, since no
    rate is known. By the path of each, that of its currency.
    """
    source = schema.sources[query.source]
    conditions = [*query.where]
    compared = [each.field for each in comparisons_of(conditions) if each.scalars]
    ordered = [each.by for each in query.order] if query.asks_for_rows else []
    paths = (_resolved(name, source, schema) for name in (*compared, *ordered))
    found = ((path.text, path.currency_of) for path in paths if path is not None)
    return {path: named for path, named in found if named is not None and not _is_one(conditions, named)}


def _unnamed(query: Query, schema: Schema) -> list[str]:
    """The fields with currencies of what a query computes, which it neither groups by nor names one of."""
    source = schema.sources.get(query.source)
    if source is None:
        return []
    grouped = {group.field for group in query.group}
    found: dict[str, None] = {}
    for aggregate in aggregates_over_rows(query, source):
        path = _resolved(aggregate.field or "", source, schema)
        named = None if path is None else path.currency_of
        if path is None or named is None or aggregate.fn not in _MEASURES:
            continue
        if path.leads_to_many:
            raise invalid("/aggregate", f"{path.text} is in several currencies: ask its rows, grouped by {named}")
        if named not in grouped and not _is_one([*query.where, *aggregate.where], named):
            found[named] = None
    return [*found]


def aggregates_over_rows(query: Query, source: Source) -> Iterator[Aggregate]:
    """What a query computes over rows: also what only its order or `having` names."""
    for each in aggregates_named(query):
        yield from _over_rows(each, source)


def aggregates_named(query: Query) -> Iterator[Aggregate]:
    """The aggregates of a query, and those that its order or `having` names."""
    yield from query.aggregate
    named = [*(each.by for each in query.order), *(each.field for each in comparisons_of(query.having))]
    for name in named if not query.asks_for_rows else ():
        try:
            yield Aggregate.model_validate(name)
        except ValidationError:
            continue


def _over_rows(aggregate: Aggregate, source: Source) -> Iterator[Aggregate]:
    """The aggregates over rows that one is computed of."""
    for leaf in aggregate.leaves:
        if leaf.fn != "measure":
            yield leaf
        elif (measure := measure_called(leaf.field or "", source.measures)) is not None:
            yield from _over_rows(measure.aggregate, source)


def _resolved(name: str, source: Source, schema: Schema) -> Path | None:
    try:
        return resolve(name, source, schema, "")
    except InvalidInput:
        return None


def _is_one(conditions: Iterable[Condition], field: str) -> bool:
    """Whether conditions that must all hold name one value of a field."""
    return any(
        _is_one(each.all_of, field) if isinstance(each, AllOf) else _names(each, field) is not None
        for each in conditions
    )


def _names(condition: Condition, field: str | None = None) -> str | None:
    """The field that a condition names the only value of."""
    if not isinstance(condition, Comparison) or condition.op != "=" or len(condition.scalars) != 1:
        return None
    return condition.field if field in (None, condition.field) else None


def check_left_out(query: Query, result: Result, schema: Schema) -> None:
    """Raises InvalidInput where no row meets a condition on a field by which the source leaves out rows: that there are none is
    not known.
    """
    source = schema.sources.get(query.source)
    for place, condition in enumerate(query.where if source and not result.total else ()):
        named = next(
            (each.field for each in comparisons_of([condition]) if _leaves_out(each.field, query, schema)), None
        )
        if named is not None and source is not None:
            raise invalid(
                f"/where/{place}",
                f"{source.name} {source.left_out} (`where` and `kept_with` in quarry.toml), so that {named} does not say how many"
                " there are",
            )


def _leaves_out(field: str, query: Query, schema: Schema) -> bool:
    """Whether rows are left out by a field of theirs, or of rows that they refer to."""
    source = schema.sources[query.source]
    path = _resolved(field, source, schema)
    if path is None or not source.left_out or not isinstance(path.end, Field):
        return False
    reached = schema.sources.get(path.steps[-1].to.name) if path.steps else source
    return reached is not None and path.end.name in reached.chosen_by


class Namesakes(NamedTuple):
    """A query for numbers of what is called by one name, and the same by the rows of that name."""

    query: Query
    split: Query

    @classmethod
    def of(cls, query: Query, schema: Schema) -> Namesakes | None:
        """None where the query names no other row."""
        source = schema.sources.get(query.source)
        if source is None or query.group or not query.aggregate:
            return None
        named = [field for each in query.where if (field := _names(each)) is not None]
        paths = [
            path for field in dict.fromkeys(named) if (path := _resolved(field, source, schema)) and path.names_rows
        ]
        groups = tuple(Group(field=path.text) for path in paths)
        return cls(query, query.model_copy(update={"group": groups, "limit": None})) if groups else None

    def whole(self, result: Result) -> Result | None:
        """The result of the query, given that of the split one; None where that does not say it."""
        keys = len(self.split.group)
        if len(result.rows) != 1:
            return None
        rows: Sequence[Sequence[object]] = result.rows
        return replace(result, columns=result.columns[keys:], rows=[[*rows[0][keys:]]])  # type: ignore[list-item]
