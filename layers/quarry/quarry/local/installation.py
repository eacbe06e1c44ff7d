"""The installation: `quarry migrate`, `quarry tenant` and `quarry uninstall`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, TypedDict

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from quarry.collections.apply import drop_collection, stored_collections
from quarry.local.database import LocalDatabase, database_url, for_program, quotas_of
from quarry.local.output import Format, note, quantity, tell
from quarry.local.terminal import printable, write_rows
from quarry.platform.errors import ConfigurationError, DatabaseUnavailable
from quarry.platform.settings import Settings
from quarry.postgres.connections import at_node
from quarry.postgres.migrate import LOCK_SECONDS, connect, migrate, migration_files, sql_directory
from quarry.postgres.schema import SyncConnection, created_names, is_installed, value
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


def migrate_database(tenant: str | None) -> bool:
    """Bring the database up to date with all its tenants, or one, and report what changed; whether all succeeded."""
    settings = Settings.from_environment()
    with database_url(settings) as url:
        done = migrate(url, embedding_dimensions=settings.embedding_dimensions, schema=settings.database_schema)
        for name in done.migrations:
            tell(f"applied {name}", migrations=[name])
        if done.functions:
            tell(f"re-created {quantity(len(done.functions), 'function')}", functions=[*done.functions])
        if not (done.migrations or done.functions):
            tell("up to date")
        return migrate_tenants_of(url, settings, tenant)


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
    tenant = add_tenant(database.url, name, schema, **_own(database.settings), node=node).tenant
    with database.connect() as connection:
        set_quotas(connection, name, _quotas(requests_per_minute, rows_max, credits_max))
    place = f" at {tenant.node}" if tenant.node else ""
    fact = {"name": name, "schema": tenant.schema_name, "node": tenant.node}
    tell(f"added {printable(name)} in the schema {tenant.schema_name}{place}", tenants=[fact])
    if database.settings.tenant_claim is None:
        note("TENANT_CLAIM is unset: until it names a claim, requests are served from the installation's own schema")


class _Own(TypedDict):
    own_schema: str
    embedding_dimensions: int


def _own(settings: Settings) -> _Own:
    """What the schemas of tenants are made after."""
    return {"own_schema": settings.database_schema, "embedding_dimensions": settings.embedding_dimensions}


def _quotas(*values: int | None) -> dict[str, int | None]:
    return dict(zip(("requests_per_minute", "rows_max", "credits_max"), values, strict=True))


def show_quotas(
    database: LocalDatabase,
    name: str,
    requests_per_minute: int | None,
    rows_max: int | None,
    credits_max: int | None,
    format: Format,
) -> None:
    """Set the quotas that are given, and print all with what is used of them. Raises NotFound, DatabaseUnavailable."""
    with database.connect() as connection:
        tenant = set_quotas(connection, name, _quotas(requests_per_minute, rows_max, credits_max))
    with connect(at_node(database.url, tenant.node), tenant.schema_name) as connection:
        [used] = connection.execute(_USED).fetchall()
    allowed = quotas_of(tenant, database.settings)
    labels = ("requests in this minute", "rows", "credits spent")
    rows = [(label, each or 0, limit or None) for label, each, limit in zip(labels, used, allowed, strict=True)]
    cells = [(label, f"{each:,}", "none" if limit is None else f"{limit:,}") for label, each, limit in rows]
    write_rows(format, ("quota", "used", "limit"), rows, ("quota", "used ", "limit "), cells)


def list_all(database: LocalDatabase, format: Format) -> None:
    """Print the tenants. What a node that does not answer holds has no size."""
    release = release_of()
    with database.connect() as connection:
        tenants = read_tenants(connection)
    sizes = _sizes(database, tenants)
    if not tenants and format == "table":
        print("There is no tenant yet: quarry tenant add NAME")
        return
    rows: list[tuple[Any, ...]] = [
        (
            each.name,
            each.schema_name,
            each.node,
            each.problem or ("up to date" if each.release == release else "behind: quarry migrate"),
            _size(sizes[each.node], each),
            *(most or None for most in quotas_of(each, database.settings)),
        )
        for each in tenants
    ]
    cells = (
        (
            printable(name),
            schema,
            node or "",
            printable(state),
            "no answer" if size is None else f"{size / 1e6:,.1f}",
            *("" if most is None else f"{most:,}" for most in quotas),
        )
        for name, schema, node, state, size, *quotas in rows
    )
    headings = ("tenant", "schema", "node", "state", "MB ", "requests/min ", "rows ", "credits ")
    write_rows(format, ("name", "schema", "node", "state", "bytes", *Quotas._fields), rows, headings, cells)


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
    dump = partial(definitions, database.program("pg_dump", ", of the servers' version or newer"))
    done = move_tenant(database.url, name, node, **_own(database.settings), dump=dump, report=note)
    fact = {"name": name, "node": done.tenant.node, "stalled_seconds": round(done.stalled_seconds, 3)}
    tell(f"moved {printable(name)} to {node}; writes were refused for {done.stalled_seconds:.1f} s", moved=[fact])


def remove(database: LocalDatabase, name: str, *, confirmed: bool) -> bool:
    """Drop a tenant with all its data, after a confirmation; False if that was refused. Raises NotFound."""
    with database.connect() as connection:
        tenant = read_tenant(connection, name)
        if not (confirmed or confirms(name, "remove it with all its data")):
            print("nothing was removed")
            return False
        remove_tenant(connection, database.url, name)
    tell(f"removed {printable(name)} with its schema {tenant.schema_name}", removed=[name])
    return True


def migrate_tenants_of(url: str, settings: Settings, only: str | None = None) -> bool:
    """Migrate the tenants that are behind, or `only` one, and report each; whether all succeeded. Raises NotFound."""
    names = None if only is None else [only]
    results = migrate_tenants(url, **_own(settings), names=names, report=_report)
    if failed := [each for each in results if each.problem]:
        listed = ", ".join(printable(each.tenant.name) for each in failed)
        note(f"{len(failed)} of {len(results)} tenants were not migrated: {listed}; the others are up to date")
    return not failed


def _report(result: TenantMigrated) -> None:
    name = result.tenant.name
    if result.done is None:
        tell(f"tenant {printable(name)} failed: {result.problem}", tenants=[{"name": name, "problem": result.problem}])
    elif result.done.migrations or result.done.functions:
        migrations, functions = [*result.done.migrations], [*result.done.functions]
        line = f"applied {len(migrations)} migrations, re-created {len(functions)} functions"
        fact = {"name": name, "migrations": migrations, "functions": functions}
        tell(f"tenant {printable(name)}: {line}", tenants=[fact])


def definitions(pg_dump: str, url: str, schemas: Sequence[str]) -> str:
    """The statements that make these schemas, by the program `pg_dump`. Raises ConfigurationError."""
    conninfo, environment = for_program(url)
    options = ("--schema-only", "--no-owner", "--no-publications", "--no-subscriptions")
    try:
        command = [pg_dump, *options, *(f"--schema={schema}" for schema in schemas), conninfo]
        dumped = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    except subprocess.CalledProcessError as error:
        raise ConfigurationError(f"pg_dump failed: {error.stderr.strip()}") from None
    # psql's own commands
    return "\n".join(line for line in dumped.stdout.splitlines() if not line.startswith("\\"))


def confirms(name: str, action: str) -> bool:
    """Whether the user types the name on the terminal, to confirm an action on it."""
    if not sys.stdin.isatty():
        print("there is no terminal for a confirmation: use --yes", file=sys.stderr)
        return False
    try:
        return input(f"Type {name} to {action}: ").strip() == name
    except EOFError:
        return False


ROLES = ("quarry_serving", "quarry_loading", "quarry_ontology_reader")
"""Shared by all databases of a server: see the migrations 0006 and 0021."""

LISTED_MAX = 20

_UNKNOWN_OBJECTS = """
select pg_describe_object('pg_class'::regclass, oid, 0) from pg_class
where relnamespace = {ours} and relkind in ('r', 'v', 'm', 'f', 'p') and relname <> all(%(table)s::text[] || %(function)s::text[])
union all
select pg_describe_object('pg_proc'::regclass, oid, 0) from pg_proc
where pronamespace = {ours} and proname <> all(%(function)s)
"""

# what disappears from this list with the schema belonged to others
_FOREIGN_OBJECTS = """
select pg_describe_object('pg_class'::regclass, oid, 0) from pg_class
where relnamespace <> {ours} and relkind in ('r', 'v', 'm', 'f', 'p', 'S')
union all
select pg_describe_object('pg_class'::regclass, a.attrelid, a.attnum) from pg_attribute a join pg_class c on c.oid = a.attrelid
where c.relnamespace <> {ours} and c.relkind in ('r', 'v', 'm', 'f', 'p') and a.attnum > 0 and not a.attisdropped
union all
select pg_describe_object('pg_attrdef'::regclass, d.oid, 0) from pg_attrdef d join pg_class c on c.oid = d.adrelid
where c.relnamespace <> {ours}
union all
select pg_describe_object('pg_class'::regclass, i.indexrelid, 0) from pg_index i join pg_class c on c.oid = i.indrelid
where c.relnamespace not in ({ours}, 'pg_toast'::regnamespace)
union all
select pg_describe_object('pg_proc'::regclass, oid, 0) from pg_proc where pronamespace <> {ours}
union all
select pg_describe_object('pg_type'::regclass, oid, 0) from pg_type where typnamespace <> {ours} and typtype in ('d', 'e', 'r')
union all
select pg_describe_object('pg_constraint'::regclass, oid, 0) from pg_constraint where connamespace <> {ours}
union all
select pg_describe_object('pg_trigger'::regclass, t.oid, 0) from pg_trigger t join pg_class c on c.oid = t.tgrelid
where c.relnamespace <> {ours} and not t.tgisinternal
union all
select pg_describe_object('pg_policy'::regclass, p.oid, 0) from pg_policy p join pg_class c on c.oid = p.polrelid
where c.relnamespace <> {ours}
union all
select pg_describe_object('pg_extension'::regclass, oid, 0) from pg_extension
"""


def uninstall(*, confirmed: bool) -> bool:
    """Drop the schema after a confirmation, by `confirmed` or on the terminal; False if it was refused.

    Raises ConfigurationError if objects of others depend on it, and DatabaseUnavailable.
    """
    settings = Settings.from_environment()
    schema = settings.database_schema
    with database_url(settings) as url, connect(url, schema) as connection:
        if not is_installed(connection, schema):
            print(f"there is no schema {schema} in this database")
            return True
        if tenants := read_tenants(connection) if value(connection, "select to_regclass('tenants')") else []:
            raise ConfigurationError(
                f"The installation has {len(tenants)} tenants, such as {tenants[0].name}: `quarry tenant remove` drops each "
                "with its data; then uninstall."
            )
        print(_inventory(connection, schema))
        if not (confirmed or confirms(schema, "drop it")):
            print("nothing was dropped")
            return False
        _drop_schema(connection, schema)
        print(f"dropped the schema {schema}")
        for role in ROLES:
            print(_drop_role(connection, role))
    return True


def _inventory(connection: SyncConnection, schema: str) -> str:
    tables = connection.execute(
        """select relname, greatest(0, reltuples)::bigint, pg_total_relation_size(oid) from pg_class
           where relnamespace = current_schema()::regnamespace and relkind = 'r' order by relname"""
    ).fetchall()
    size = sum(size for *_, size in tables) / 1e6
    filled = ", ".join(f"{name} {rows:,}" for name, rows, _ in tables if rows)
    return (
        f"The schema {schema} holds {len(tables)} tables, {size:,.0f} MB{', rows by estimate: ' if filled else ''}{filled}.\n"
        f"This drops all of it, and the roles {', '.join(ROLES)} unless another database needs them. Extensions and other "
        "schemas stay."
    )


def _drop_schema(connection: SyncConnection, schema: str) -> None:
    try:
        with connection.transaction():
            # so that what others drop meanwhile is not reported
            connection.execute("set transaction isolation level repeatable read")
            connection.execute(SQL("set local lock_timeout = {}").format(int(LOCK_SECONDS * 1000)))
            if value(connection, "select to_regclass('collections')"):  # an earlier installation has none
                for collection in stored_collections(connection).values():
                    drop_collection(connection, collection)
            # with an empty path every name is qualified, before and after
            connection.execute("set local search_path = ''")
            if lost := _drop_whole(connection, schema):
                more = f" and {len(lost) - LISTED_MAX} more" if len(lost) > LISTED_MAX else ""
                raise ConfigurationError(
                    f"Nothing was dropped: the schema would take with it {', '.join(lost[:LISTED_MAX])}{more}. "
                    "Drop or move these first."
                )
    except psycopg.errors.LockNotAvailable as error:
        raise DatabaseUnavailable(
            f"A table was in use for {LOCK_SECONDS:g} s, so nothing was dropped: stop what uses it, and try again."
        ) from error


def _drop_whole(connection: SyncConnection, schema: str) -> list[str]:
    """Drop the schema with everything that depends on it; return what belonged to others."""
    files = migration_files(sql_directory())
    own_names = created_names(connection, schema, [(file.name, file.text) for file in files])
    ours = Literal(value(connection, "select oid from pg_namespace where nspname = %s", [schema]))
    foreign = SQL(_FOREIGN_OBJECTS).format(ours=ours)
    unknown = connection.execute(SQL(_UNKNOWN_OBJECTS).format(ours=ours), own_names).fetchall()
    before = connection.execute(foreign).fetchall()
    connection.execute(SQL("drop schema {} cascade").format(Identifier(schema)))
    after = connection.execute(foreign).fetchall()
    return sorted(name for (name,) in {*unknown, *before} - {*after})


def _drop_role(connection: SyncConnection, role: str) -> str:
    """Drop a role unless it is used; return a line about it."""
    try:
        connection.execute(SQL("drop role if exists {}").format(Identifier(role)))
    except psycopg.errors.DependentObjectsStillExist:
        return f"kept the role {role}, which another database or schema uses"
    except psycopg.errors.InsufficientPrivilege:
        return f"kept the role {role}: an administrator may drop it"
    return f"dropped the role {role}"
