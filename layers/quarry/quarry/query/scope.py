"""The rows that one FROM clause of a statement reads, and the joins that its expressions need. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple

from psycopg.sql import SQL, Composable, Composed, Placeholder

from quarry.platform.errors import FieldError, InvalidInput
from quarry.query.paths import Rows, Step
from quarry.schema.source import Kind, Schema, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quarry.schema.algebra import Query

TRUE = SQL("true")


class Values(NamedTuple):
    """A query that a condition compares with, as a subquery of one column. `is_single`: it never has more than one row."""

    sql: Composed
    kind: Kind
    is_single: bool


@dataclass
class Building:
    """What all parts of one statement share: its parameters, the names of its rows, and the errors that were found."""

    schema: Schema
    today: datetime.date
    values_of: Callable[[Query, str], Values]
    parameters: dict[str, Any] = field(default_factory=dict)
    errors: list[FieldError] = field(default_factory=list)
    predicates: int = 0
    """The depth of predicates around the current expression."""
    joins: bool = True
    """Whether other rows may be joined to those of the statement; else they are read in subqueries of one row."""
    reads_others: bool = False
    """Whether a subquery reads other rows."""
    _aliases: int = 0

    def parameter(self, value: object) -> Composable:
        """A placeholder for a value."""
        return Placeholder(self.keep(value))

    def keep(self, value: object) -> LiteralString:
        """The name of the parameter that has a value."""
        name: LiteralString = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return name

    def text(self, value: str) -> LiteralString:
        """SQL of a text that is given, as a function of a source takes it."""
        return f"%({self.keep(value)})s"

    def once(self, expression: Composable) -> Composable:
        """An expression over parameters alone. A plan that is kept for any parameters would evaluate it for each row."""
        return SQL("(select {})").format(expression)

    def alias(self) -> LiteralString:
        """A name for rows that no other rows of the statement have."""
        self._aliases += 1
        return f"j{self._aliases}"

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Errors raised in the block are kept, to be raised together with those of other parts."""
        try:
            yield
        except InvalidInput as error:
            self.errors.extend(error.errors)


class Scope:
    """Rows that expressions are read from, by `alias`, with one LEFT JOIN for each reference that they follow."""

    def __init__(self, building: Building, rows: Rows, alias: LiteralString, table: Composable | None = None) -> None:
        self.building = building
        self.rows = rows
        self.alias = alias
        self._tables: list[Composable] = [table or _named(rows, alias)]
        self._reached: dict[tuple[str, str], tuple[LiteralString, Rows]] = {}
        self._kept: dict[str, Composable] = {}

    @property
    def tables(self) -> Composed:
        """The FROM clause, which grows with the expressions."""
        return SQL(" ").join(self._tables)

    @property
    def joins(self) -> bool:
        """Whether other rows are joined."""
        return len(self._tables) > 1

    def reach(self, steps: Sequence[Step]) -> Scope:
        """The scope as seen from the rows that references lead to. Those that the caller may not see read as null."""
        seen = copy(self)
        for step in steps:
            name = (seen.alias, step.link.name)
            if name not in self._reached:
                self._reached[name] = self._join(seen.alias, step, "left join"), step.to
            seen.alias, seen.rows = self._reached[name]
        return seen

    def follow(self, step: Step) -> Scope:
        """The scope as seen from all rows that a step leads to: it has one row for each of them."""
        seen = copy(self)
        seen.alias, seen.rows = self._join(self.alias, step, "join"), step.to
        return seen

    def add(self, table: Composable) -> None:
        """Join what has no link."""
        self._tables.append(table)

    def kept(self, name: str, make: Callable[[], Composable]) -> Composable:
        """An expression over the row `alias`, made once."""
        name = f"{self.alias} {name}"
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def _join(self, alias: LiteralString, step: Step, how: LiteralString) -> LiteralString:
        to = self.building.alias()
        self.add(SQL("{} {} on {}").format(SQL(how), _named(step.to, to), joined(alias, step, to)))
        return to


def _named(rows: Rows, alias: LiteralString) -> Composed:
    return SQL("{} {}").format(SQL(rows.rows), SQL(alias))


def joined(alias: LiteralString, step: Step, to: LiteralString) -> Composed:
    """True of a row and one that a step leads to, which the caller may see."""
    return SQL("({}) and ({})").format(SQL(step.link.on(alias, to)), SQL(step.to.guard(to)))


class Related(NamedTuple):
    """The related rows of one row, read in a subquery. `scope` is seen from where the path ends. With an `owner` they are read
    for all rows at once, of which that is the alias, and joined to the row of `outer`.
    """

    scope: Scope
    on: Composable
    outer: Scope | None = None
    owner: LiteralString | None = None

    def select(self, what: Composable, condition: Composable = TRUE) -> Composed:
        """`select …` of the related rows that meet a condition."""
        return SQL("select {} from {} where {} and {}").format(what, self._tables, self.on, condition)

    def any(self, condition: Composable) -> Composed:
        """Whether a related row meets a condition. Alone, or as one of several conditions that must all hold, the planner makes a
        join of EXISTS; within OR and NOT it would run it for each row, so that it is joined here. Where nothing is joined and
        no index finds the rows, it looks the row up among all owners, which it reads once: IS TRUE keeps it from a nested loop.
        """
        if self.owner is None:
            return SQL("exists ({})").format(self.select(SQL(""), condition))
        if not self.scope.building.joins:
            return SQL("({} in ({}) is true)").format(self.outer_key, self.select(self.owner_key, condition))
        return SQL("{}.k is not null").format(self.joined(None, condition))

    def joined(self, value: Composable | None, condition: Composable = TRUE) -> Composable:
        """The alias of a join with the owners that have related rows: `k` is their key, `v` an aggregate of these rows."""
        assert self.outer is not None
        alias = SQL(self.outer.building.alias())
        values = SQL("{} as k{}").format(self.owner_key, SQL("") if value is None else SQL(", {} as v").format(value))
        self.outer.add(
            SQL("left join ({} group by 1) {} on {}.k = {}").format(
                self.select(values, condition), alias, alias, self.outer_key
            )
        )
        return alias

    @property
    def owner_key(self) -> SQL:
        """The key of the owner; null where related rows are read of one row."""
        return self._key(self.owner)

    @property
    def outer_key(self) -> SQL:
        """The key of the row that they are joined to."""
        return self._key(None if self.outer is None else self.outer.alias)

    def _key(self, alias: LiteralString | None) -> SQL:
        key = None if self.outer is None else self.outer.rows.key
        return SQL("null" if key is None or alias is None else key(alias))

    @property
    def _tables(self) -> Composed:
        if self.owner is None or self.outer is None:
            return self.scope.tables
        return SQL("{}, {}").format(_named(self.outer.rows, self.owner), self.scope.tables)


def are_indexed(steps: Sequence[Step]) -> bool:
    """Whether indexes lead along all these steps."""
    return all(step.link.is_indexed for step in steps)


def related(outer: Scope, steps: Sequence[Step], *, at_once: bool = False) -> Related:
    """The rows that `steps` lead to from the row of a scope; references before the first of several rows are joined to it.
    `at_once` reads them for all rows, where these have a key.
    """
    building = outer.building
    building.reads_others = True
    place = next((place for place, step in enumerate(steps) if step.link.is_many), len(steps) - 1)
    outer = outer.reach(steps[: place if building.joins else 0])
    reads_all = at_once if building.joins else not are_indexed(steps)
    owner = building.alias() if reads_all and outer.rows.key is not None else None
    first, *others = steps[place if building.joins else 0 :]
    scope = Scope(building, first.to, building.alias())
    on = joined(outer.alias if owner is None else owner, first, scope.alias)
    for step in others:
        scope = scope.follow(step) if step.link.is_many else scope.reach([step])
    return Related(scope, on, outer, owner)


def elements(building: Building, array: Composable) -> Related:
    """The elements of an array of one row, as rows with the column `v`."""
    alias = building.alias()
    return Related(Scope(building, Rows("elements", "", {}), alias, element_table(array, alias)), TRUE)


def element_table(array: Composable, alias: LiteralString) -> Composed:
    """The elements of an array as a table with the column `v`."""
    return SQL("unnest({}) {} (v)").format(array, SQL(alias))


ROW = "t"
"""The alias of the rows of every query's source."""


class Base(NamedTuple):
    """A query's rows. `tables` and `where` count them; the scope may join more tables without changing the number."""

    query: Query
    pointer: str
    source: Source
    scope: Scope
    tables: Composed
    joins: bool
    """Whether `tables` are several."""
    fixed: Sequence[Composable]
    """What is true of its rows besides its conditions."""
    met: Sequence[Composable]
    """What is true where each of its conditions is met."""

    @property
    def where(self) -> Composed:
        """True of its rows."""
        return SQL(" and ").join([*self.fixed, *self.met])

    @property
    def counted(self) -> Composed:
        """`select count(*) …` of the rows."""
        return SQL("select count(*) from {} where {}").format(self.tables, self.where)

    @property
    def building(self) -> Building:
        return self.scope.building
