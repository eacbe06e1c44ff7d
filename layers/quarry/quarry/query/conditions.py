"""Conditions and aggregates as SQL over the rows of a scope. Pure.

Values are always parameters; what is null meets `!=` and `not`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import LiteralString

from psycopg.sql import SQL, Composable, Composed, Identifier
from pydantic import ValidationError

from quarry.postgres.place_condition import is_place_among
from quarry.query.algebra import (
    Aggregate,
    AllOf,
    AnyOf,
    Column,
    Comparison,
    Condition,
    Exists,
    Not,
    OtherField,
    Words,
)
from quarry.query.comparisons import Operand, aggregated, compared, folded, held, is_finite, key_of
from quarry.query.paths import Over, Path, Predicate, invalid, resolve, resolve_over, resolve_rows
from quarry.query.schema import Field, Kind, SqlHolds, SqlOf
from quarry.query.scope import TRUE, Building, Related, Scope, are_indexed, element_table, elements, related

PREDICATES_MAX = 4
"""How deep predicates may refer to each other."""


NamedOperand = Callable[[str, str], Operand]
"""The operand that a name stands for; the second argument points to it."""


@dataclass(frozen=True)
class Reader:
    """What conditions are read by: the rows of a scope, or, for groups, what `named` knows. `at_once`: they stand within OR or
    NOT, where related rows are read for all rows at once.
    """

    building: Building
    scope: Scope | None
    named: NamedOperand | None = None
    at_once: bool = False

    def operand(self, name: str, pointer: str, *, joined: bool = False, of: Comparison | None = None) -> Operand:
        """The operand that a name stands for, `of` a comparison with values. Where no rows are to be joined, another row is read
        in a subquery unless it is `joined` all the same.
        """
        if self.named is not None or self.scope is None:
            assert self.named is not None
            return self.named(name, pointer)
        path = resolve(name, self.scope.rows, self.building.schema, pointer)
        apart = bool(path.steps) and not (joined or self.building.joins)
        at_once = self.at_once or not (joined or are_indexed(path.steps))
        if (held_by := _holding(path, of)) is not None:
            return _held_operand(self.scope, path, held_by, at_once=at_once, apart=apart)
        return path_operand(self.scope, path, pointer, at_once=at_once, apart=apart)

    @property
    def within(self) -> Reader:
        """For conditions within OR and NOT."""
        return replace(self, at_once=True)


def all_of(scope: Scope, conditions: Sequence[Condition], pointer: str, *, at_once: bool = False) -> Composed:
    """True of the rows that meet all conditions. `at_once` where that is not asked alone of rows."""
    return joined_by(" and ", Reader(scope.building, scope, at_once=at_once), conditions, pointer)


def joined_by(word: str, reader: Reader, conditions: Sequence[Condition], pointer: str) -> Composed:
    """The conditions with `and` or `or` between them. Errors of each are collected."""
    met: list[Composable] = []
    for place, condition in enumerate(conditions):
        with reader.building.collected():
            met.append(SQL("({})").format(_condition(reader, condition, f"{pointer}/{place}")))
    return SQL("({})").format(SQL(word).join(met or [TRUE]))


def _condition(reader: Reader, condition: Condition, pointer: str) -> Composed:
    match condition:
        case AnyOf():
            return joined_by(" or ", reader.within, condition.any_of, f"{pointer}/any_of")
        case AllOf():
            return joined_by(" and ", reader, condition.all_of, f"{pointer}/all_of")
        case Not(negated=Exists() as denied):
            return SQL("not {}").format(_exists(reader, denied, f"{pointer}/not"))
        case Not():
            return SQL("({}) is not true").format(_condition(reader.within, condition.negated, f"{pointer}/not"))
        case Exists():
            return _exists(reader, condition, pointer)
        case Words():
            if reader.scope is None:
                raise invalid(pointer, "`having` compares aggregates and groups: ask for words in `where`")
            return words_held(reader.scope, condition.words, f"{pointer}/words")
        case Comparison():
            return _comparison(reader, condition, pointer)


def words_held(scope: Scope, words: str, pointer: str) -> Composed:
    """True of the rows of a source that hold all of these words. Raises InvalidInput where no search looks for words."""
    holds_words = scope.rows.holds_words
    if holds_words is None:
        raise invalid(pointer, f"{scope.rows.name} cannot be searched by words: use `contains` on a field")
    return SQL("{}").format(SQL(holds_words(scope.alias, scope.building.text(words))))


def _comparison(reader: Reader, comparison: Comparison, pointer: str) -> Composed:
    if not isinstance(comparison.value, OtherField):
        operand = reader.operand(comparison.field, f"{pointer}/field", of=comparison)
        if operand.holds is not None:
            return held(operand, comparison, reader.building)
        return compared(operand, None, comparison, reader, pointer)
    reader = replace(reader, at_once=False)  # each row's related rows are compared with its own value
    operand = reader.operand(comparison.field, f"{pointer}/field", joined=True)
    other = reader.operand(comparison.value.field, f"{pointer}/value/field", joined=True)
    return compared(operand, other, comparison, reader, pointer)


def _exists(reader: Reader, condition: Exists, pointer: str) -> Composed:
    scope = reader.scope
    if scope is None:
        raise invalid(pointer, "`having` compares aggregates and groups: ask for related rows in `where`")
    path = resolve_rows(condition.exists, scope.rows, scope.building.schema, f"{pointer}/exists")
    rows = related(scope, path.steps, at_once=reader.at_once or not are_indexed(path.steps))
    return rows.any(all_of(rows.scope, condition.where, f"{pointer}/where"))


def _holding(path: Path, comparison: Comparison | None) -> SqlHolds | None:
    """How the field that a path ends at is compared with the values of a comparison, if they are spelt as in the data."""
    if comparison is None or path.over is not None or not isinstance(path.end, Field) or not comparison.scalars:
        return None
    has_values = comparison.op in ("=", "!=") or (comparison.op == "contains" and (path.end.folds or path.end.is_array))
    if path.end.place is not None and path.end.holds is None and has_values:
        return partial(_holds_place, path.end.place)
    return path.end.holds if has_values else None


def _holds_place(place: SqlOf, row: LiteralString, values: Sequence[str], building: Building) -> Composed:
    """Whether a row is in one of some places, spelt as in the data, or is called like one but for its case."""
    value = SQL(place(row))
    same = SQL(", ").join(folded(building.parameter(each)) for each in values)
    return SQL("({} or {} in ({}))").format(is_place_among(value, values, building), folded(value), same)


def _held_operand(scope: Scope, path: Path, holds: SqlHolds, *, at_once: bool, apart: bool) -> Operand:
    """The operand of a path whose rows, not their values one by one, are asked what they hold."""
    rows = related(scope, path.steps, at_once=at_once) if apart or (path.is_many and not path.is_array) else None
    row = (rows.scope if rows else scope.reach(path.steps)).alias
    return Operand(TRUE, path.kind, path.text, rows, holds=lambda values, parameters: holds(row, values, parameters))


def path_operand(scope: Scope, path: Path, pointer: str, *, at_once: bool = False, apart: bool = False) -> Operand:
    """The operand of a resolved path. `at_once` reads related rows for all rows at once, `apart` reads even one in a subquery."""
    if path.over is not None:
        computed = scope.kept(path.text, lambda: _computed(scope, path, pointer))
        return Operand(computed, path.kind, path.text)
    if path.is_many or apart:
        many, value = many_values(scope, path, pointer, at_once=at_once, apart=apart)
        return Operand(value, path.kind, path.text, many, path.is_array)
    return Operand(_end(scope.reach(path.steps), path, pointer), path.kind, path.text)


def many_values(
    scope: Scope, path: Path, pointer: str, *, at_once: bool = False, apart: bool = False
) -> tuple[Related, Composable]:
    """The related rows that a path ends at, or the elements of an array, and their value. `apart` reads an array of another row
    in a subquery of that row.
    """
    if path.is_array and not apart:
        rows = elements(scope.building, array_of(scope, path))
        return rows, SQL("{}.v").format(SQL(rows.scope.alias))
    rows = related(scope, path.steps, at_once=at_once)
    return rows, _many_end(rows.scope, path, pointer)


def array_of(scope: Scope, path: Path) -> Composable:
    """The array that a path ends at."""
    assert isinstance(path.end, Field)
    return SQL(path.end.sql(scope.reach(path.steps).alias))


def _many_end(scope: Scope, path: Path, pointer: str) -> Composable:
    value = _end(scope, path, pointer)
    if not isinstance(path.end, Field) or not path.end.is_array:
        return value
    alias = scope.building.alias()
    scope.add(SQL("cross join lateral {}").format(element_table(value, alias)))
    return SQL("{}.v").format(SQL(alias))


def _end(scope: Scope, path: Path, pointer: str) -> Composable:
    """The value at the end of a path, of the row that the scope is seen from."""
    if isinstance(path.end, Field):
        return SQL(path.end.sql(scope.alias))
    if path.end is None:
        return TRUE
    return _predicate(scope, path.end, pointer)


def _predicate(scope: Scope, predicate: Predicate, pointer: str) -> Composed:
    """Whether a row meets a derived predicate; unknown where there is no row."""
    building = scope.building
    if building.predicates == PREDICATES_MAX:
        raise invalid(pointer, f"the predicate {predicate.name} is defined by too many others")
    building.predicates += 1
    met = all_of(scope, predicate.conditions, pointer, at_once=True)
    building.predicates -= 1
    if scope.rows.key is None:
        return SQL("({} is true)").format(met)
    return SQL("(case when {} is not null then {} is true end)").format(SQL(scope.rows.key(scope.alias)), met)


def _computed(scope: Scope, path: Path, pointer: str) -> Composable:
    rows, value = many_values(scope, path, pointer, at_once=True)
    computed = aggregate_of(path, value, rows.scope)
    if rows.owner is None:
        return SQL("({})").format(rows.select(computed))
    return or_of_none(path, SQL("{}.v").format(rows.joined(computed)))


def or_of_none(path: Path, value: Composable) -> Composable:
    """An aggregate over related rows, which is null where there are none, as it is shown."""
    return SQL("coalesce({}, 0)").format(value) if path.over in ("count", "count_distinct", "sum") else value


def aggregate_of(path: Path, value: Composable, scope: Scope) -> Composed:
    """What a path computes of the values of related rows, which `scope` is seen from."""
    assert path.over is not None
    if path.over in _MEASURES and path.repeats:
        return of_merged(path.over, SQL("jsonb_build_array({})").format(by_row(scope, value)))
    kind = path.end.kind if isinstance(path.end, Field) else "boolean"
    return aggregated(path.over, None if path.end is None else value, kind)


_MEASURES: frozenset[str] = frozenset(("sum", "avg"))
"""The functions that a row which is read several times changes."""


def by_row(scope: Scope, value: Composable) -> Composed:
    """An aggregate: the numbers of the rows that a scope is seen from as an object, each row's once, by its key."""
    key = row_key(scope)
    return SQL("jsonb_object_agg({0}, {1}) filter (where {0} is not null)").format(key, value)


def row_key(scope: Scope) -> Composed:
    """The key of the row that a scope is seen from, as text; null where there is none."""
    assert scope.rows.key is not None
    return SQL("({})::text").format(SQL(scope.rows.key(scope.alias)))


def row_named(scope: Scope, path: Path) -> Composed:
    """The key of the row whose name a path leads to; null where it has none."""
    row = scope.reach(path.steps)
    assert isinstance(path.end, Field)
    name = key_of(SQL(path.end.sql(row.alias)), "text")
    return SQL("(case when {} is not null then {} end)").format(name, row_key(row))


def of_merged(function: str, objects: Composable) -> Composed:
    """A function over the numbers in an array of objects of `by_row`, each key once."""
    return SQL(
        "(select {} from (select distinct e.k, e.v from jsonb_array_elements({}) o (v), jsonb_each_text(o.v) e (k, v)"
        " where jsonb_typeof(o.v) = 'object') e)"
    ).format(aggregated(function, SQL("e.v"), "number"), objects)


WORDS = {"count_distinct": "different", "sum": "total", "avg": "average", "min": "lowest", "max": "highest"}


@dataclass(frozen=True)
class Number:
    """An aggregate: `sql` computes it over the columns that `Numbers` reads of each row, `column` shows it."""

    aggregate: Aggregate
    column: Column
    sql: Composed
    kind: Kind
    place: int
    unfinite: Composed | None = None
    """How many of the values are no finite numbers, and of how many, as an array."""

    @property
    def is_rounded(self) -> bool:
        """Whether its decimals may never end."""
        return self.aggregate.fn in ("avg", "share")

    @property
    def of_none(self) -> Composable:
        """Its value over no rows."""
        return SQL("0") if self.aggregate.fn in ("count", "count_distinct", "sum") else SQL("null")


class Numbers:
    """The aggregates over the rows of a scope. Those of a query come first; `order` and `having` may add others."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.all: list[Number] = []
        self.read: list[Composable] = []
        """The columns that are read of each row."""
        self.firsts: list[tuple[Composable, Identifier]] = []
        """The columns that say whether a row is the first of its group with what stands before the name."""

    def add(self, aggregate: Aggregate, pointer: str) -> Number:
        """Add an aggregate, once. Raises InvalidInput."""
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
        """The aggregate of a name. One that the query does not list is added."""
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
        sql, unfinite = (
            (self._of_many(function, path, only, pointer), None)
            if path.is_many
            else self._of_one(function, path, only, pointer)
        )
        told = replace(path, over=function)
        label = f"{WORDS.get(function, function)} {path.label}"
        return Number(
            aggregate,
            Column(self._name(aggregate), label, told.kind, told.unit),
            sql,
            told.kind,
            len(self.all),
            unfinite,
        )

    def _of_one(
        self, function: Over, path: Path, only: Composable | None, pointer: str
    ) -> tuple[Composed, Composed | None]:
        """Over a value of each row; of numbers also how many are left out because they are not finite."""
        operand = path_operand(self.scope, path, f"{pointer}/field")
        value = self._read(
            row_named(self.scope, path) if function == "count_distinct" and path.names_rows else operand.value
        )
        if function in _MEASURES and path.over is None and path.repeats:
            only = self._once(row_key(self.scope.reach(path.steps)), only)
        if operand.kind not in ("number", "money") or function in ("count", "count_distinct"):
            return aggregated(function, value, operand.kind, only), None
        finite, among = is_finite(value), only or SQL("true")
        unfinite = SQL("array[count(*) filter (where {0} and not {1}), count({2}) filter (where {0})]").format(
            among, finite, value
        )
        return aggregated(function, value, operand.kind, SQL("{} and {}").format(among, finite)), unfinite

    def _once(self, key: Composable, only: Composable | None) -> Composed:
        """Whether a row is the first of those, in its group, that lead to the row with this key and meet `only`."""
        part = SQL(", {} is true").format(only) if only else SQL("")
        name = Identifier(f"u{len(self.firsts)}")
        self.firsts.append((SQL("{}{}").format(self._read(key), part), name))
        return SQL("{} and {}").format(name, only) if only else SQL("{}").format(name)

    def _of_many(self, function: Over, path: Path, only: Composable | None, pointer: str) -> Composed:
        """Over the values of the related rows of all rows."""
        if function == "count_distinct":
            return self._distinct_of_many(path, only, pointer)
        if function in _MEASURES and path.repeats:
            return self._of_shared(function, path, only, pointer)
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

    def _of_shared(self, function: Over, path: Path, only: Composable | None, pointer: str) -> Composed:
        """Over the numbers of related rows that several rows have in common, each once."""
        if path.is_array or (isinstance(path.end, Field) and path.end.is_array):
            raise invalid(f"{pointer}/field", f"{path.text} are several numbers of one row, which several rows lead to")
        rows, value = many_values(self.scope, path, pointer, at_once=True)
        numbers = by_row(rows.scope, value)
        of_row: Composable = (
            SQL("({})").format(rows.select(numbers)) if rows.owner is None else SQL("{}.v").format(rows.joined(numbers))
        )
        chosen = SQL("") if only is None else SQL(" filter (where {})").format(only)
        return of_merged(function, SQL("jsonb_agg({}){}").format(self._read(of_row), chosen))

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
