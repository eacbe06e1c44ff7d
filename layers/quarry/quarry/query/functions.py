"""SQL of values as they are compared, grouped and aggregated: by case, spaces, periods and precision alike. Pure."""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Composed, Literal

from quarry.query.algebra import Period
from quarry.query.schema import Kind


def folded(text: Composable) -> Composed:
    """Text as it is compared: an index on `lower(btrim(column))` serves it."""
    return SQL("lower(btrim(({})::text))").format(text)


def key_of(value: Composable, kind: Kind, *, folds: bool = False) -> Composed:
    """A value as groups and distinct counts compare it; blank text is null. `folds`: without regard to accents too."""
    if folds and kind == "text":
        return SQL("folded_value({})").format(value)
    return _unless_blank(value, folded(value)) if kind == "text" else SQL("({})").format(value)


def shown(value: Composable, kind: Kind) -> Composed:
    """A value as a group shows it; blank text is null."""
    return _unless_blank(value, SQL("btrim(({})::text)").format(value)) if kind == "text" else SQL("({})").format(value)


def _unless_blank(value: Composable, given: Composable) -> Composed:
    return SQL(r"(case when btrim(({})::text, E' \t\n\r\f\v') <> '' then {} end)").format(value, given)


def ordered(value: Composable, kind: Kind) -> Composed:
    """A value as rows are ordered by it."""
    return folded(value) if kind == "text" else SQL("({})").format(value)


def first_day(value: Composable, kind: Kind, period: Period) -> Composed:
    """The first day, in UTC, of the period that a date is in."""
    moment = SQL("({})::timestamp").format(value) if kind == "date" else _in_utc(value)
    return SQL("date_trunc({}, {})::date").format(Literal(period), moment)


def _in_utc(moment: Composable) -> Composed:
    """A timestamp in UTC, whether the moment has a time zone or not, and whichever the session's is."""
    return SQL("(timestamp 'epoch' + (({}) - 'epoch'))").format(moment)


def aggregated(function: str, value: Composable | None, kind: Kind, only: Composable | None = None) -> Composed:
    """An aggregate over the rows for which `only` holds. No rows have a sum of 0."""
    chosen = SQL("") if only is None else SQL(" filter (where {})").format(only)
    if value is None:
        return SQL("count(*){}").format(chosen)
    if function == "count":
        return SQL("count({}){}").format(shown(value, kind), chosen)
    if function == "count_distinct":
        return SQL("count(distinct {}){}").format(key_of(value, kind), chosen)
    if function == "sum":
        return SQL("coalesce(sum(({})::numeric){}, 0)").format(value, chosen)
    if function == "avg":
        return SQL("avg(({})::numeric){}").format(value, chosen)
    return SQL("{}({}){}").format(SQL("min" if function == "min" else "max"), shown(value, kind), chosen)
