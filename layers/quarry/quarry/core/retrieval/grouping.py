"""Rows counted by the values that they have, or by periods. Groups always add up to their total.

Rows without a value, or with a blank one, are a group of their own. Values are compared as filters compare them: without case,
accents and outer spaces. A group shows its most frequent spelling. Empty periods between others are groups of no rows.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal

from psycopg.rows import DictRow
from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from quarry.core.postgres.pool import Database
from quarry.core.query.mention import DateRange, Grain
from quarry.core.query.question import Ask, Clause, Condition
from quarry.core.retrieval.answers import Answer, Group, Measure, Value, in_time, measures_of
from quarry.core.retrieval.facets import TEXT_KINDS, Facet, SearchTable
from quarry.core.retrieval.filters import EVERY_ROW, Among, Arguments, has_value, related_rows, where

GROUPS_MAX = 10_000
"""An answer holds at most so many groups."""

STEPS_MAX = 1_000
"""Empty periods are groups where there are at most so many periods; of more, only those that hold rows."""

_STEPS = {"quarter": "3 months"}
"""Lengths of periods as Postgres has them, where they are not `1 NAME`."""


async def groups_over(
    database: Database,
    tables: Sequence[SearchTable],
    ask: Ask,
    clauses: Sequence[Clause],
    among: Among = EVERY_ROW,
    measures: Sequence[Measure] = (),
) -> Answer:
    """The groups, or the number of them, over the rows of several tables together, with what is measured of their rows: each
    table has what is asked for, and the facets of the clauses and the measures. Where rows are counted, there are no groups.

    Raises ValueError for a measure of what is no number.
    """
    arguments = Arguments()
    had = [
        SQL("select array({}) as values{} from {} t where ").format(
            _values(table, _asked_facet(table, ask), ask.grain) if _has_groups(ask) else SQL("select null::text"),
            SQL("").join(SQL(", {} as {}").format(_measured(table, each), Identifier(each.name)) for each in measures),
            SQL(table.rows),
        )
        + where(table, clauses, arguments, among)
        for table in tables
    ]
    periods = _periods(tables[0], ask, clauses)
    query = SQL(
        "with had as materialized ({had}), {counted}{filled}{asked}, exists (select from gaps) as has_gaps,"
        " (select to_jsonb(t) from (select count(*) as rows{reckoned} from had h) t) as everything"
    ).format(
        had=SQL(" union all ").join(had),
        counted=_counted(tables[0], ask, _reckoned(measures)),
        filled=_filled(periods, measures),
        asked=_groups_asked(ask, measures),
        reckoned=_reckoned(measures),
    )
    row = await database.row(query, arguments.values)
    assert row is not None
    return _answer(tables[0], ask, row, [each.name for each in measures])


async def kept_groups(database: Database, table: SearchTable, ask: Ask) -> Answer:
    """The groups, or the number of them, over all rows of a table by a listed facet, from the counts that writes keep. Rows are
    read only to count them and those without a value. The few values that are not kept, such as very long ones, are in no group
    but in the rows that are left out.
    """
    facet = _asked_facet(table, ask)
    if facet.is_array and await _is_spelt_differently(database, table, facet):
        # how many rows have a value in two spellings is not kept
        return await groups_over(database, [table], ask, (), measures=measures_of(ask))
    arguments = Arguments({"table": table.name, "facet": ask.facet})
    everything = where(table, (), arguments)
    lacking = where(table, [(Condition(facet.name, is_negated=True),)], arguments)
    query = SQL(
        "with known as (select value, sum(row_count)::bigint as rows, folded_value(value) as folded from facet_values"
        " where table_name = %(table)s and facet = %(facet)s group by value having sum(row_count) > 0),"
        " grouped as (select (array_agg({shown} order by k.rows desc, k.value))[1] as value, sum(k.rows)::bigint as rows"
        "  from known k where k.folded is not null group by k.folded"
        "  union all select null, n.rows from (select count(*) as rows from {rows} t where {lacking}) n where n.rows > 0)"
        "{asked}, (select jsonb_build_object('rows', count(*)) from {rows} t where {everything}) as everything"
    ).format(
        shown=_trimmed(SQL("k.value")),
        rows=SQL(table.rows),
        lacking=lacking,
        everything=everything,
        asked=_groups_asked(ask),
    )
    row = await database.row(query, arguments.values)
    assert row is not None
    if not (facet.is_array or facet.kind == "place"):
        row["grouped"] = row["everything"]["rows"]
    return _answer(table, ask, row)


async def _is_spelt_differently(database: Database, table: SearchTable, facet: Facet) -> bool:
    row = await database.row(
        "select exists (select from facet_values where table_name = %(table)s and facet = %(facet)s"
        " group by folded_value(value) having count(distinct value) > 1) as so",
        {"table": table.name, "facet": facet.name},
    )
    return row is not None and bool(row["so"])


def as_value(facet: Facet, value: object) -> Value:
    """A value of a facet as JSON has it."""
    if facet.kind == "date" and isinstance(value, str):
        with suppress(ValueError):  # "infinity", "0044-03-15 BC" stay as Postgres writes them
            return datetime.date.fromisoformat(value)
    if isinstance(value, Decimal):
        return float(value)
    assert isinstance(value, str | int | float | bool)
    return value


# ---- the groups in SQL ----


def _has_groups(ask: Ask) -> bool:
    return ask.kind not in ("count", "measure")


def _asked_facet(table: SearchTable, ask: Ask) -> Facet:
    name = ask.facet or (table.date if ask.grain else None)
    if name is None:
        raise ValueError("which facet?")
    return table.facet(name)


def _values(table: SearchTable, facet: Facet, grain: Grain | None) -> Composed:
    """`select …` of the different values that a row has, periods by their first day; blank ones are left out where a row may have
    several values.
    """
    value: Composable = SQL(facet.sql)
    if facet.is_array:
        value = SQL("unnest({})").format(value)
    elif facet.kind == "place":
        value = SQL("unnest(place_parts({}))").format(value)
    elif facet.kind == "date":
        value = SQL("case when {} then {} end").format(has_value(facet), value)
        if grain is not None:
            value = SQL("date_trunc({}, {}::timestamp)::date").format(Literal(grain), value)
    rows = related_rows(table, facet.related) if facet.related else SQL("")
    several = facet.is_array or facet.kind == "place" or facet.related is not None
    if several and facet.kind in TEXT_KINDS:
        return SQL(
            "select distinct on (x.folded) x.value from (select v.value, folded_value(v.value) as folded"
            " from (select {} as value {}) v) x where x.folded is not null order by x.folded, x.value"
        ).format(value, rows)
    return SQL("select distinct x.value from (select {} as value {}) x where x.value is not null").format(value, rows)


def _counted(table: SearchTable, ask: Ask, reckoned: Composable) -> Composed:
    """`counted`: each value, null where there is none, with its rows. Texts that fold to the same are one value."""
    if not _has_groups(ask):
        return SQL("counted as (select null::text as value, count(*) as rows{} from had h having false)").format(
            reckoned
        )
    if _asked_facet(table, ask).kind not in TEXT_KINDS:
        return SQL(
            "counted as (select v.value, count(*) as rows{} from had h left join lateral unnest(h.values) v (value) on true"
            " group by v.value)"
        ).format(reckoned)
    return SQL(
        "spelt as (select v.value, folded_value(v.value) as folded, count(*) as rows from had h, unnest(h.values) v (value)"
        " group by v.value),"
        " shown as materialized (select s.value, case when s.folded is not null then"
        " first_value({}) over (partition by s.folded order by s.rows desc, s.value) end as shown from spelt s),"
        " counted as (select s.shown as value, count(*) as rows{} from had h"
        " left join lateral unnest(h.values) v (value) on true left join shown s on s.value = v.value group by s.shown)"
    ).format(_trimmed(SQL("s.value")), reckoned)


def _trimmed(value: Composable) -> Composed:
    return SQL(r"btrim({}, E' \t\n\r\f\v')").format(value)


def _reckoned(measures: Sequence[Measure]) -> Composed:
    return SQL("").join(
        SQL(", {}({}) as {}").format(SQL(each.function), Identifier("h", each.name), Identifier(each.name))
        for each in measures
    )


def _measured(table: SearchTable, measure: Measure) -> Composable:
    facet = table.facet(measure.facet)
    if not facet.is_measurable:
        raise ValueError(f"{facet.label} is no number of its own")
    return SQL("({})::numeric").format(SQL(facet.sql))


# ---- empty periods ----


@dataclass(frozen=True)
class _Periods:
    """Periods of a grain that are groups though they may hold no rows: from the first to the last with rows, and over the days
    that the question asks for.
    """

    grain: Grain
    first: datetime.date | None = None
    last: datetime.date | None = None


def _periods(table: SearchTable, ask: Ask, clauses: Sequence[Clause]) -> _Periods | None:
    """None where values are asked for, where empty periods are no answer, and where only some months are."""
    if ask.kind != "groups" or ask.grain is None or _asked_facet(table, ask).kind != "date":
        return None
    name = _asked_facet(table, ask).name
    ranges = [
        clause[0].range
        for clause in clauses
        if len(clause) == 1 and clause[0].facet == name and not clause[0].is_negated
    ]
    asked = [each for each in ranges if isinstance(each, DateRange)]
    if any(each.months for each in asked):
        return None
    return _Periods(
        ask.grain,
        max((each.first for each in asked if each.first), default=None),
        min((each.last for each in asked if each.last), default=None),
    )


def _filled(periods: _Periods | None, measures: Sequence[Measure]) -> Composed:
    """`grouped`: what is `counted`, with the empty periods; `gaps`: a row where these would be too many. What is asked for beyond
    today is not empty yet.
    """
    if periods is None:
        return SQL(", grouped as (select * from counted), gaps as (select from counted where false)").format()
    none = SQL("").join(SQL(", c.{}").format(Identifier(each.name)) for each in measures)
    return SQL(
        ", ends as (select min(value) as first, max(value) as last,"
        "  least(min(value), date_trunc({grain}, {first}::timestamp)::date) as asked_first,"
        "  greatest(max(value), case when {last} < current_date then date_trunc({grain}, {last}::timestamp)::date"
        "   when {last} is not null then date_trunc({grain}, current_date::timestamp)::date end) as asked_last"
        "  from counted having count(value) > 0),"
        " bounds as (select first, last, 2 as choice from ends"
        "  union all select asked_first, asked_last, 1 from ends),"
        " fitting as (select * from bounds where last < first + {steps} * {step}::interval order by choice limit 1),"
        " gaps as (select from ends where not exists (select from fitting)),"
        " grouped as (select coalesce(c.value, s.value) as value, coalesce(c.rows, 0) as rows{none} from counted c"
        "  full join (select d.day::date as value from fitting f,"
        "   generate_series(f.first::timestamp, f.last::timestamp, {step}::interval) d (day)) s on s.value = c.value)"
    ).format(
        grain=Literal(periods.grain),
        first=SQL("{}::date").format(Literal(periods.first)),
        last=SQL("{}::date").format(Literal(periods.last)),
        steps=Literal(STEPS_MAX),
        step=Literal(_STEPS.get(periods.grain, f"1 {periods.grain}")),
        none=none,
    )


# ---- what of the groups is asked for ----


def _groups_asked(ask: Ask, measures: Sequence[Measure] = ()) -> Composed:
    """What of the rows of `grouped`, which hold a value and what is told of it, is asked for. The first few are values: rows
    without one have nothing most often. Of periods, what is cut off is long ago.
    """
    by = SQL("{} {} nulls last").format(
        Identifier("g", measures[0].name if ask.function else "rows"), SQL("asc" if ask.ascending else "desc")
    )
    order, first = SQL("{}, g.value").format(by), SQL("").format()
    if ask.limit is not None:
        first = SQL(" where g.value is not null order by {} fetch first {} rows with ties").format(
            by, Literal(ask.limit)
        )
    elif ask.grain is not None:
        order = SQL("g.value desc nulls first").format()
    return SQL(
        ", asked as (select * from grouped g{first})"
        " select (select count(*) from grouped g where g.value is not null and g.rows > 0) as number,"
        " (select count(*) from asked) as asked,"
        " (select coalesce(sum(g.rows), 0)::bigint from grouped g) as grouped,"
        " array(select to_jsonb(g) from asked g order by {order} limit {limit}) as groups"
    ).format(order=order, first=first, limit=Literal(GROUPS_MAX))


def _answer(table: SearchTable, ask: Ask, row: DictRow, names: Sequence[str] = ()) -> Answer:
    everything = row["everything"]
    if ask.kind == "distinct":
        return Answer(ask, everything["rows"], number=row["number"])
    facet = _asked_facet(table, ask) if row["groups"] else None
    groups = [
        Group(
            None if group["value"] is None else as_value(facet, group["value"]),
            group["rows"],
            {name: _finite(group[name]) for name in names},
        )
        for group in row["groups"]
        if facet
    ]
    return Answer(
        ask,
        everything["rows"],
        number=row["number"],
        groups=tuple(in_time(groups) if ask.grain and ask.limit is None else groups),
        group_count=row["asked"],
        grouped=row["grouped"],
        has_gaps=row.get("has_gaps", False),
        measures={name: _finite(everything[name]) for name in names},
    )


def _finite(number: float | str | None) -> float | None:
    """None for what JSON holds as a text, since it is no finite number, such as an average over NaN."""
    return None if isinstance(number, str) or number is None or not math.isfinite(number) else number
