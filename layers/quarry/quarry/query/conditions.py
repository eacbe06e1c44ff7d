"""Conditions as SQL over the rows of a scope. Values are always parameters; what is null meets `!=` and `not`. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from psycopg.sql import SQL, Composable, Composed

from quarry.query.algebra import AllOf, AnyOf, Comparison, Condition, Exists, Not
from quarry.query.comparisons import Operand, OperandOf, compared
from quarry.query.functions import aggregated
from quarry.query.paths import Path, Predicate, Step, invalid, resolve, resolve_rows
from quarry.query.schema import Field
from quarry.query.scope import TRUE, Building, Related, Scope, element_table, elements, related, related_at

PREDICATES_MAX = 4
"""How deep predicates may refer to each other."""


def all_of(scope: Scope, conditions: Sequence[Condition], pointer: str) -> Composed:
    """True of the rows that meet all conditions."""
    return every(scope.building, partial(operand_of, scope), scope, conditions, pointer)


def every(
    building: Building, operand: OperandOf, scope: Scope | None, conditions: Sequence[Condition], pointer: str
) -> Composed:
    """As `all_of`, of conditions whose names `operand` resolves; without a scope no related rows can be asked for."""
    return _joined(" and ", building, operand, scope, conditions, pointer)


def _joined(
    word: str,
    building: Building,
    operand: OperandOf,
    scope: Scope | None,
    conditions: Sequence[Condition],
    pointer: str,
) -> Composed:
    met: list[Composable] = []
    for place, condition in enumerate(conditions):
        with building.collected():
            met.append(SQL("({})").format(_condition(building, operand, scope, condition, f"{pointer}/{place}")))
    return SQL("({})").format(SQL(word).join(met or [TRUE]))


def _condition(
    building: Building, operand: OperandOf, scope: Scope | None, condition: Condition, pointer: str
) -> Composed:
    match condition:
        case AnyOf():
            return _joined(" or ", building, operand, scope, condition.any_of, f"{pointer}/any_of")
        case AllOf():
            return _joined(" and ", building, operand, scope, condition.all_of, f"{pointer}/all_of")
        case Not(negated=Exists() as denied):
            return SQL("not {}").format(_exists(scope, denied, f"{pointer}/not"))  # an anti-join
        case Not():
            return SQL("({}) is not true").format(
                _condition(building, operand, scope, condition.negated, f"{pointer}/not")
            )
        case Exists():
            return _exists(scope, condition, pointer)
        case Comparison():
            return compared(building, operand, condition, pointer)


def _exists(scope: Scope | None, condition: Exists, pointer: str) -> Composed:
    if scope is None:
        raise invalid(pointer, "`having` compares aggregates and groups: ask for related rows in `where`")
    path = resolve_rows(condition.exists, scope.rows, scope.building.schema, f"{pointer}/exists")
    rows = related(scope, path.steps)
    met = all_of(rows.scope, condition.where, f"{pointer}/where")  # adds the tables that it reads
    return SQL("exists ({})").format(rows.select(SQL(""), met))


def operand_of(scope: Scope, name: str, pointer: str) -> Operand:
    """The operand that a field path stands for."""
    return path_operand(scope, resolve(name, scope.rows, scope.building.schema, pointer), pointer)


def path_operand(scope: Scope, path: Path, pointer: str) -> Operand:
    """The operand of a resolved path."""
    if path.over is not None:
        return Operand(_over_related(scope, path, pointer), path.kind, path.text)
    if path.is_many:
        many, value = many_values(scope, path, pointer)
        return Operand(value, path.kind, path.text, many, isinstance(path.end, Field) and path.end.is_array)
    return Operand(_end(scope.reach(path.steps), path, pointer), path.kind, path.text)


def many_values(scope: Scope, path: Path, pointer: str) -> tuple[Related, Composable]:
    """The related rows that a path ends at, or the elements of an array, and their value."""
    if path.is_array:
        rows = elements(scope.building, array_of(scope, path))
        return rows, SQL("{}.v").format(SQL(rows.scope.alias))
    rows = related(scope, path.steps)
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
    met = all_of(scope, predicate.conditions, pointer)
    building.predicates -= 1
    if scope.rows.key is None:
        return SQL("({} is true)").format(met)
    return SQL("(case when {} is not null then {} is true end)").format(SQL(scope.rows.key(scope.alias)), met)


def _over_related(scope: Scope, path: Path, pointer: str) -> Composable:
    """An aggregate over the related rows of a row, computed for all rows at once where they have a key."""
    steps = path.steps
    first = next((place for place, step in enumerate(steps) if step.link.is_many), None)
    outer = scope if first is None else scope.reach(steps[:first])
    if first is None or outer.rows.key is None:
        return outer.kept(path.text, lambda: _row_by_row(scope, path, pointer))
    return outer.kept(path.text, lambda: _at_once(outer, path, steps[first:], pointer))


def _row_by_row(scope: Scope, path: Path, pointer: str) -> Composed:
    rows, value = many_values(scope, path, pointer)
    return SQL("({})").format(rows.select(aggregate_of(path, value)))


def _at_once(outer: Scope, path: Path, steps: Sequence[Step], pointer: str) -> Composable:
    """As a join with the aggregates of all rows: the planner cannot turn a subquery for each row into that."""
    assert outer.rows.key is not None
    assert path.over is not None
    owner, joined = outer.building.alias(), outer.building.alias()
    rows = related_at(outer.building, owner, steps)
    value = aggregate_of(path, _many_end(rows.scope, path, pointer))
    key = SQL(outer.rows.key(owner))
    outer.add(
        SQL("left join (select {} as k, {} as v from {} {}, {} where {} group by 1) {} on {} = {}").format(
            key, value, SQL(outer.rows.rows), SQL(owner), rows.scope.tables, rows.on, SQL(joined),
            SQL("{}.k").format(SQL(joined)), SQL(outer.rows.key(outer.alias)),
        )
    )  # fmt: skip
    return or_of_none(path, SQL("{}.v").format(SQL(joined)))


def or_of_none(path: Path, value: Composable) -> Composable:
    """An aggregate over related rows, which is null where there are none, as it is shown."""
    return SQL("coalesce({}, 0)").format(value) if path.over in ("count", "count_distinct", "sum") else value


def aggregate_of(path: Path, value: Composable) -> Composed:
    assert path.over is not None
    kind = path.end.kind if isinstance(path.end, Field) else "boolean"
    return aggregated(path.over, None if path.end is None else value, kind)
