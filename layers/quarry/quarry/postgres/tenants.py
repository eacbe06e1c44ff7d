"""The tenants of an installation: adding, removing and migrating their schemas.

The table `tenants` is in the installation's own schema. `release` is a hash of all SQL files that a tenant's schema was
brought up to, so that one query tells which tenants are behind, and a run that was broken off goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg.rows import class_row
from psycopg.sql import SQL, Identifier

from quarry.platform.errors import ConfigurationError, NotFound, QuarryError
from quarry.platform.text import visible
from quarry.postgres.connections import at_node, node_from, node_of
from quarry.postgres.migrate import Migrated, connect, function_files, migrate, migration_files, sql_directory
from quarry.postgres.schema import SyncConnection, value

AT_ONCE = 4
"""How many tenants are migrated at a time, at most one for each core."""
NAME_MAX = 200
SCHEMA_PATTERN = r"[a-z_][a-z0-9_]{0,57}"
"""Names of schemas; with the ending of DATA they are still names of Postgres."""
USE_SETTING = -1
"""Instead of a quota."""
DATA = "_data"
"""The end of the name of the schema with a tenant's own tables, which `quarry load --as` makes."""

_SLUG_MAX = 24
_TENANTS = "select name, schema_name, release, problem, node, requests_per_minute, rows_max, credits_max from tenants"

_WORKERS = """
select w.nodename || ':' || w.nodeport from pg_dist_node w
left join tenants t on t.node = w.nodename || ':' || w.nodeport
where w.noderole = 'primary' and w.isactive and w.groupid <> 0
group by w.nodeid, w.nodename, w.nodeport order by count(t.name), w.nodeid limit 1
"""


@dataclass(frozen=True)
class TenantRow:
    """A tenant as it is recorded. `problem` is why its last migration failed; `node` is the server of its schema, None for the
    installation's own. Of a quota, None is the settings' own, and 0 any amount.
    """

    name: str
    schema_name: str
    release: str | None
    problem: str | None
    node: str | None
    requests_per_minute: int | None = None
    rows_max: int | None = None
    credits_max: int | None = None

    @property
    def data_schema(self) -> str:
        """The schema of the tenant's own tables."""
        return self.schema_name + DATA


@dataclass(frozen=True)
class TenantMigrated:
    """What migrating a tenant changed, or the problem that it met."""

    tenant: TenantRow
    done: Migrated | None
    problem: str | None = None


def release_of() -> str:
    """A hash of all migrations and functions of this release."""
    directory = sql_directory()
    hashes = "".join(file.sha256 for file in (*migration_files(directory), *function_files(directory)))
    return hashlib.sha256(hashes.encode()).hexdigest()


def schema_for(name: str, own_schema: str) -> str:
    """The schema of a new tenant: its name as far as it is one of Postgres, with a hash where it is not."""
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:_SLUG_MAX]
    ending = "" if slug == name else "_" + hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{own_schema[:20]}_t_{slug}{ending}"


def read_tenants(connection: SyncConnection) -> list[TenantRow]:
    """All tenants, by name."""
    with connection.cursor(row_factory=class_row(TenantRow)) as cursor:
        return cursor.execute(f"{_TENANTS} order by name").fetchall()


def read_tenant(connection: SyncConnection, name: str) -> TenantRow:
    """The tenant of this name. Raises NotFound."""
    with connection.cursor(row_factory=class_row(TenantRow)) as cursor:
        tenant = cursor.execute(f"{_TENANTS} where name = %s", [name]).fetchone()
    if tenant is None:
        raise NotFound(f"There is no tenant {visible(name)!r}: `quarry tenant list` lists them.")
    return tenant


def set_quotas(connection: SyncConnection, name: str, quotas: Mapping[str, int | None]) -> TenantRow:
    """Set quotas of a tenant by the names of their columns: None leaves one as it is, USE_SETTING makes it that of the settings.
    Returns the tenant. Raises NotFound.
    """
    with connection.transaction():
        tenant = read_tenant(connection, name)
        for column, quota in quotas.items():
            if quota is not None:
                connection.execute(
                    SQL("update tenants set {} = nullif(%s, %s) where name = %s").format(Identifier(column)),
                    [quota, USE_SETTING, tenant.name],
                )
        return read_tenant(connection, name)


def add_tenant(
    url: str,
    name: str,
    schema: str | None,
    *,
    own_schema: str,
    embedding_dimensions: int,
    node: str | None = None,
) -> TenantMigrated:
    """Record a tenant and make its schema, at a node if one is given; without one, on a Citus cluster, at the worker with the
    fewest tenants. One that was recorded before and not finished is finished.

    Raises ConfigurationError if the name, the schema or the node is taken or wrong, and as `migrate` does.
    """
    if not name.strip() or name != visible(name) or len(name) > NAME_MAX:
        raise ConfigurationError(f"A tenant's name is the claim's value: 1 to {NAME_MAX} visible characters.")
    schema = schema or schema_for(name, own_schema)
    if (
        not re.fullmatch(SCHEMA_PATTERN, schema)
        or schema.startswith("pg_")
        or schema in ("public", "information_schema")
    ):
        raise ConfigurationError(f"{visible(schema)} is no schema for a tenant: use lower-case letters, digits and _.")
    with connect(url, own_schema) as connection:
        new_node = node_from(node) if node else _worker(connection)
        new = TenantRow(name, schema, None, None, None if new_node == node_of(url) else new_node)
        tenant = _recorded(connection, url, new, own_schema, embedding_dimensions)
        done = _migrated(url, tenant, embedding_dimensions)
        _record(connection, done, release_of())
    return done


def _worker(connection: SyncConnection) -> str | None:
    """The worker of a Citus cluster with the fewest tenants; None elsewhere."""
    return value(connection, _WORKERS) if value(connection, "select to_regclass('pg_catalog.pg_dist_node')") else None


def _recorded(
    connection: SyncConnection, url: str, new: TenantRow, own_schema: str, embedding_dimensions: int
) -> TenantRow:
    """The tenant's row, which is made with its empty schemas if there is none; it is not kept if the schemas cannot be made."""
    try:
        with connection.transaction():
            row = connection.execute(
                "insert into tenants (name, schema_name, node) values (%s, %s, %s) on conflict (name) do nothing returning true",
                [new.name, new.schema_name, new.node],
            ).fetchone()
            tenant = read_tenant(connection, new.name)
            if row is None:
                if tenant.release is not None or tenant.schema_name != new.schema_name:
                    raise ConfigurationError(f"The tenant {new.name!r} exists, in the schema {tenant.schema_name}.")
                return tenant
            prepare_node(url, tenant.node, own_schema=own_schema, embedding_dimensions=embedding_dimensions)
            with _at(connection, url, tenant) as there:
                _make_schemas(there, tenant)
            return tenant
    except (psycopg.errors.UniqueViolation, psycopg.errors.DuplicateSchema):
        raise ConfigurationError(f"The schema {new.schema_name} exists: name another one with --schema.") from None


def _make_schemas(connection: SyncConnection, tenant: TenantRow) -> None:
    with connection.transaction():
        for each in (tenant.schema_name, tenant.data_schema):
            connection.execute(SQL("create schema {}").format(Identifier(each)))
        connection.execute(
            SQL("grant usage on schema {} to quarry_serving, quarry_loading").format(Identifier(tenant.data_schema))
        )


@contextmanager
def _at(connection: SyncConnection, url: str, tenant: TenantRow) -> Iterator[SyncConnection]:
    """A connection to the server of the tenant's schema: `connection`, if it is the installation's own."""
    if tenant.node is None:
        yield connection
        return
    with connect(at_node(url, tenant.node), tenant.schema_name) as there:
        yield there


def prepare_node(url: str, node: str | None, *, own_schema: str, embedding_dimensions: int) -> None:
    """Bring extensions, roles and the installation's schema at a node up to date; its tables stay empty there.

    Raises as `migrate`.
    """
    if node is not None:
        migrate(at_node(url, node), embedding_dimensions=embedding_dimensions, schema=own_schema)


def remove_tenant(connection: SyncConnection, url: str, name: str) -> TenantRow:
    """Drop a tenant's schemas with all its data, and forget it. Raises NotFound, and DatabaseUnavailable."""
    with connection.transaction():
        tenant = read_tenant(connection, name)
        connection.execute("delete from tenants where name = %s", [name])
        with _at(connection, url, tenant) as there:
            drop_schemas(there, tenant)
    return tenant


def drop_schemas(connection: SyncConnection, tenant: TenantRow) -> None:
    """Drop the tenant's schemas at this server, if they are there."""
    with connection.transaction():
        for schema in (tenant.schema_name, tenant.data_schema):
            connection.execute(SQL("drop schema if exists {} cascade").format(Identifier(schema)))


def migrate_tenants(
    url: str,
    *,
    own_schema: str,
    embedding_dimensions: int,
    names: Sequence[str] | None = None,
    report: Callable[[TenantMigrated], None] = lambda _: None,
) -> list[TenantMigrated]:
    """Bring the tenants that are behind up to date, several at a time; or those of `names`, even if they are not behind.

    A tenant that fails is recorded and returned with its problem, and the others go on. Raises NotFound for an unknown name.
    """
    release, results = release_of(), list[TenantMigrated]()
    with connect(url, own_schema) as connection:
        if not value(connection, "select to_regclass('tenants') is not null"):
            return []
        tenants = (
            [tenant for tenant in read_tenants(connection) if tenant.release != release]
            if names is None
            else [read_tenant(connection, name) for name in names]
        )
        for result in _all_migrated(url, tenants, own_schema, embedding_dimensions):
            _record(connection, result, release)
            report(result)
            results.append(result)
    return results


def _all_migrated(
    url: str, tenants: Sequence[TenantRow], own_schema: str, embedding_dimensions: int
) -> Iterable[TenantMigrated]:
    def prepared(node: str | None) -> str | None:
        try:
            prepare_node(url, node, own_schema=own_schema, embedding_dimensions=embedding_dimensions)
        except (QuarryError, psycopg.Error) as error:
            return _problem(error)
        return None

    with ThreadPoolExecutor(max_workers=min(AT_ONCE, os.cpu_count() or 1)) as pool:
        nodes = [*dict.fromkeys(tenant.node for tenant in tenants)]
        faults = dict(zip(nodes, pool.map(prepared, nodes), strict=True))
        for tenant in tenants:
            if fault := faults[tenant.node]:
                yield TenantMigrated(tenant, None, f"{tenant.node}: {fault}")
        ready = [tenant for tenant in tenants if not faults[tenant.node]]
        running = [pool.submit(_attempted, url, tenant, embedding_dimensions) for tenant in ready]
        for ended in as_completed(running):
            yield ended.result()


def _attempted(url: str, tenant: TenantRow, embedding_dimensions: int) -> TenantMigrated:
    try:
        return _migrated(url, tenant, embedding_dimensions)
    except (QuarryError, psycopg.Error) as error:
        return TenantMigrated(tenant, None, _problem(error))


def _problem(error: QuarryError | psycopg.Error) -> str:
    return error.message if isinstance(error, QuarryError) else error.diag.message_primary or type(error).__name__


def _migrated(url: str, tenant: TenantRow, embedding_dimensions: int) -> TenantMigrated:
    done = migrate(
        at_node(url, tenant.node), embedding_dimensions=embedding_dimensions, schema=tenant.schema_name, is_tenant=True
    )
    return TenantMigrated(tenant, done)


def _record(connection: SyncConnection, result: TenantMigrated, release: str) -> None:
    connection.execute(
        "update tenants set release = coalesce(%s, release), problem = %s where name = %s",
        [release if result.done else None, result.problem, result.tenant.name],
    )


def foreign_tables(connection: SyncConnection, schema: str, tables: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of the tables that belong to another tenant than the one of `schema`, or to another installation."""
    schemas = connection.execute(
        "select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relname = 'quarry_migrations'"
    ).fetchall()
    of_others = {each for (name,) in schemas if name != schema for each in (name, name + DATA)}
    return {table for table in tables if table[0] in of_others}
