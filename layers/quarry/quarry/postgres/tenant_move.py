"""Moving a tenant to another server while it serves.

Its schemas are made at the new node from a dump of their definitions, and filled by logical replication while searches and loads
go on. Then writes are refused for a moment, until the last change has arrived and the tenant's row names the new node. Reads
never wait: a process that has not noticed yet reads the old rows, which are dropped a little later. A move that was broken off
leaves the tenant where it was, perhaps refusing writes; the next one starts over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Composed, Identifier, Literal

from quarry.platform.errors import ConfigurationError, DatabaseUnavailable, NotFound
from quarry.postgres.connections import at_node, checked, node_from, node_of
from quarry.postgres.migrate import connect, load_libraries
from quarry.postgres.schema import SyncConnection, value
from quarry.postgres.tenants import TenantRow, drop_schemas, prepare_node, read_tenant

LOCK_SECONDS = 1.0
"""How long writers may wait for the lock that ends them; then they go on, and the lock is tried again."""
FREE_SECONDS = 600.0
"""How long a moment without a long write is waited for."""
UNNOTICED_SECONDS = 3.0
"""How long the old rows stay readable: longer than a process remembers where a tenant is."""
FAULTS_MAX = 5
_PAUSE_SECONDS = 0.05

_FENCE = "quarry_moving"

_TABLES = """
select c.oid::regclass::text as name, c.relpersistence = 'u' as is_unlogged,
  c.relreplident = 'd' and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary) as lacks_key
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname = any(%s) and c.relkind = 'r' order by 1
"""
_COPIED = """
select not exists (select from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid
  where s.subname = %(name)s and r.srsubstate <> 'r'),
  (select t.apply_error_count + t.sync_error_count from pg_stat_subscription_stats t where t.subname = %(name)s)
"""
_SEQUENCES = """
select format('%%I.%%I', schemaname, sequencename), last_value from pg_sequences
where schemaname = any(%s) and last_value is not null
"""


Dump = Callable[[str, Sequence[str]], str]
"""The statements that make these schemas of the database at a URL, without rows."""


@dataclass(frozen=True)
class Moved:
    """A move that was made: the tenant at its new node, and how long its writes were refused, in seconds."""

    tenant: TenantRow
    stalled_seconds: float


@dataclass(frozen=True)
class _Table:
    name: str
    is_unlogged: bool
    lacks_key: bool


@dataclass(frozen=True)
class _Move:
    """Both ends of a move."""

    tenant: TenantRow
    source_url: str
    source: SyncConnection
    target: SyncConnection

    @property
    def name(self) -> str:
        """The name of the publication, the subscription and its slot."""
        return f"qm_{self.tenant.schema_name}"

    @property
    def schemas(self) -> list[str]:
        return [self.tenant.schema_name, self.tenant.data_schema]

    def tables(self) -> list[_Table]:
        """The tenant's tables with rows of their own, also the parts of partitioned ones."""
        return [_Table(*row) for row in self.source.execute(_TABLES, [self.schemas]).fetchall()]


def move_tenant(
    url: str,
    name: str,
    node: str,
    *,
    own_schema: str,
    embedding_dimensions: int,
    dump: Dump,
    report: Callable[[str], None] = lambda _: None,
) -> Moved:
    """Move a tenant to a node. `url` is that of the installation, `report` is told each step.

    Raises NotFound for an unknown tenant; ConfigurationError if it is there already, was not migrated, or a server cannot do it;
    DatabaseUnavailable if a server does not answer, or writes never pause. The tenant then stays where it was.
    """
    new_node = node_from(node)
    with connect(url, own_schema) as home:
        # until the connection is closed
        if not value(home, "select pg_try_advisory_lock(hashtextextended('quarry tenant move ' || %s, 0))", [name]):
            raise ConfigurationError(f"The tenant {name} is being moved by another process.")
        tenant = read_tenant(home, name)
        if new_node == (tenant.node or node_of(url)):
            raise ConfigurationError(f"The tenant {name} is at {new_node} already.")
        if tenant.release is None:
            raise ConfigurationError(f"The tenant {name} is not finished: `quarry tenant add {name}` finishes it.")
        moved = replace(tenant, node=None if new_node == node_of(url) else new_node)
        source_url = at_node(url, tenant.node)
        with connect(source_url, own_schema) as source:
            _check(source, node_of(source_url))
            prepare_node(url, moved.node, own_schema=own_schema, embedding_dimensions=embedding_dimensions)
            with connect(at_node(url, moved.node), own_schema) as target:
                stalled = _moved(_Move(tenant, source_url, source, target), home, moved, dump, report)
            report("the tenant is served from its new place; dropping the old one")
            time.sleep(UNNOTICED_SECONDS)
            drop_schemas(source, tenant)
    return Moved(moved, stalled)


def _check(source: SyncConnection, node: str) -> None:
    level = value(source, "select current_setting('wal_level')")
    if level != "logical":
        raise ConfigurationError(
            f"Moving a tenant needs wal_level = logical at {node}, where it is {level}: set it and restart that server (on RDS "
            "and Aurora, by rds.logical_replication)."
        )


def _moved(move: _Move, home: SyncConnection, moved: TenantRow, dump: Dump, report: Callable[[str], None]) -> float:
    """Make the move; how many seconds writes were refused. If it fails, nothing of it stays."""
    _undo(move)  # what an earlier one left behind
    try:
        _copy(move, dump, report)
        _fence(move)
        began = time.monotonic()
        _finish(move)
        home.execute("update tenants set node = %s where name = %s", [moved.node, moved.name])
    except BaseException:
        with suppress(psycopg.Error, NotFound):
            # the new rows are dropped only where it is certain that nobody was sent to them
            if read_tenant(home, moved.name).node == move.tenant.node:
                _undo(move)
        raise
    stalled = time.monotonic() - began
    _end_replication(move)
    return stalled


def _undo(move: _Move) -> None:
    _end_replication(move)
    drop_schemas(move.target, move.tenant)
    move.source.execute(SQL("drop function if exists {} cascade").format(Identifier(move.tenant.schema_name, _FENCE)))


def _end_replication(move: _Move) -> None:
    name = Identifier(move.name)
    if value(move.target, "select exists (select from pg_subscription where subname = %s)", [move.name]):
        move.target.execute(SQL("alter subscription {} disable").format(name))
        move.target.execute(SQL("alter subscription {} set (slot_name = none)").format(name))
        move.target.execute(SQL("drop subscription {}").format(name))
    _drop_slots(move)
    move.source.execute(SQL("drop publication if exists {}").format(name))


def _drop_slots(move: _Move) -> None:
    """Drop the slot at the source; a worker of the subscription may hold it for a moment longer."""
    until = time.monotonic() + FREE_SECONDS
    while value(move.source, "select exists (select from pg_replication_slots where slot_name = %s)", [move.name]):
        try:
            move.source.execute("select pg_drop_replication_slot(%s)", [move.name])
        except psycopg.errors.ObjectInUse:
            if time.monotonic() > until:
                raise
            time.sleep(_PAUSE_SECONDS)


def _copy(move: _Move, dump: Dump, report: Callable[[str], None]) -> None:
    """Make the schemas at the target, and replicate until it has what the source has."""
    tables = move.tables()
    logged = [table for table in tables if not table.is_unlogged]
    _restore(move, dump(checked(move.source_url), move.schemas))
    for table in logged:
        if table.lacks_key:
            move.source.execute(f"alter table {table.name} replica identity full".encode())
    move.source.execute(_statement("create publication {} for table ", move, logged))
    report(f"copying {len(logged)} tables")
    parameters: dict[str, Any] = conninfo_to_dict(checked(move.source_url)) | {"application_name": move.name}
    with _explain_refusals("subscribe to another server (pg_create_subscription)"):
        move.target.execute(
            SQL("create subscription {} connection {} publication {}").format(
                Identifier(move.name), Literal(make_conninfo(**parameters)), Identifier(move.name)
            )
        )
    while True:
        done, faults = move.target.execute(_COPIED, {"name": move.name}).fetchall()[0]
        if done:
            break
        if faults and faults > FAULTS_MAX:
            raise ConfigurationError(
                "The rows cannot be copied; the new server's log says why. It must reach "
                f"{node_of(move.source_url)} by that name, with the same user and password."
            )
        time.sleep(_PAUSE_SECONDS)
    report("copied; counting for the planner")
    for table in logged:
        move.target.execute(f"analyze {table.name}".encode())


def _statement(beginning: LiteralString, move: _Move, tables: Sequence[_Table]) -> Composed:
    names = SQL(", ").join(SQL(table.name) for table in tables)  # quoted by Postgres
    return SQL(beginning).format(Identifier(move.name)) + names


def _restore(move: _Move, definitions: str) -> None:
    with move.target.transaction(), _explain_refusals("create the tenant's schema"):
        load_libraries(move.target)
        before = value(move.target, "select current_setting('search_path')")
        move.target.execute(definitions.encode(), prepare=False)
        move.target.execute("select set_config('search_path', %s, false)", [before])


@contextmanager
def _explain_refusals(what: str) -> Iterator[None]:
    try:
        yield
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        raise ConfigurationError(f"The new server refuses to {what}: {error.diag.message_primary or error}") from error


def _finish(move: _Move) -> None:
    """After the last write: wait until it has arrived, and bring over what is not replicated."""
    until = time.monotonic() + FREE_SECONDS
    end = value(move.source, "select pg_current_wal_lsn()")
    arrived: LiteralString = "select confirmed_flush_lsn >= %s::pg_lsn from pg_replication_slots where slot_name = %s"
    while not value(move.source, arrived, [end, move.name]):
        if time.monotonic() > until:
            raise DatabaseUnavailable("The new server does not keep up; the tenant was not moved.")
        time.sleep(_PAUSE_SECONDS)
    for sequence, last in move.source.execute(_SEQUENCES, [move.schemas]).fetchall():
        move.target.execute("select setval(%s, %s)", [sequence, last])
    for table in move.tables():
        if table.is_unlogged:
            _copy_rows(move, table)


def _copy_rows(move: _Move, table: _Table) -> None:
    """Copy a table that is not replicated."""
    with (
        move.source.cursor() as reading,
        move.target.cursor() as writing,
        reading.copy(f"copy {table.name} to stdout".encode()) as out,
        writing.copy(f"copy {table.name} from stdin".encode()) as into,
    ):
        for part in out:
            into.write(part)


def _fence(move: _Move) -> None:
    """Refuse writes at the source from now on. Those that have begun are waited for: nothing of theirs is lost."""
    tables = move.tables()
    until = time.monotonic() + FREE_SECONDS
    while True:
        try:
            with move.source.transaction():
                move.source.execute(SQL("set local lock_timeout = {}").format(int(LOCK_SECONDS * 1000)))
                names = ", ".join(table.name for table in tables)
                move.source.execute(f"lock table {names} in share row exclusive mode".encode())
                _refuse_writes(move, tables)
                return
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            if time.monotonic() > until:
                raise DatabaseUnavailable("The tenant is being written to all the time; it was not moved.") from None
            time.sleep(LOCK_SECONDS)


def _refuse_writes(move: _Move, tables: Sequence[_Table]) -> None:
    fence = Identifier(move.tenant.schema_name, _FENCE)
    move.source.execute(
        SQL(
            """create function {}() returns trigger language plpgsql as $$
               begin
                 raise 'This tenant is being moved to another server; try again shortly.'
                   using errcode = 'read_only_sql_transaction';
               end $$"""
        ).format(fence)
    )
    for table in tables:
        move.source.execute(
            SQL("create trigger {} before insert or update or delete or truncate on ").format(Identifier(_FENCE))
            + SQL(table.name)  # quoted by Postgres
            + SQL(" for each statement execute function {}()").format(fence)
        )
