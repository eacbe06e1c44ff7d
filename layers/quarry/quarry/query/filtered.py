"""Rows of a searched table that meet filters: which, how many, how many by a facet or period, and which conditions
each meets.

Fields are compared as questions name values: each as the data spells it, with all of its spellings, so that an index on the
column serves.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, LiteralString, get_args

from psycopg.sql import SQL, Composed

from quarry.language.writing import Value
from quarry.platform.errors import InvalidInput
from quarry.postgres.pool import Database
from quarry.query.algebra import (
    LIMIT_MAX,
    Aggregate,
    Cell,
    Comparison,
    Condition,
    Order,
    Period,
    Query,
    Result,
    comparisons_of,
)
from quarry.query.algebra import Group as Grouping
from quarry.query.execute import RowConditions, execute
from quarry.query.of_filters import path_of, query_of, worded_source
from quarry.query.paths import MONTH
from quarry.query.phrases import Phrases
from quarry.query.schema import KEY, Field, Schema, Source, SqlHolds, guard_of, of_row, worded
from quarry.query.scope import ROW
from quarry.query.values import interval_of
from quarry.retrieval.facets import TEXT_KINDS, Facet, FacetKind, SearchTable
from quarry.retrieval.values import holds_one_of
from quarry.spans.mention import Clause


@lru_cache(maxsize=256)
def source_as_read(table: SearchTable) -> Source:
    """The source that a table's questions are about, by the table's name."""
    source = worded_source(table)
    links = {name: replace(link, fields=as_said(link.fields, table)) for name, link in source.links.items()}
    fields = {
        name: replace(field, related=links[field.related.name]) if field.related else field
        for name, field in as_said(source.fields, table).items()
    }
    return replace(source, fields=fields, links=links)


def schema_as_read(table: SearchTable) -> Schema:
    """The schema of one table."""
    return Schema({table.name: source_as_read(table)})


def as_said(fields: Mapping[str, Field], table: SearchTable) -> dict[str, Field]:
    """The fields, worded as people say them, and those with texts compared as the data spells them."""
    return {
        name: replace(field, holds=_holds(table.facet(name))) if name in table.by_name else field
        for name, field in worded(fields, table).items()
    }


def _holds(facet: Facet) -> SqlHolds | None:
    if facet.kind not in TEXT_KINDS and facet.kind != "words":
        return None
    return lambda row, values, parameters: holds_one_of(facet, SQL(of_row(facet.sql, row, row)), values, parameters)


def united(tables: Sequence[SearchTable], names: Sequence[str]) -> SearchTable:
    """The rows of several tables as one, with the facets of these names, which each table has."""
    facets = {name: [table.facet(name) for table in tables] for name in dict.fromkeys(names)}
    many = {name: any(each.is_array or each.related for each in same) for name, same in facets.items()}
    kinds = {name: _kind(same, is_many=many[name]) for name, same in facets.items()}
    selects: list[LiteralString] = []
    words: list[LiteralString] = []
    for place, table in enumerate(tables):
        own: LiteralString = "".join(
            f", {_value_of(table, same[place], kinds[name], is_many=many[name])} as c{at}"
            for at, (name, same) in enumerate(facets.items())
        )
        number: LiteralString = f"{place}"
        selects.append(
            f"select {number} as quarry_table, ({table.key_sql})::text as quarry_key{own} from {table.rows} t"
            f" where {guard_of(table)}"
        )
        words.append(
            f"t.quarry_table = {number} and t.quarry_key in"
            f" (select ({table.key_sql})::text from {table.rows} t where {table.holds_words})"
        )
    return replace(
        tables[0],
        name="records",
        facets=tuple(
            replace(same[0], kind=kinds[name], column=f"c{at}", related=None, is_many=many[name])
            for at, (name, same) in enumerate(facets.items())
        ),
        source=f"({' union all '.join(selects)})",
        key="quarry_key",
        holds_words=f"({' or '.join(words)})",
        where="true",
        guard="true",
        scope=None,
        related=(),
    )


def _kind(facets: Sequence[Facet], *, is_many: bool) -> FacetKind:
    """The kind of a facet that several tables have; where they differ, its values are texts, as several places of a row are."""
    kinds = {facet.kind for facet in facets}
    return "value" if len(kinds) > 1 or (is_many and "place" in kinds) else kinds.pop()


def _value_of(table: SearchTable, facet: Facet, kind: FacetKind, *, is_many: bool) -> LiteralString:
    """The value of a row `t`; where rows may have several, an array of them."""
    value = facet.sql
    if facet.related is not None:
        related = table.relation(facet.related)
        value = f"array(select {value} from {related.rows} r where {related.on})"
    elif is_many and not facet.is_array:
        value = f"array[{value}]"
    return f"({value})::text{'[]' if is_many else ''}" if kind in TEXT_KINDS else value


COSTS_MAX = 10
"""Of more conditions it is not said what each one costs."""


async def standings(
    database: Database,
    conditions: Sequence[Condition],
    source: str,
    schema: Schema,
    keys: Sequence[str],
    today: datetime.date,
) -> dict[str, list[bool]]:
    """Whether the rows of these keys meet each condition by itself, by key. Raises DatabaseUnavailable."""
    if not keys or not conditions:
        return {}
    rows, of = RowConditions(source, schema, today, {}), schema.sources[source]
    met = SQL(", ").join(SQL("coalesce({}, false)").format(rows.met([each])) for each in conditions)
    statement = SQL(
        "select {key} as key, array[{met}]::boolean[] as met from {table} t where {key} = any({keys})"
    ).format(key=SQL(of.key(ROW)), met=met, table=SQL(of.rows), keys=rows.parameter(list(keys)))
    return {row["key"]: row["met"] for row in await database.rows(statement, rows.parameters)}


async def costs(
    database: Database, conditions: Sequence[Condition], phrases: Phrases, today: datetime.date
) -> list[tuple[str, int]]:
    """How many rows there would be without each condition alone, by what it is called, most first; none of more than `COSTS_MAX`.
    Raises DatabaseUnavailable.
    """
    if not 0 < len(conditions) <= COSTS_MAX:
        return []
    rows = RowConditions(phrases.source.name, phrases.schema, today, {})
    others = [[*conditions[:place], *conditions[place + 1 :]] for place in range(len(conditions))]
    counts = SQL(", ").join(
        SQL("(select count(*) from {} t where {})").format(SQL(phrases.source.rows), rows.met(each)) for each in others
    )
    row = await database.row(SQL("select array[{}]::bigint[] as counts").format(counts), rows.parameters)
    assert row is not None
    labels = [phrases.condition(each) for each in conditions]
    return sorted(zip(labels, row["counts"], strict=True), key=lambda each: -each[1])


Function = Literal["sum", "avg", "min", "max"]


@dataclass(frozen=True)
class Measure:
    """A number made of a facet's values; None of rows without any."""

    function: Function
    facet: str

    @classmethod
    def named(cls, name: str) -> Measure:
        """That of its name, `sum:price`. Raises ValueError."""
        function, _, facet = name.partition(":")
        for known in get_args(Function):
            if function == known:
                return cls(known, facet)
        raise ValueError(f"{function!r} is none of {', '.join(get_args(Function))}")

    @property
    def name(self) -> str:
        return f"{self.function}:{self.facet}"


@dataclass(frozen=True)
class Group:
    """A value, or the first day of a period, and how many rows have it. A row with several values counts for each. The value None
    is that of rows that have none, or a blank one.
    """

    value: Value | None
    rows: int
    measures: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Groups:
    """Groups of the rows that meet filters. They add up: `grouped` is the sum of the rows of all groups, also of those behind the
    last one here, of `count` in all. It equals `rows` unless rows are in several groups. `has_gaps`: empty periods are left out,
    because there would be too many of them.
    """

    rows: int
    groups: Sequence[Group]
    count: int
    grouped: int
    has_gaps: bool = False

    @property
    def is_overlapping(self) -> bool:
        """Whether rows are in several groups, which then add up to more than the rows."""
        return self.grouped > self.rows

    def left_out(self, shown: Sequence[Group]) -> int:
        """The rows of the groups that are not among those `shown`."""
        return self.grouped - sum(group.rows for group in shown)


@dataclass(frozen=True)
class Filtered:
    """The rows of a table that meet all clauses and hold the words. What reads them raises ValueError for what the table does
    not have, and DatabaseUnavailable.
    """

    table: SearchTable
    clauses: Sequence[Clause] = ()
    words: str = ""

    def where(self, parameters: dict[str, Any] | None = None) -> Composed:
        """True of the rows `t` that the caller may see and that meet the filters. Its values are added to `parameters` or,
        without these, stand in it.
        """
        rows = RowConditions(self.table.name, schema_as_read(self.table), _today(), parameters)
        return rows.met(self._query.where)

    async def keys(self, database: Database, limit: int) -> list[str]:
        """The keys of at most `limit` rows, the latest first."""
        shape = {"select": (KEY,), "limit": min(max(limit, 1), LIMIT_MAX)}
        result = await self._run(database, self._query.model_copy(update=shape))
        return [str(key) for (key,) in result.rows]

    async def count(self, database: Database) -> int:
        """How many rows there are."""
        return (await self.numbers(database, ()))[0]

    async def numbers(self, database: Database, measures: Sequence[Measure]) -> tuple[int, Mapping[str, float | None]]:
        """How many rows there are, and the measures of all of them, by name."""
        shape = {"aggregate": (Aggregate(fn="count"), *self._aggregates(measures))}
        result = await self._run(database, self._query.model_copy(update=shape))
        return result.total, self._measures(measures, result, result.rows[0])

    async def groups(
        self, database: Database, facet: str | None, period: Period | None = None, measures: Sequence[Measure] = ()
    ) -> Groups:
        """The rows by a facet, most rows first, or by periods of the table's date, or the facet, in the order of time."""
        name = facet or self.table.date
        if name is None:
            raise ValueError(f"{self.table.name} has no date")
        group = Grouping(field=self._path(name), period=period if self.table.facet(name).kind == "date" else None)
        query = self._query
        shape: dict[str, Any] = {
            "aggregate": (Aggregate(fn="count"), *self._aggregates(measures)),
            "group": (group,),
            "order": () if group.period else (Order(by="count", direction="desc"),),
        }
        filled = (Comparison(field="count", op=">", value=0),)
        if group.period and any(each.field == f"{MONTH}({group.field})" for each in comparisons_of(query.where)):
            shape["having"] = filled  # of rows of some months the other months are not empty
        result = await self._run(database, query.model_copy(update=shape))
        if result.truncated and group.period:
            # of so many the empty ones are no groups
            latest = {"order": (Order(by=group.field, direction="desc"),), "having": filled}
            result = await self._run(database, query.model_copy(update=shape | latest))
        groups = [self._group(row, group, name, measures, result) for row in result.rows]
        if group.period:
            groups.sort(key=lambda each: (each.value is None, str(each.value)))
        has_gaps = group.period is not None and _has_gaps(groups, group.period)
        return Groups(result.total, groups, result.groups, result.grouped, has_gaps)

    @property
    def _query(self) -> Query:
        return query_of(self.clauses, self.table, source_as_read(self.table), self.words)

    def _path(self, facet: str) -> str:
        return path_of(self.table.facet(facet), self.table, source_as_read(self.table))

    def _aggregates(self, measures: Sequence[Measure]) -> list[Aggregate]:
        """The measures, and how many values each sum is of: a sum of none is none."""
        paths = [self._path(each.facet) for each in measures]
        made = [Aggregate(fn=each.function, field=path) for each, path in zip(measures, paths, strict=True)]
        counts = [Aggregate(fn="count", field=path) for path in dict.fromkeys(paths)]
        return [*dict.fromkeys(made), *counts]

    def _measures(self, measures: Sequence[Measure], result: Result, row: Sequence[Cell]) -> Mapping[str, float | None]:
        cells = dict(zip([column.name for column in result.columns], row, strict=True))
        paths = {each: self._path(each.facet) for each in measures}
        return {
            each.name: _number(cells[f"{each.function}({path})"]) if cells[f"count({path})"] else None
            for each, path in paths.items()
        }

    def _group(
        self, row: Sequence[Cell], group: Grouping, name: str, measures: Sequence[Measure], result: Result
    ) -> Group:
        value, rows, *_ = row
        assert isinstance(rows, int)
        assert not isinstance(value, list)
        is_day = value is not None and (group.period is not None or self.table.facet(name).kind == "date")
        shown = interval_of(str(value), "date", _today(), "").first if is_day else value
        return Group(shown, rows, self._measures(measures, result, row))

    async def _run(self, database: Database, query: Query) -> Result:
        try:
            return await execute(database, query, schema_as_read(self.table), _today())
        except InvalidInput as error:
            raise ValueError("; ".join(each.message for each in error.errors)) from error


def _today() -> datetime.date:
    return datetime.datetime.now(datetime.UTC).date()


def _number(cell: Cell) -> float | None:
    return cell if isinstance(cell, int | float) else None


def _has_gaps(groups: Sequence[Group], period: Period) -> bool:
    """Whether empty periods between others are left out."""
    days = sorted(each.value for each in groups if isinstance(each.value, datetime.date))
    most = {"day": 1, "week": 7, "month": 31, "quarter": 92, "year": 366}[period]
    return any((after - before).days > most for before, after in pairwise(days))
