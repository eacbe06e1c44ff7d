"""Migrations and SQL functions: they turn an empty database into Quarry's.

All of it is in one schema (`postgres/schema.py`).

`sql/migrations/NNNN_name.sql` run once, in order, each in a transaction, and are recorded with a hash; an edited one is refused.
`sql/functions/<domain>/<name>.sql` are re-created if their text changes, and dropped if the file is deleted; a changed
`<table>_values.sql` counts the values of that table again. `{{embedding_dimensions}}` in a migration is the number of dimensions
of this database's vectors.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier, Literal

from quarry.platform.errors import ConfigurationError, DatabaseUnavailable
from quarry.platform.secrets import database_secret
from quarry.platform.settings import DEFAULT_SCHEMA
from quarry.postgres.connections import checked, translated, untrusted
from quarry.postgres.schema import (
    EXTENSIONS_SCHEMA,
    SyncConnection,
    is_installed,
    make_extensions,
    make_schema,
    set_search_path,
    settle,
    statements_of,
    value,
)

# One number for all Quarry processes of a database: concurrent migrations take turns.
_ADVISORY_LOCK = 7_305_112
LOCK_SECONDS = 12.0
"""Longer than a statement of the service may take, unless DATABASE_TIMEOUT_SECONDS was raised."""
CONNECT_TIMEOUT_SECONDS = 30
"""A paused Aurora takes half of it."""

_MIGRATION_NAME = re.compile(r"\d{4}_[a-z0-9_]+\.sql")

_BOOKKEEPING = """
create table if not exists quarry_migrations (
  name text primary key,
  sha256 text not null,
  applied_at timestamptz not null default now()
);
create table if not exists quarry_functions (
  name text primary key,
  sha256 text not null,
  applied_at timestamptz not null default now()
);
"""

# functions whose body (`return`, `begin atomic`) was bound to tables and columns at their creation
_COMPILED_FUNCTIONS = """
select f.name, p.oid::regprocedure::text from pg_proc p
join quarry_functions f on substring(f.name from '([^/]+)[.]sql$') = p.proname
where p.pronamespace = current_schema()::regnamespace and p.prosqlbody is not null
"""

_VALUES = "_values"

# Before the session has loaded an extension's library, only a superuser may use its parameters in a function.
_LOAD_LIBRARIES = {"pg_trgm": "select show_limit()", "vector": "select '[1]'::vector"}


class DatabaseIsNewer(ConfigurationError):
    """A newer release migrated the database. This code can search it, but not migrate it."""


@dataclass(frozen=True)
class SqlFile:
    """A file of `sql/`, its name relative to its folder."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Migrated:
    """What a run changed: the names of the migrations it applied and of the functions it re-created."""

    migrations: tuple[str, ...]
    functions: tuple[str, ...]


def sql_directory() -> Path:
    """The folder `sql`: inside a built package, as in a wheel or a layer, or next to it in a checkout.

    Raises ConfigurationError when there is none.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "sql", package.parents[2] / "sql"):
        if (candidate / "migrations").is_dir():
            return candidate
    raise ConfigurationError("The folder sql/ is missing from the package: reinstall Quarry.")


def migration_files(directory: Path) -> list[SqlFile]:
    """The migrations in order. Raises ConfigurationError for a name that is not NNNN_name.sql."""
    paths = sorted((directory / "migrations").glob("*.sql"))
    for path in paths:
        if not _MIGRATION_NAME.fullmatch(path.name):
            raise ConfigurationError(f"{path.name}: a migration is named NNNN_what_it_does.sql")
    return [SqlFile(path.name, path.read_text(encoding="utf-8")) for path in paths]


def function_files(directory: Path) -> list[SqlFile]:
    """The functions, by path."""
    root = directory / "functions"
    paths = sorted(root.glob("*/*.sql"))
    return [SqlFile(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")) for path in paths]


def migrate(
    url: str,
    *,
    embedding_dimensions: int,
    schema: str = DEFAULT_SCHEMA,
    directory: Path | None = None,
    is_tenant: bool = False,
) -> Migrated:
    """Bring the database at `url` up to date. Safe to run twice, and in two processes at once. The schemas of tenants may be
    migrated at the same time, after the installation's own, which creates the extensions.

    Raises ConfigurationError if an applied migration was edited, an extension is missing, SQL of a file fails, the schema belongs
    to others, or the database is newer than this code; DatabaseUnavailable if it does not answer, or a table stays locked.
    """
    directory = directory or sql_directory()
    files = migration_files(directory)
    with connect(url, schema) as connection:
        # until the connection is closed
        if is_tenant:
            connection.execute("select pg_advisory_lock(%s, hashtext(%s))", [_ADVISORY_LOCK, schema])
        else:
            connection.execute("select pg_advisory_lock(%s)", [_ADVISORY_LOCK])
        set_search_path(connection, schema)  # another process may have created the extensions meanwhile
        if not is_installed(connection, schema):
            if is_tenant and _install_whole(connection, schema, directory, embedding_dimensions):
                _count_words(connection)
                all_files = files, function_files(directory)
                return Migrated(*(tuple(file.name for file in each) for each in all_files))
            with _change(connection):
                make_schema(connection, schema)
                _execute(connection, _BOOKKEEPING)
        migrations = _apply_migrations(connection, schema, files, embedding_dimensions)
        functions = _recreate_functions(connection, function_files(directory), force=bool(migrations))
        _refresh_values(connection, functions)
        _count_words(connection)
    return Migrated(tuple(migrations), tuple(functions))


def pending(url: str, *, schema: str = DEFAULT_SCHEMA, directory: Path | None = None) -> list[str]:
    """Names of the migrations and functions that `schema` lacks.

    Raises ConfigurationError if an applied migration was edited, or the database is newer than this code.
    """
    directory = directory or sql_directory()
    files = migration_files(directory)
    with connect(url, schema) as connection:
        exists = is_installed(connection, schema)
        applied = _recorded(connection, "quarry_migrations") if exists else {}
        created = _recorded(connection, "quarry_functions") if exists else {}
    _check_history(applied, files)
    return [file.name for file in files if file.name not in applied] + [
        file.name for file in function_files(directory) if created.get(file.name) != file.sha256
    ]


@contextmanager
def connect(url: str, schema: str = DEFAULT_SCHEMA) -> Iterator[SyncConnection]:
    """An autocommit connection for maintenance, with `schema` in its search path; closed at the end.

    Raises DatabaseUnavailable and ConfigurationError as `translated` does; the latter also if `url` is invalid, the database is
    not UTF-8, or it cannot prove its identity.
    """
    try:
        conninfo = checked(url)
    except psycopg.ProgrammingError:
        # without its cause, which may quote a password
        raise ConfigurationError("DATABASE_URL is not a Postgres URL: postgresql://user:password@host/name") from None
    try:
        connection = psycopg.connect(
            conninfo, autocommit=True, connect_timeout=CONNECT_TIMEOUT_SECONDS, application_name="quarry"
        )
    except psycopg.OperationalError as error:
        raise untrusted(error) or DatabaseUnavailable("The database does not answer; check DATABASE_URL.") from error
    with translated(), connection:
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise ConfigurationError(
                f"The database has the encoding {encoding}, but Quarry needs UTF8: restore a dump of it into a UTF8 database."
            )
        set_search_path(connection, schema)
        yield connection


def _install_whole(connection: SyncConnection, schema: str, directory: Path, embedding_dimensions: int) -> bool:
    """Make the schema with all that the files make, if that is possible at once."""
    with _change(connection):
        make_schema(connection, schema)
        load_libraries(connection)
        if not make_whole(connection, schema, directory, embedding_dimensions):
            return False
        for table, files in (
            ("quarry_migrations", migration_files(directory)),
            ("quarry_functions", function_files(directory)),
        ):
            connection.execute(
                SQL("insert into {} (name, sha256) select * from unnest(%s::text[], %s::text[])").format(
                    Identifier(table)
                ),
                [[file.name for file in files], [file.sha256 for file in files]],
            )
        settle(connection)
    return True


def _apply_migrations(
    connection: SyncConnection, schema: str, files: Sequence[SqlFile], embedding_dimensions: int
) -> list[str]:
    applied = _recorded(connection, "quarry_migrations")
    _check_history(applied, files)
    missing = [file for file in files if file.name not in applied]
    for file in missing:
        _apply(connection, schema, file, embedding_dimensions)
    return [file.name for file in missing]


def _check_history(applied: Mapping[str, str], files: Sequence[SqlFile]) -> None:
    """Raises DatabaseIsNewer for an applied migration that there is no file of, ConfigurationError for an edited one."""
    unknown = sorted(applied.keys() - {file.name for file in files})
    if unknown:
        raise DatabaseIsNewer(
            f"The database has the migration {unknown[-1]}, which this version does not know: update Quarry."
        )
    edited = next((file.name for file in files if applied.get(file.name, file.sha256) != file.sha256), None)
    if edited:
        raise ConfigurationError(
            f"The migration {edited} was edited after it was applied: restore it, and add a new one."
        )


def _apply(connection: SyncConnection, schema: str, file: SqlFile, embedding_dimensions: int) -> None:
    text = file.text.replace("{{embedding_dimensions}}", str(embedding_dimensions))
    with _change(connection):
        with _errors_of_file(file.name):
            make_extensions(connection, text, schema)
            _run(connection, text)
        connection.execute("insert into quarry_migrations (name, sha256) values (%s, %s)", [file.name, file.sha256])


def _run(connection: SyncConnection, text: str) -> None:
    """Run a migration. If it changes a column that function bodies are bound to, these functions are dropped first: all functions
    are created again after the migrations.
    """
    try:
        with connection.transaction():
            _execute(connection, text)
    except (psycopg.errors.DependentObjectsStillExist, psycopg.errors.FeatureNotSupported):
        functions = connection.execute(_COMPILED_FUNCTIONS).fetchall()
        if not functions:
            raise
        connection.execute(f"drop function {', '.join(signature for _, signature in functions)}".encode())
        # so that a later run creates them again, too
        connection.execute("delete from quarry_functions where name = any(%s)", [[name for name, _ in functions]])
        _execute(connection, text)


def _execute(connection: SyncConnection, text: str) -> None:
    """Run the statements of a file, one by one, without waiting for each."""
    with connection.pipeline():
        for statement in statements_of(text):
            connection.execute(statement.encode(), prepare=False)


def _recreate_functions(connection: SyncConnection, files: list[SqlFile], *, force: bool) -> list[str]:
    created = _recorded(connection, "quarry_functions")
    changed = [file for file in files if force or created.get(file.name) != file.sha256]
    with _change(connection):
        connection.execute("set local check_function_bodies = off")
        load_libraries(connection)
        waiting = changed
        while waiting:
            waiting = _recreate(connection, waiting)
        _drop_deleted(connection, created, files)
        settle(connection)
    return [file.name for file in changed]


def _recreate(connection: SyncConnection, files: Sequence[SqlFile]) -> list[SqlFile]:
    """Create functions in the order of their names; return those whose bound body (`return`, `begin atomic`) calls functions that
    do not exist yet.
    """
    waiting: list[SqlFile] = []
    for file in files:
        before = _versions(connection, file)
        with _errors_of_file(file.name):
            try:
                with connection.transaction():
                    _replace(connection, file, before)
            except psycopg.errors.UndefinedFunction:
                if len(waiting) == len(files) - 1:  # nor will they be
                    raise
                waiting.append(file)
                continue
        _drop_untouched(connection, file, before)
        connection.execute(
            "insert into quarry_functions (name, sha256) values (%s, %s)"
            " on conflict (name) do update set sha256 = excluded.sha256, applied_at = excluded.applied_at",
            [file.name, file.sha256],
        )
    return waiting


def _refresh_values(connection: SyncConnection, functions: Sequence[str]) -> None:
    for path in map(Path, functions):
        if path.stem.endswith(_VALUES) and path.parent.name != "core":
            connection.execute("select refresh_facet_values(%s)", [path.stem.removesuffix(_VALUES)])


def _count_words(connection: SyncConnection) -> None:
    """Count the words of tables whose words have never been counted."""
    if value(connection, "select to_regproc('count_lexemes')"):
        connection.execute(
            """select count_lexemes(c.oid) from pg_class c join pg_attribute a on a.attrelid = c.oid
               where a.attname = 'text_search' and c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
                 and not exists (select from text_totals t where t.of_table = c.oid::regclass::text)"""
        )


@contextmanager
def _change(connection: SyncConnection) -> Iterator[None]:
    """A transaction that gives up if it does not get a lock: while it waits, later statements wait behind it."""
    try:
        with connection.transaction():
            connection.execute(SQL("set local lock_timeout = {}").format(int(LOCK_SECONDS * 1000)))
            yield
    except psycopg.errors.LockNotAvailable as error:
        raise DatabaseUnavailable(
            f"A table that must change was in use for {LOCK_SECONDS:g} s, so this change was not made: run `quarry migrate` "
            "again after loading and embedding. Earlier changes stay."
        ) from error


def load_libraries(connection: SyncConnection) -> None:
    names = list(_LOAD_LIBRARIES)
    for (name,) in connection.execute("select extname from pg_extension where extname = any(%s)", [names]).fetchall():
        connection.execute(_LOAD_LIBRARIES[name])


def _versions(connection: SyncConnection, file: SqlFile) -> dict[str, str]:
    """The functions with the file's name, by signature, each with the transaction that wrote it last."""
    # not as `regprocedure`, for which Postgres reads the functions of this name in all schemas, of which each tenant has one
    return dict(
        connection.execute(
            """select format('%%I(%%s)', p.proname, pg_get_function_identity_arguments(p.oid)), p.xmin::text from pg_proc p
               where p.proname = %s and p.pronamespace = current_schema()::regnamespace""",
            [Path(file.name).stem],
        ).fetchall()
    )


def _replace(connection: SyncConnection, file: SqlFile, before: Iterable[str]) -> None:
    """Run a file of functions. If the return type changed, the functions in `before` are dropped first."""
    try:
        with connection.transaction():
            _execute(connection, file.text)
    except psycopg.errors.InvalidFunctionDefinition:
        for signature in before:
            connection.execute(f"drop function {signature}".encode())
        _execute(connection, file.text)


def _drop_untouched(connection: SyncConnection, file: SqlFile, before: dict[str, str]) -> None:
    """Drop functions that the file no longer creates: with other arguments they would be overloads, and calls ambiguous."""
    for signature, writer in _versions(connection, file).items():
        if before.get(signature) == writer:
            connection.execute(f"drop function {signature}".encode())


def _drop_deleted(connection: SyncConnection, created: Iterable[str], files: Sequence[SqlFile]) -> None:
    """Drop the functions whose file was deleted or renamed."""
    there = {Path(file.name).stem for file in files}
    for name in created:
        deleted = SqlFile(name, "")
        if Path(name).stem not in there:
            _drop_untouched(connection, deleted, _versions(connection, deleted))
            connection.execute("delete from quarry_functions where name = %s", [name])


def _recorded(connection: SyncConnection, table: str) -> dict[str, str]:
    return dict(connection.execute(SQL("select name, sha256 from {}").format(Identifier(table))).fetchall())


@contextmanager
def _errors_of_file(name: str) -> Iterator[None]:
    """Turn errors in a file's SQL into a ConfigurationError that names the file."""
    try:
        yield
    except psycopg.errors.FeatureNotSupported as error:
        raise ConfigurationError(
            "Postgres lacks an extension: Quarry needs pgvector 0.8 or newer, pg_trgm, btree_gin and fuzzystrmatch (contrib)."
        ) from error
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        raise ConfigurationError(f"{name}: {error.diag.message_primary or error}") from error


BY_IAM = "iam:"
IAM_ROLE = "rds_iam"
"""RDS' own role: its members can log in only by a token."""


@dataclass(frozen=True)
class Login:
    """A user with one of the roles. Without a password it logs in by IAM."""

    role: str
    name: str
    password: str | None = field(default=None, repr=False)


def read_logins(logins: Mapping[str, str]) -> list[Login]:
    """The users that DATABASE_LOGINS names by kind of work. Raises Unavailable and ConfigurationError as their secrets do."""
    return [_read_login(f"quarry_{kind}", source) for kind, source in logins.items()]


def _read_login(role: str, source: str) -> Login:
    if source.startswith(BY_IAM):
        return Login(role, source.removeprefix(BY_IAM))
    secret = database_secret(source)
    secret.forget()  # it may have been rotated just now
    fields = conninfo_to_dict(secret.read_now())
    if not (fields.get("user") and fields.get("password")):
        raise ConfigurationError(f"The secret {source} does not hold a user and a password.")
    return Login(role, str(fields["user"]), str(fields["password"]))


def make_logins(url: str, logins: Iterable[Login], *, schema: str = DEFAULT_SCHEMA) -> None:
    """Create or update the users: all of them or, after an error, none.

    Raises DatabaseUnavailable, and ConfigurationError if the migrating user lacks the rights, or is one of them.
    """
    with connect(url, schema) as connection:
        try:
            with connection.transaction():
                for login in logins:
                    _make(connection, login)
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                f"The migrating user may not create users: {error.diag.message_primary}."
            ) from error


def _make(connection: SyncConnection, login: Login) -> None:
    if login.name == connection.info.user:
        raise ConfigurationError(f"{login.name} owns the schema and migrates: name another user in DATABASE_LOGINS.")
    name, takes_iam = Identifier(login.name), _exists(connection, IAM_ROLE)
    if login.password is None and not takes_iam:
        raise ConfigurationError(f"The database has no role {IAM_ROLE}: IAM logins work only on RDS.")
    if not _exists(connection, login.name):
        connection.execute(SQL("create role {}").format(name))
    # a hash, so that the server's log does not contain the password
    password, user = (text.encode() for text in (login.password or "", login.name))
    verifier = login.password and connection.pgconn.encrypt_password(password, user, b"scram-sha-256").decode()
    connection.execute(SQL("alter role {} login password {}").format(name, Literal(verifier)))
    connection.execute(SQL("grant {} to {}").format(Identifier(login.role), name))
    if takes_iam:
        change = "revoke {} from {}" if login.password else "grant {} to {}"
        connection.execute(SQL(change).format(Identifier(IAM_ROLE), name))


def _exists(connection: SyncConnection, role: str) -> bool:
    return value(connection, "select to_regrole(quote_ident(%s))", [role]) is not None


# settings of the session, and what is there before a tenant is
_NOT_OF_TENANTS = re.compile(r"(set|select pg_catalog\.set_config|create schema|create extension)\b", re.IGNORECASE)
_HEADINGS = re.compile(r"^--\n-- .*\n--\n", re.MULTILINE)

_SCHEMA_NAME = re.compile(
    r"(?P<qualified>(?<!')\bquarry\.)|(?P<schema>(?<=\bSCHEMA )quarry\b)|(?P<path>(?<=\bSET search_path TO )'quarry'(?=,))"
    r"|(?P<owner>\bFOR ROLE quarry )"
)
_DIMENSIONS = re.compile(r"(?<=\bhalfvec\()384(?=\))")

_FITS = """
select current_setting('server_version_num')::int >= 180000
  and (select bool_and(e.extnamespace = to_regnamespace(%s)) from pg_extension e
    where e.extname in ('vector', 'pg_trgm', 'btree_gin', 'fuzzystrmatch'))
"""
"""The file is of this version's pg_dump, and names where extensions usually are."""


def make_whole(connection: SyncConnection, schema: str, directory: Path, embedding_dimensions: int) -> bool:
    """Make all that `schema.sql` has in an empty schema; whether that was possible. If not, nothing is changed."""
    file = directory / "schema.sql"
    if not (file.exists() and value(connection, _FITS, [EXTENSIONS_SCHEMA])):
        return False
    name = Identifier(schema).as_string(connection)
    replacements = {"qualified": f"{name}.", "schema": name, "path": Literal(schema).as_string(connection), "owner": ""}
    text = _SCHEMA_NAME.sub(lambda match: replacements[str(match.lastgroup)], _statements(file))
    text = _DIMENSIONS.sub(str(embedding_dimensions), text)
    before = value(connection, "select current_setting('search_path')")
    with connection.transaction():
        connection.execute(
            "select set_config('check_function_bodies', 'off', true), set_config('search_path', '', true)"
        )
        connection.execute(text.encode(), prepare=False)
        connection.execute("select set_config('search_path', %s, true)", [before])
    return True


@cache
def _statements(file: Path) -> str:
    text = _HEADINGS.sub("", file.read_text(encoding="utf-8"))
    return ";\n".join(each for each in statements_of(text) if not _NOT_OF_TENANTS.match(each))
