"""The condition on the rows of a collection: `where = "deleted_at is null"`, an expression that Postgres reads and checks.

It may be whatever the condition of an index may be: an immutable boolean expression over columns of the row. A condition on
the time or the caller would change without a write, which no trigger sees. Statements use the expression as Postgres writes
it back, with qualified names, and nothing else of the declaration.
"""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import errors
from psycopg.sql import SQL, Identifier

from quarry.collections.declaration import CollectionDeclaration
from quarry.collections.declaration_parts import RowCondition
from quarry.collections.names import table_name
from quarry.collections.relations import Relation
from quarry.postgres.schema import SyncConnection

_TABLE, _INDEX = "quarry_condition_of", "quarry_condition"
_WRITTEN_BACK = """
select pg_get_expr(i.indpred, i.indrelid) as sql, array(
  select a.attname::text from pg_depend d join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
  where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid and d.refobjid = i.indrelid and d.refobjsubid > 0
  order by a.attnum) as columns
from pg_index i where i.indexrelid = 'pg_temp.quarry_condition'::regclass
"""
_OF_TIME = (
    "depends on the time, on settings or on a function that is not immutable: the rows would change without a write"
)


def with_conditions(
    connection: SyncConnection,
    declared: Mapping[str, CollectionDeclaration],
    relations: Mapping[tuple[str, str], Relation],
) -> tuple[dict[str, CollectionDeclaration], dict[str, str]]:
    """The declarations with their conditions as Postgres reads them, and the error for each collection whose condition is
    wrong.
    """
    read, wrong = dict(declared), dict[str, str]()
    for name, each in declared.items():
        try:
            kept = {
                by: one.model_copy(update={"where": _read(connection, relations, one.of, one.where)})
                for by, one in each.kept_with.items()
            }
            where = each.where and _read(connection, relations, each.source, each.where)
        except ValueError as error:
            wrong[name] = str(error)
        else:
            read[name] = each.model_copy(update={"where": where, "kept_with": kept})
    return read, wrong


def _read(
    connection: SyncConnection, relations: Mapping[tuple[str, str], Relation], table: str, condition: RowCondition
) -> RowCondition:
    """The condition as Postgres writes it back; as it is where there is no such table, which is told elsewhere."""
    relation = relations.get(table_name(table))
    return condition if relation is None else read_condition(connection, relation, condition.sql)


def read_condition(connection: SyncConnection, relation: Relation, condition: str) -> RowCondition:
    """The condition as Postgres writes it back, and its columns. Raises ValueError, which says what is wrong."""
    try:
        with connection.transaction(force_rollback=True):
            path = SQL("set local search_path = {}, public, pg_catalog").format(Identifier(relation.schema))
            connection.execute(path)
            connection.execute(
                SQL("create temporary table {} (like {})").format(Identifier(_TABLE), Identifier(*relation.qualified))
            )
            made = f"create index {_INDEX} on pg_temp.{_TABLE} ((1)) where ({condition})"
            connection.execute(made.encode(), prepare=True)  # what is prepared is one statement
            connection.execute("set local search_path = pg_catalog")
            row = connection.execute(_WRITTEN_BACK).fetchone()
    except errors.Error as error:
        raise ValueError(f"{condition!r} {_why(error)}") from None
    assert row is not None
    sql, columns = row
    if not columns:
        raise ValueError(f"{condition!r} names no column of {relation.name}")
    read = RowCondition(sql=sql, columns=tuple(columns))
    _ = read.statement  # raises for what no statement can have
    return read


def _why(error: errors.Error) -> str:
    """What is wrong with a condition, and what to write instead."""
    reason = error.diag.message_primary or "cannot be read"
    if isinstance(error, errors.InvalidObjectDefinition):
        return f"{_OF_TIME}; compare columns with fixed values, or search a view"
    if isinstance(error, errors.FeatureNotSupported | errors.GroupingError | errors.WindowingError):
        return f'is not a condition on one row ({reason}): search a view that has it, with sync = "sweep"'
    if isinstance(error, errors.InsufficientPrivilege):
        return f"cannot be checked ({reason}): the role of DATABASE_URL needs the right to make temporary tables"
    return f"is not a condition on a row: {reason}"
