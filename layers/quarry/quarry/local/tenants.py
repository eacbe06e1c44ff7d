"""`quarry tenant`: adds, lists and removes the tenants of an installation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from quarry.local.database import LocalDatabase
from quarry.local.telling import Format, note, tell, write_csv, write_json
from quarry.local.terminal import make_console, printable, write_table
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection
from quarry.postgres.tenants import (
    TenantMigrated,
    add_tenant,
    migrate_tenants,
    read_tenant,
    read_tenants,
    release_of,
    remove_tenant,
)

_SIZES = """
select n.nspname, sum(pg_total_relation_size(c.oid))::bigint from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname = any(%s) group by n.nspname
"""


def add(database: LocalDatabase, name: str, schema: str | None) -> None:
    """Add a tenant: its schema, with all tables and functions. Raises ConfigurationError if the name or the schema is taken."""
    settings = database.settings
    done = add_tenant(
        database.url,
        name,
        schema,
        own_schema=settings.database_schema,
        embedding_dimensions=settings.embedding_dimensions,
    )
    tell(
        f"added {printable(name)} in the schema {done.tenant.schema_name}",
        tenants=[{"name": name, "schema": done.tenant.schema_name}],
    )
    if settings.tenant_claim is None:
        note("TENANT_CLAIM is unset: until it names a claim, requests are served from the installation's own schema")


def list_all(database: LocalDatabase, format: Format) -> None:
    """Print the tenants: schema, whether it is up to date, size."""
    release = release_of()
    with _connected(database) as connection:
        tenants = read_tenants(connection)
        schemas = [schema for each in tenants for schema in (each.schema_name, each.data_schema)]
        sizes = dict(connection.execute(_SIZES, [schemas]).fetchall())
    rows = [
        {
            "name": each.name,
            "schema": each.schema_name,
            "state": each.problem or ("up to date" if each.release == release else "behind: quarry migrate"),
            "bytes": sizes.get(each.schema_name, 0) + sizes.get(each.data_schema, 0),
        }
        for each in tenants
    ]
    if format == "json":
        write_json(rows)
    elif format == "csv":
        write_csv(("name", "schema", "state", "bytes"), ([*row.values()] for row in rows))
    elif not rows:
        print("There is no tenant yet: quarry tenant add NAME")
    else:
        shown = [
            (printable(row["name"]), row["schema"], printable(row["state"]), f"{row['bytes'] / 1e6:,.1f}")
            for row in rows
        ]
        write_table(make_console(), ("tenant", "schema", "state", "MB "), shown)


def remove(database: LocalDatabase, name: str, *, confirmed: bool) -> bool:
    """Drop a tenant with all its data, after a confirmation; False if that was refused. Raises NotFound."""
    with _connected(database) as connection:
        tenant = read_tenant(connection, name)
        if not (confirmed or _confirms(name)):
            print("nothing was removed")
            return False
        remove_tenant(connection, name)
    tell(f"removed {printable(name)} with its schema {tenant.schema_name}", removed=[name])
    return True


def migrate_all(url: str, own_schema: str, embedding_dimensions: int, only: str | None) -> bool:
    """Migrate the tenants that are behind, or `only` one, and report each; whether all succeeded. Raises NotFound."""
    results = migrate_tenants(
        url,
        own_schema=own_schema,
        embedding_dimensions=embedding_dimensions,
        names=None if only is None else [only],
        report=_report,
    )
    if failed := [each for each in results if each.problem]:
        names = ", ".join(printable(each.tenant.name) for each in failed)
        note(f"{len(failed)} of {len(results)} tenants were not migrated: {names}; the others are up to date")
    return not failed


def _report(result: TenantMigrated) -> None:
    name = result.tenant.name
    if result.done is None:
        tell(f"tenant {printable(name)} failed: {result.problem}", tenants=[{"name": name, "problem": result.problem}])
    elif result.done.migrations or result.done.functions:
        tell(
            f"tenant {printable(name)}: applied {len(result.done.migrations)} migrations, re-created "
            f"{len(result.done.functions)} functions",
            tenants=[{"name": name, "migrations": [*result.done.migrations], "functions": [*result.done.functions]}],
        )


@contextmanager
def _connected(database: LocalDatabase) -> Iterator[SyncConnection]:
    with connect(database.url, database.settings.database_schema) as connection:
        yield connection


def _confirms(name: str) -> bool:
    if not sys.stdin.isatty():
        print("there is no terminal for a confirmation: use --yes", file=sys.stderr)
        return False
    try:
        return input(f"Type {name} to remove it with all its data: ").strip() == name
    except EOFError:
        return False
