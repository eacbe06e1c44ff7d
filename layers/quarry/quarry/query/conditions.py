"""Conditions and aggregates as SQL over the rows of a scope. Pure.

Values are always parameters; what is null meets `!=` and `not`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import LiteralString, NamedTuple

from psycopg.sql import SQL, Composable, Composed, Literal

from quarry.platform.text import piece_pattern
from quarry.query.expressions import (
    TRUE,
    Building,
    Operand,
    Related,
    Scope,
    aggregated,
    are_indexed,
    compared,
    element_table,
    elements,
    folded,
    holds_any,
    key_of,
    related,
)
from quarry.query.paths import NUMERICAL, Path, Predicate, resolve_rows
from quarry.query.values import Computed, invalid
from quarry.schema.algebra import AllOf, AnyOf, Comparison, Condition, Exists, Not, OtherField, Spelt, Words
from quarry.schema.matching import holds_one_of, is_place_among
from quarry.schema.source import TEXT_KINDS, Field, SqlOf

PREDICATES_MAX = 4
"""How deep predicates may refer to each other."""


SqlHolds = Callable[[LiteralString, Sequence[str], Building], Composed]
"""Whether a row holds one of some texts, as SQL, by the row's alias, the texts, and what has their parameters."""

NamedOperand = Callable[[str, str], Operand]
"""The operand that a name stands for; the second argument points to it."""


class Reader(NamedTuple):
    """What conditions are read by: the rows of a scope or, for groups, the operands that `operand_of` gives. `at_once`: they
    stand within OR or NOT, where related rows are read for all rows at once.
    """

    building: Building
    scope: Scope | None
    operand_of: NamedOperand | None = None
    at_once: bool = False

    def operand(self, name: str, pointer: str, *, joined: bool = False, of: Comparison | None = None) -> Operand:
        """The operand of a name in a comparison `of` values. Where other rows are not joined to the statement, one is read in a
        subquery, unless it must be `joined`.
        """
        if self.operand_of is not None or self.scope is None:
            assert self.operand_of is not None
            return self.operand_of(name, pointer)
        path = self.scope.resolve(name, pointer)
        apart = bool(path.steps) and not (joined or self.building.joins)
        at_once = self.at_once or not (joined or are_indexed(path.steps))
        if (held_by := _holding(path, of)) is not None:
            return _whole_operand(self.scope, path, held_by, at_once=at_once, apart=apart)
        return path_operand(self.scope, path, pointer, at_once=at_once, apart=apart)

    @property
    def within(self) -> Reader:
        """For conditions within OR and NOT."""
        return self._replace(at_once=True)


def all_of(scope: Scope, conditions: Sequence[Condition], pointer: str, *, at_once: bool = False) -> Composed:
    """True of the rows that meet all conditions. `at_once` where that is not asked alone of rows."""
    return joined_by(" and ", Reader(scope.building, scope, at_once=at_once), conditions, pointer)


def joined_by(word: str, reader: Reader, conditions: Sequence[Condition], pointer: str) -> Composed:
    """The conditions with `and` or `or` between them. Errors of each are collected."""
    return SQL("({})").format(SQL(word).join(each_met(reader, conditions, pointer) or [TRUE]))


def each_met(reader: Reader, conditions: Sequence[Condition], pointer: str) -> list[Composable]:
    """What is true where each condition is met. Errors of each are collected."""
    met: list[Composable] = []
    for place, condition in enumerate(conditions):
        with reader.building.collected():
            met.append(SQL("({})").format(_condition(reader, condition, f"{pointer}/{place}")))
    return met


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
            return words_condition(reader.scope, condition.words, f"{pointer}/words")
        case Comparison():
            return _comparison(reader, condition, pointer)


def words_condition(scope: Scope, words: str, pointer: str) -> Composed:
    """True of the rows of a source that hold all of these words. Raises InvalidInput where no search looks for words."""
    holds_words = scope.source.holds_words
    if holds_words is None:
        raise invalid(pointer, f"{scope.source.name} cannot be searched by words: use `contains` on a field")
    return SQL("{}").format(SQL(holds_words(scope.alias, scope.building.text(words))))


def _comparison(reader: Reader, comparison: Comparison, pointer: str) -> Composed:
    if not isinstance(comparison.value, OtherField):
        operand = reader.operand(comparison.field, f"{pointer}/field", of=comparison)
        if operand.holds is not None:
            return holds_any(operand, comparison, reader.building)
        return compared(operand, None, comparison, reader, pointer)
    reader = reader._replace(at_once=False)  # each row's related rows are compared with its own value
    operand = reader.operand(comparison.field, f"{pointer}/field", joined=True)
    other = reader.operand(comparison.value.field, f"{pointer}/value/field", joined=True)
    return compared(operand, other, comparison, reader, pointer)


def _exists(reader: Reader, condition: Exists, pointer: str) -> Composed:
    scope = reader.scope
    if scope is None:
        raise invalid(pointer, "`having` compares aggregates and groups: ask for related rows in `where`")
    path = resolve_rows(condition.exists, scope.source, scope.building.schema, f"{pointer}/exists")
    rows = related(scope, path.steps, at_once=reader.at_once or not are_indexed(path.steps))
    return rows.any(all_of(rows.scope, condition.where, f"{pointer}/where"))


def _holding(path: Path, comparison: Comparison | None) -> SqlHolds | None:
    """How the field that a path ends at is compared with the values of a comparison, if they are spelt as in the data."""
    if comparison is None or path.over is not None or not isinstance(path.end, Field) or not comparison.scalars:
        return None
    has_values = comparison.op in ("=", "!=") or (comparison.op == "contains" and (path.end.folds or path.end.is_array))
    if not has_values:
        return None
    if path.end.folds and (path.end.facet in TEXT_KINDS or path.end.facet == "words"):
        return partial(_has_value_named, path.end)
    is_spelt = isinstance(comparison.values, Spelt) and path.end.kind == "text"
    if path.end.place is not None:
        return partial(_holds_place, path.end.place, is_spelt)
    if is_spelt:
        return partial(_is_one_of, path.end)
    is_array_of_texts = path.end.is_array and path.end.kind == "text"
    has_texts = all(isinstance(value, str) and value.strip(" ") for value in comparison.scalars)
    return partial(_has_element, path.end) if is_array_of_texts and has_texts else None


def _has_value_named(facet: Field, row: LiteralString, values: Sequence[str], building: Building) -> Composed:
    """Whether a row has a value that one of some texts names."""
    return holds_one_of(facet, SQL((facet.place or facet.sql)(row)), values, building)


def _is_one_of(field: Field, row: LiteralString, values: Sequence[str], building: Building) -> Composed:
    """Whether a row has one of some texts, spelt as in the data: an index on the column serves it, and the planner knows how many
    rows have them.
    """
    same = SQL("({})::text[] && {}::text[]" if field.is_array else "({})::text = any({}::text[])")
    return same.format(SQL(field.sql(row)), building.parameter(list(values)))


def _has_element(field: Field, row: LiteralString, values: Sequence[str], building: Building) -> Composed:
    """Whether an array has one of some texts, but for their case and outer spaces. Only an array that has the text, or holds it
    in any case, is taken apart, which takes five times as long as to look.
    """
    patterns = [piece_pattern(value.strip(" ")) for value in values]
    return SQL(
        "({array} && {texts}::text[] or (lower(array_to_string({array}, E'\\n')) collate \"C\" like any({patterns}::text[])"
        " and exists (select from unnest({array}) v (v) where lower(btrim(v.v)) = any({folded}::text[]))))"
    ).format(
        array=SQL("({})::text[]").format(SQL(field.sql(row))),
        texts=building.parameter(list(values)),
        patterns=building.once(SQL(_EACH).format(SQL("lower(p)"), building.parameter(patterns))),
        folded=building.once(SQL(_EACH).format(SQL("lower(btrim(p))"), building.parameter(list(values)))),
    )


_EACH: LiteralString = "array(select {} from unnest({}::text[]) p)"


def _holds_place(
    place: SqlOf, is_spelt: bool, row: LiteralString, values: Sequence[str], building: Building
) -> Composed:
    """Whether a row is in one of some places, spelt as in the data; unless it `is_spelt` so, the case of the name does not
    count.
    """
    value = SQL(place(row))
    if is_spelt:
        return is_place_among(value, values, building)
    same = SQL(", ").join(folded(building.parameter(each)) for each in values)
    return SQL("({} or {} in ({}))").format(is_place_among(value, values, building), folded(value), same)


def _whole_operand(scope: Scope, path: Path, holds: SqlHolds, *, at_once: bool, apart: bool) -> Operand:
    """The operand of a path whose values are compared as a whole, not one by one."""
    rows = related(scope, path.steps, at_once=at_once) if apart or (path.is_many and not path.is_array) else None
    row = (rows.scope if rows else scope.reach(path.steps)).alias
    return Operand(TRUE, path.kind, path.text, rows, holds=lambda values, parameters: holds(row, values, parameters))


def path_operand(scope: Scope, path: Path, pointer: str, *, at_once: bool = False, apart: bool = False) -> Operand:
    """The operand of a resolved path. `at_once` reads related rows for all rows at once, `apart` reads even one in a subquery."""
    if path.over is not None:
        computed = scope.cached(path.text, lambda: _computed(scope, path, pointer))
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
    if isinstance(path.end, Computed):
        values = [path_operand(scope, each, pointer).value for each in path.end.operands]
        return SQL(path.end.template).format(*values, today=Literal(scope.building.today))
    return _predicate(scope, path.end, pointer)


def _predicate(scope: Scope, predicate: Predicate, pointer: str) -> Composed:
    """Whether a row meets a derived predicate; unknown where there is no row."""
    building = scope.building
    if building.predicates == PREDICATES_MAX:
        raise invalid(pointer, f"the predicate {predicate.name} is defined by too many others")
    building.predicates += 1
    met = all_of(scope, predicate.conditions, pointer, at_once=True)
    building.predicates -= 1
    if not scope.source.has_key:
        return SQL("({} is true)").format(met)
    return SQL("(case when {} is not null then {} is true end)").format(SQL(scope.source.key(scope.alias)), met)


def _computed(scope: Scope, path: Path, pointer: str) -> Composable:
    rows, value = many_values(scope, path, pointer, at_once=True)
    return or_of_none(path, rows.of_row(aggregate_of(path, value, rows.scope)))


def or_of_none(path: Path, value: Composable) -> Composable:
    """An aggregate over related rows, which is null where there are none, as it is shown."""
    return SQL("coalesce({}, 0)").format(value) if path.over in ("count", "count_distinct", "sum") else value


def aggregate_of(path: Path, value: Composable, scope: Scope) -> Composed:
    """What a path computes of the values of related rows, which `scope` is seen from."""
    assert path.over is not None
    if path.over in NUMERICAL and path.repeats:
        return of_merged(path.over, SQL("jsonb_build_array({})").format(by_row(scope, value)))
    return aggregated(path.over, None if path.end is None else value, path.end_kind)


def by_row(scope: Scope, value: Composable) -> Composed:
    """An aggregate: the numbers of the rows that a scope is seen from as an object, each row's once, by its key."""
    key = row_key(scope)
    return SQL("jsonb_object_agg({0}, {1}) filter (where {0} is not null)").format(key, value)


def row_key(scope: Scope) -> Composed:
    """The key of the row that a scope is seen from, as text; null where there is none."""
    assert scope.source.has_key
    return SQL("({})::text").format(SQL(scope.source.key(scope.alias)))


def key_of_name(scope: Scope, path: Path) -> Composed:
    """The key of the row whose name a path leads to; null where it has none."""
    row = scope.reach(path.steps)
    assert isinstance(path.end, Field)
    name = key_of(SQL(path.end.sql(row.alias)), "text")
    return SQL("(case when {} is not null then {} end)").format(name, row_key(row))


def of_merged(function: str, objects: Composable, fraction: float = 0.5) -> Composed:
    """A function over the numbers in an array of objects of `by_row`, each key once."""
    return SQL(
        "(select {} from (select distinct e.k, e.v from jsonb_array_elements({}) o (v), jsonb_each_text(o.v) e (k, v)"
        " where jsonb_typeof(o.v) = 'object') e)"
    ).format(aggregated(function, SQL("e.v"), "number", fraction=fraction), objects)
