"""The aggregates of a query: what each needs of a row, and how rows are combined. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from psycopg.sql import SQL, Composable, Composed, Identifier
from pydantic import ValidationError

from quarry.query.algebra import Aggregate, Column
from quarry.query.comparisons import aggregated, key_of
from quarry.query.conditions import all_of, many_values, path_operand
from quarry.query.paths import Over, Path, resolve_over
from quarry.query.schema import Kind
from quarry.query.scope import Scope

WORDS = {"count_distinct": "different", "sum": "total", "avg": "average", "min": "lowest", "max": "highest"}


@dataclass(frozen=True)
class Number:
    """An aggregate: `sql` computes it over the columns that `Numbers` reads of each row, `column` shows it."""

    aggregate: Aggregate
    column: Column
    sql: Composed
    kind: Kind
    place: int

    @property
    def is_rounded(self) -> bool:
        """Whether its decimals may never end."""
        return self.aggregate.fn in ("avg", "share")

    @property
    def of_none(self) -> Composable:
        """What it is of no rows."""
        return SQL("0") if self.aggregate.fn in ("count", "count_distinct", "sum") else SQL("null")


class Numbers:
    """The aggregates over the rows of a scope. Those of a query come first; `order` and `having` may add others."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.all: list[Number] = []
        self.read: list[Composable] = []
        """The columns that are read of each row."""

    def add(self, aggregate: Aggregate, pointer: str) -> Number:
        """An aggregate, which is computed once however often it is asked for. Raises InvalidInput."""
        known = next((number for number in self.all if number.aggregate == aggregate), None)
        if known is not None:
            return known
        only = None
        if aggregate.where:
            only = self._read(all_of(self.scope, aggregate.where, f"{pointer}/where", at_once=True))
        number = self._share(aggregate, only) if aggregate.fn == "share" else self._number(aggregate, only, pointer)
        self.all.append(number)
        return number

    def named(self, name: str, pointer: str) -> Number | None:
        """The aggregate that a name stands for; one that the query does not list is added."""
        for number in self.all:
            if number.column.name == name:
                return number
        try:
            aggregate = Aggregate.model_validate(name)
        except ValidationError:
            return None
        return self.add(aggregate, pointer)

    def _read(self, value: Composable) -> Composed:
        name = Identifier(f"a{len(self.read)}")
        self.read.append(SQL("{} as {}").format(value, name))
        return SQL("{}").format(name)

    def _share(self, aggregate: Aggregate, only: Composable | None) -> Number:
        sql = SQL("(count(*) filter (where {}))::numeric / nullif(count(*), 0)").format(only or SQL("true"))
        return Number(aggregate, Column(self._name(aggregate), "share", "number"), sql, "number", len(self.all))

    def _number(self, aggregate: Aggregate, only: Composable | None, pointer: str) -> Number:
        function = aggregate.fn
        assert function != "share"
        if aggregate.field is None:
            column = Column(self._name(aggregate), "count", "number")
            return Number(aggregate, column, aggregated("count", None, "number", only), "number", len(self.all))
        path = resolve_over(function, aggregate.field, self.scope.rows, self.scope.building.schema, f"{pointer}/field")
        sql = (
            self._of_many(function, path, only, pointer)
            if path.is_many
            else self._of_one(function, path, only, pointer)
        )
        told = replace(path, over=function)
        label = f"{WORDS.get(function, function)} {path.label}"
        return Number(
            aggregate, Column(self._name(aggregate), label, told.kind, told.unit), sql, told.kind, len(self.all)
        )

    def _of_one(self, function: Over, path: Path, only: Composable | None, pointer: str) -> Composed:
        operand = path_operand(self.scope, path, f"{pointer}/field")
        return aggregated(function, self._read(operand.value), operand.kind, only)

    def _of_many(self, function: Over, path: Path, only: Composable | None, pointer: str) -> Composed:
        """Over the values of the related rows of all rows."""
        if function == "count_distinct":
            return self._distinct_of_many(path, only, pointer)
        parts: tuple[Over, ...] = ("sum", "count") if function == "avg" else (function,)
        kind = replace(path, over=function).kind
        sums = [
            aggregated(
                part if part in ("min", "max") else "sum",
                self._read(
                    path_operand(self.scope, replace(path, text=f"{part}({path.text})", over=part), pointer).value
                ),
                kind,
                only,
            )
            for part in parts
        ]
        return sums[0] if len(sums) == 1 else SQL("{} / nullif({}, 0)").format(*sums)

    def _distinct_of_many(self, path: Path, only: Composable | None, pointer: str) -> Composed:
        rows, value = many_values(self.scope, path, pointer, at_once=True)
        key = key_of(value, path.kind)
        if rows.owner is None:
            of_row: Composable = SQL("to_jsonb(array({}))").format(rows.select(key))
        else:
            of_row = SQL("coalesce({}.v, '[]')").format(rows.joined(SQL("jsonb_agg(distinct {})").format(key)))
        kept = self._read(of_row)
        chosen = SQL("") if only is None else SQL(" filter (where {})").format(only)
        return SQL(
            "(select count(distinct e.v) from jsonb_array_elements(jsonb_agg({}){}) r (v), jsonb_array_elements_text(r.v) e (v))"
        ).format(kept, chosen)

    def _name(self, aggregate: Aggregate) -> str:
        """Its name; a second one of this name is `count#2`."""
        same = sum(number.aggregate.name == aggregate.name for number in self.all)
        return f"{aggregate.name}#{same + 1}" if same else aggregate.name
