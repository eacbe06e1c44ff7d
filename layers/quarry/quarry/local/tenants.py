"""`quarry tenant`: adds, lists, moves and removes the tenants of an installation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from quarry.local.database import LocalDatabase, quotas_of
from quarry.local.telling import Format, note, tell, write_csv, write_json
from quarry.local.terminal import make_console, printable, write_table
from quarry.platform.errors import ConfigurationError, DatabaseUnavailable
from quarry.postgres.connections import at_node
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection
from quarry.postgres.tenant_move import move_tenant
from quarry.postgres.tenants import (
    TenantMigrated,
    TenantRow,
    add_tenant,
    migrate_tenants,
    read_tenant,
    read_tenants,
    release_of,
    remove_tenant,
    set_quotas,
)
from quarry.services.tenants import Quotas

_SIZES = """
select n.nspname, sum(pg_total_relation_size(c.oid))::bigint from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind = 'r' and n.nspname = any(%s) group by n.nspname
"""


_USED = """
select
  (select requests from rate_windows where caller = '' and route_class = 'tenant' and window_start = date_trunc('minute', now())),
  rows_held(), (select credits from credits_spent)
"""


def add(
    database: LocalDatabase,
    name: str,
    schema: str | None,
    node: str | None,
    requests_per_minute: int | None,
    rows_max: int | None,
    credits_max: int | None,
) -> None:
    """Add a tenant: its schema, with all tables and functions, at a node if one is named. Raises ConfigurationError if the name
    or the schema is taken, or the node is none.
    """
    settings = database.settings
    done = add_tenant(
        database.url,
        name,
        schema,
        own_schema=settings.database_schema,
        embedding_dimensions=settings.embedding_dimensions,
        node=node,
    )
    with _connected(database) as connection:
        set_quotas(connection, name, _quotas(requests_per_minute, rows_max, credits_max))
    place = f" at {done.tenant.node}" if done.tenant.node else ""
    tell(
        f"added {printable(name)} in the schema {done.tenant.schema_name}{place}",
        tenants=[{"name": name, "schema": done.tenant.schema_name, "node": done.tenant.node}],
    )
    if settings.tenant_claim is None:
        note("TENANT_CLAIM is unset: until it names a claim, requests are served from the installation's own schema")


def _quotas(*given: int | None) -> dict[str, int | None]:
    return dict(zip(("requests_per_minute", "rows_max", "credits_max"), given, strict=True))


def show_quotas(
    database: LocalDatabase,
    name: str,
    requests_per_minute: int | None,
    rows_max: int | None,
    credits_max: int | None,
    format: Format,
) -> None:
    """Set the quotas that are given, and print all with what is used of them. Raises NotFound, DatabaseUnavailable."""
    with _connected(database) as connection:
        tenant = set_quotas(connection, name, _quotas(requests_per_minute, rows_max, credits_max))
    with connect(at_node(database.url, tenant.node), tenant.schema_name) as connection:
        [used] = connection.execute(_USED).fetchall()
    allowed = quotas_of(tenant, database.settings)
    labels = ("requests in this minute", "rows", "credits spent")
    rows = [(label, each or 0, limit or None) for label, each, limit in zip(labels, used, allowed, strict=True)]
    columns = ("quota", "used", "limit")
    if format == "json":
        write_json([dict(zip(columns, row, strict=True)) for row in rows])
    elif format == "csv":
        write_csv(columns, rows)
    else:
        shown = [(label, f"{each:,}", "none" if limit is None else f"{limit:,}") for label, each, limit in rows]
        write_table(make_console(), ("quota", "used ", "limit "), shown)


def list_all(database: LocalDatabase, format: Format) -> None:
    """Print the tenants. What a node that does not answer holds has no size."""
    release = release_of()
    with _connected(database) as connection:
        tenants = read_tenants(connection)
    sizes = _sizes(database, tenants)
    rows: list[dict[str, Any]] = [
        {
            "name": each.name,
            "schema": each.schema_name,
            "node": each.node,
            "state": each.problem or ("up to date" if each.release == release else "behind: quarry migrate"),
            "bytes": _size(sizes[each.node], each),
            **{quota: most or None for quota, most in quotas_of(each, database.settings)._asdict().items()},
        }
        for each in tenants
    ]
    columns = ("name", "schema", "node", "state", "bytes", *Quotas._fields)
    if format == "json":
        write_json(rows)
    elif format == "csv":
        write_csv(columns, ([*row.values()] for row in rows))
    elif not rows:
        print("There is no tenant yet: quarry tenant add NAME")
    else:
        shown = [
            (
                printable(row["name"]),
                row["schema"],
                row["node"] or "",
                printable(row["state"]),
                "no answer" if row["bytes"] is None else f"{row['bytes'] / 1e6:,.1f}",
                *("" if row[quota] is None else f"{row[quota]:,}" for quota in Quotas._fields),
            )
            for row in rows
        ]
        write_table(
            make_console(), ("tenant", "schema", "node", "state", "MB ", "requests/min ", "rows ", "credits "), shown
        )


def _sizes(database: LocalDatabase, tenants: Sequence[TenantRow]) -> dict[str | None, dict[str, int] | None]:
    """The bytes of each schema by node; None for a node that does not answer."""
    sizes: dict[str | None, dict[str, int] | None] = {}
    for node in {each.node for each in tenants}:
        schemas = [schema for each in tenants if each.node == node for schema in (each.schema_name, each.data_schema)]
        try:
            with connect(at_node(database.url, node), database.settings.database_schema) as connection:
                sizes[node] = dict(connection.execute(_SIZES, [schemas]).fetchall())
        except DatabaseUnavailable:
            sizes[node] = None
    return sizes


def _size(sizes: dict[str, int] | None, tenant: TenantRow) -> int | None:
    return None if sizes is None else sizes.get(tenant.schema_name, 0) + sizes.get(tenant.data_schema, 0)


def move(database: LocalDatabase, name: str, node: str) -> None:
    """Move a tenant to a node while it serves. Raises as `move_tenant`."""
    settings = database.settings
    program = database.server.program("pg_dump") if database.server else shutil.which("pg_dump")
    if program is None:
        raise ConfigurationError(
            "pg_dump is not installed: install the Postgres client, of the servers' version or newer"
        )
    done = move_tenant(
        database.url,
        name,
        node,
        own_schema=settings.database_schema,
        embedding_dimensions=settings.embedding_dimensions,
        dump=partial(definitions, program),
        report=note,
    )
    tell(
        f"moved {printable(name)} to {node}; writes were refused for {done.stalled_seconds:.1f} s",
        moved=[{"name": name, "node": done.tenant.node, "stalled_seconds": round(done.stalled_seconds, 3)}],
    )


def remove(database: LocalDatabase, name: str, *, confirmed: bool) -> bool:
    """Drop a tenant with all its data, after a confirmation; False if that was refused. Raises NotFound."""
    with _connected(database) as connection:
        tenant = read_tenant(connection, name)
        if not (confirmed or _confirms(name)):
            print("nothing was removed")
            return False
        remove_tenant(connection, database.url, name)
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


def definitions(pg_dump: str, url: str, schemas: Sequence[str]) -> str:
    """The statements that make these schemas, by the program `pg_dump`. Raises ConfigurationError."""
    parameters: dict[str, Any] = conninfo_to_dict(url)
    password = parameters.pop("password", None)
    options = ("--schema-only", "--no-owner", "--no-publications", "--no-subscriptions")
    try:
        dumped = subprocess.run(
            [pg_dump, *options, *(f"--schema={schema}" for schema in schemas), make_conninfo(**parameters)],
            env=os.environ | ({"PGPASSWORD": str(password)} if password else {}),
            capture_output=True,
            text=True,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        raise ConfigurationError(f"pg_dump failed: {error.stderr.strip()}") from None
    # psql's own commands
    return "\n".join(line for line in dumped.stdout.splitlines() if not line.startswith("\\"))


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
