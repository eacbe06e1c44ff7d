"""Which queries may list the rows of a source that others find by conditions: a search that is paid for. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from quarry.platform.errors import FieldError, InvalidInput
from quarry.query.algebra import Comparison, Query, comparisons_of
from quarry.query.schema import Source

_COUNTING = frozenset(("count", "count_distinct"))


def check_listing(query: Query, source: Source, pointer: str) -> None:
    """Raises InvalidInput for a query that lists rows of a source with `found_by`, or names them by a group, a least value or an
    order, unless it gives their ids. Counts and groups may be asked for.
    """
    if not source.found_by or _names_ids(query):
        return
    places = ["/where"] if query.asks_for_rows else list(dict.fromkeys(_naming(query, source)))
    if places:
        raise InvalidInput([FieldError(pointer + each, source.found_by) for each in places])


def _names_ids(query: Query) -> bool:
    return any(
        isinstance(each, Comparison) and (each.field, each.op) == ("id", "=") and each.scalars for each in query.where
    )


def _naming(query: Query, source: Source) -> Iterator[str]:
    """Where a query without rows tells one row of the source from the others."""
    for place, group in enumerate(query.group):
        if is_naming(group.field, source):
            yield f"/group/{place}"
    for place, aggregate in enumerate(query.aggregate):
        if any(
            is_naming(leaf.name if leaf.called is None else f"{leaf.fn}({leaf.field})", source)
            for leaf in aggregate.leaves
        ):
            yield f"/aggregate/{place}"
    if any(is_naming(each.field, source) for each in comparisons_of(query.having)):
        yield "/having"
    for place, order in enumerate(query.order):
        if is_naming(order.by, source):
            yield f"/order/{place}"


def is_naming(path: str, source: Source) -> bool:
    """Whether a path, or what is computed over it, tells one row of the source from the others."""
    function, _, inner = path.rpartition("(")
    field = inner.rstrip(") ").strip()
    own = {"id", "title"} - source.fields.keys()
    return bool(source.found_by) and field in {*own, *source.naming} and function.strip() not in _COUNTING
