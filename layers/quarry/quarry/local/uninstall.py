"""`quarry uninstall`: drops Quarry's schema and roles, and nothing else."""

from __future__ import annotations

import sys

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from quarry.collections.apply import drop_collection, stored_collections
from quarry.local.database import database_url
from quarry.platform.errors import ConfigurationError, DatabaseUnavailable
from quarry.platform.settings import Settings
from quarry.postgres.migrate import LOCK_SECONDS, connect, migration_files, sql_directory
from quarry.postgres.schema import SyncConnection, created_names, is_installed, value
from quarry.postgres.tenants import read_tenants

ROLES = ("quarry_serving", "quarry_loading", "quarry_ontology_reader")
"""Shared by all databases of a server: see the migrations 0006 and 0021."""

NAMED_MAX = 20

_STRANGERS = """
select pg_describe_object('pg_class'::regclass, oid, 0) from pg_class
where relnamespace = {ours} and relkind in ('r', 'v', 'm', 'f', 'p') and relname <> all(%(table)s::text[] || %(function)s::text[])
union all
select pg_describe_object('pg_proc'::regclass, oid, 0) from pg_proc
where pronamespace = {ours} and proname <> all(%(function)s)
"""

# what disappears from this list with the schema belonged to others
_OF_OTHERS = """
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
        if not (confirmed or _confirms(schema)):
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


def _confirms(schema: str) -> bool:
    if not sys.stdin.isatty():
        print("there is no terminal for a confirmation: use --yes", file=sys.stderr)
        return False
    try:
        return input(f"Type {schema} to drop it: ").strip() == schema
    except EOFError:
        return False


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
                more = f" and {len(lost) - NAMED_MAX} more" if len(lost) > NAMED_MAX else ""
                raise ConfigurationError(
                    f"Nothing was dropped: the schema would take with it {', '.join(lost[:NAMED_MAX])}{more}. "
                    "Drop or move these first."
                )
    except psycopg.errors.LockNotAvailable as error:
        raise DatabaseUnavailable(
            f"A table was in use for {LOCK_SECONDS:g} s, so nothing was dropped: stop what uses it, and try again."
        ) from error


def _drop_whole(connection: SyncConnection, schema: str) -> list[str]:
    """Drop the schema with everything that depends on it; return what belonged to others."""
    files = migration_files(sql_directory())
    made = created_names(connection, schema, [(file.name, file.text) for file in files])
    ours = Literal(value(connection, "select oid from pg_namespace where nspname = %s", [schema]))
    of_others = SQL(_OF_OTHERS).format(ours=ours)
    strangers = connection.execute(SQL(_STRANGERS).format(ours=ours), made).fetchall()
    before = connection.execute(of_others).fetchall()
    connection.execute(SQL("drop schema {} cascade").format(Identifier(schema)))
    after = connection.execute(of_others).fetchall()
    return sorted(name for (name,) in {*strangers, *before} - {*after})


def _drop_role(connection: SyncConnection, role: str) -> str:
    """Drop a role unless it is used; return a line about it."""
    try:
        connection.execute(SQL("drop role if exists {}").format(Identifier(role)))
    except psycopg.errors.DependentObjectsStillExist:
        return f"kept the role {role}, which another database or schema uses"
    except psycopg.errors.InsufficientPrivilege:
        return f"kept the role {role}: an administrator may drop it"
    return f"dropped the role {role}"
