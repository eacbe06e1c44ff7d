"""What connections need besides a pool: certificates and tokens of Amazon RDS, and errors of psycopg translated into ours."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Error as PostgresError
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import PoolTimeout

from quarry.platform.errors import ConfigurationError, DatabaseUnavailable, Forbidden, QuarryError
from quarry.platform.secrets import Secret
from quarry.platform.text import visible

DIRECTORY = Path(__file__).with_name("certificates")

PROXIES = "proxies"
"""The file for RDS Proxy, in every region."""

_HOST = re.compile(
    r"(?P<place>.+)\.(?:(?P<region>[a-z0-9-]+)\.rds\.amazonaws\.com|rds\.(?P<in_china>[a-z0-9-]+)\.amazonaws\.com\.cn)"
)

# libpq has no code for them
_UNTRUSTED = re.compile(
    r"certificate verify failed|does not match host name|could not get server's host name|root certificate|does not support SSL"
)


def checked(conninfo: str) -> str:
    """The connection string; for RDS with `sslmode=verify-full` and the certificates, unless it sets them.

    Raises ConfigurationError for a region without certificates here.
    """
    options: dict[str, Any] = conninfo_to_dict(conninfo)
    names = {_file_of(host) for host in options.get("host", "").lower().split(",")}
    if None in names or len(names) > 1:
        return conninfo
    [name] = names
    parameters = {"sslmode": "verify-full"} | options
    if parameters["sslmode"] in ("verify-ca", "verify-full") and "sslrootcert" not in options:
        path = DIRECTORY / f"{name}.pem"
        if not path.is_file():
            raise ConfigurationError(
                f"Quarry has no RDS certificates for {name}: run `make certificates` before the build, or set sslrootcert in the "
                "database's URL to a file with them."
            )
        parameters["sslrootcert"] = str(path)
    return make_conninfo(**parameters)


def untrusted(error: psycopg.OperationalError) -> ConfigurationError | None:
    """Our error if a connection failed because the server could not prove its identity; else None."""
    reason = str(error).strip()
    if not _UNTRUSTED.search(reason):
        return None
    return ConfigurationError(
        f"The database could not prove its identity: {reason}. Check the host in its URL. If another authority signed its "
        "certificate, set sslrootcert in the URL to a file with that authority; `make certificates` renews those of RDS."
    )


def region_of(host: str) -> str | None:
    """The region of a host; None if it is not on RDS."""
    match = _HOST.fullmatch(host.lower())
    return match and (match["region"] or match["in_china"])


def _file_of(host: str) -> str | None:
    """The name of the certificate file for a host; None if it is not on RDS."""
    match = _HOST.fullmatch(host)
    is_proxy = match is not None and match["place"].rpartition(".")[2].startswith("proxy-")
    return PROXIES if is_proxy else region_of(host)


DEFAULT_PORT = 5432


class IamAddress(Secret):
    """The database at `address`, with a token for the user in it."""

    def __init__(self, address: str | Secret) -> None:
        self._address = address

    def at(self, node: Callable[[str | Secret], str | Secret]) -> IamAddress:
        """The same database at another host, whose tokens are signed for that host."""
        return IamAddress(node(self._address))

    def prepare_now(self) -> None:
        if isinstance(self._address, Secret):
            self._address.prepare_now()
        import_sdk()

    def read_now(self) -> str:
        """The connection string with a new token. Raises ConfigurationError if it cannot be signed, and as the address does."""
        address = self._address if isinstance(self._address, str) else self._address.read_now()
        parameters: dict[str, Any] = conninfo_to_dict(address)
        host, user = parameters.get("host"), parameters.get("user")
        if not (host and user):
            raise ConfigurationError(
                "With DATABASE_IAM the database's URL must have a user and a host: postgresql://user@host/name"
            )
        token = _sign(host, int(parameters.get("port") or DEFAULT_PORT), user)
        return make_conninfo(**(parameters | {"password": token}))

    def forget(self) -> None:
        if isinstance(self._address, Secret):
            self._address.forget()


def import_sdk() -> None:
    """Import boto3. Raises ConfigurationError where it is not installed."""
    try:
        import boto3  # noqa: F401
    except ImportError:
        raise ConfigurationError("DATABASE_IAM needs boto3, which is not installed: pip install boto3") from None


def _sign(host: str, port: int, user: str) -> str:
    from botocore.exceptions import BotoCoreError

    try:
        token: str = _client(region_of(host)).generate_db_auth_token(DBHostname=host, Port=port, DBUsername=user)
    except BotoCoreError as error:
        raise ConfigurationError(f"The login token for the database cannot be signed: {error}") from error
    return token


@cache
def _client(region: str | None) -> Any:
    """The client that signs for a region, by default the process's own; it renews credentials itself."""
    import boto3

    # a separate session: the pool connects in several threads
    return boto3.session.Session(region_name=region).client("rds")


NOT_MIGRATED = "The database lacks a table or function: run `quarry migrate`."

POOLED_UNAWARES = "A connection pooler mixes up prepared statements: set DATABASE_POOLED=true."

MISSING_SCHEMA = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedFunction, psycopg.errors.UndefinedColumn)

QUOTA_REACHED = "QT001"
"""The code of what `check_rows` raises."""

_MIXED_UP_STATEMENTS = (psycopg.errors.DuplicatePreparedStatement, psycopg.errors.InvalidSqlStatementName)

_UNAVAILABLE = (
    PoolTimeout,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.IdleInTransactionSessionTimeout,
    psycopg.errors.TransactionTimeout,
)

_REASONS: Mapping[type[Exception], str] = {
    psycopg.errors.QueryCanceled: "The database took too long; try again, or ask for less.",
    psycopg.errors.LockNotAvailable: "The database is being changed; try again shortly.",
    psycopg.errors.ReadOnlySqlTransaction: "The database is read-only at the moment; try again shortly.",
    psycopg.errors.DiskFull: "The disk of the database is full; try again when there is space.",
}


def translate(error: Exception) -> QuarryError | None:
    """Our error for one of psycopg's, or None if it is a bug of ours."""
    if isinstance(error, MISSING_SCHEMA):
        return ConfigurationError(NOT_MIGRATED)
    if isinstance(error, _MIXED_UP_STATEMENTS):
        return ConfigurationError(POOLED_UNAWARES)
    if isinstance(error, psycopg.Error) and error.sqlstate == QUOTA_REACHED:
        return Forbidden(error.diag.message_primary or "")
    if isinstance(error, psycopg.OperationalError) and (ours := untrusted(error)):
        return ours
    if isinstance(error, _UNAVAILABLE):
        return DatabaseUnavailable(_REASONS.get(type(error)))
    return None


@contextmanager
def translated() -> Iterator[None]:
    """Translate psycopg's errors of the block."""
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        ours = translate(error)
        if ours is None:
            raise
        raise ours from error


_NOT_ANSWERING = ("08", "53", "57P")
"""Beginnings of the error codes of a server that is gone, full, or going down."""

_IN_PASSING = ("25", "40", "55", "57", "58")
"""Beginnings of the codes of transient errors: a conflict, a lock, a statement that took too long."""

UNREADABLE = (DatabaseUnavailable, ConfigurationError, PostgresError)
"""All errors of reading a table that is not ours."""


def lasting_fault(error: Exception) -> PostgresError | None:
    """Postgres' error about a source if it will occur again; else None."""
    cause = error.__cause__ if isinstance(error, QuarryError) else error
    if not isinstance(cause, PostgresError) or cause.sqlstate is None:
        return None
    return None if cause.sqlstate.startswith(_NOT_ANSWERING + _IN_PASSING) else cause


async def lasting_fault_of(work: Awaitable[object], no_fault: tuple[type[QuarryError], ...]) -> PostgresError | None:
    """The lasting fault that `work` meets; None if there is none, or it raises one of `no_fault`. Other errors are raised."""
    try:
        await work
    except no_fault:
        return None
    except (PostgresError, QuarryError) as error:
        fault = lasting_fault(error)
        if fault is None:
            raise
        return fault
    return None


def fault_of_source(error: Exception) -> str | None:
    """Postgres' message about a source; None if the database does not answer."""
    cause = error.__cause__ if isinstance(error, QuarryError) else error
    if not isinstance(cause, PostgresError) or cause.sqlstate is None or cause.sqlstate.startswith(_NOT_ANSWERING):
        return None
    return cause.diag.message_primary or type(cause).__name__


Address = str | Secret | Callable[[], str]
"""The URL of a database, or what provides it."""

_NODE = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\])(?::(?P<port>[0-9]{1,5}))?")


def node_from(text: str) -> str:
    """The node that `host` or `host:port` names. Raises ConfigurationError."""
    match = _NODE.fullmatch(text.strip())
    if match is None or not 0 < int(match["port"] or DEFAULT_PORT) < 65_536:
        raise ConfigurationError(f"{visible(text)!r} is no node: write host:port, as in db-2.internal:5432.")
    return f"{match['host'].lower()}:{int(match['port'] or DEFAULT_PORT)}"


def node_of(url: str) -> str:
    """The node of a URL with one host."""
    parameters = conninfo_to_dict(url)
    host = str(parameters.get("host") or "localhost").lower()
    return f"{f'[{host}]' if ':' in host else host}:{parameters.get('port') or DEFAULT_PORT}"


def at_node(url: str, node: str | None) -> str:
    """The URL of the same database at a node; None: the URL itself."""
    if node is None:
        return url
    host, _, port = node.rpartition(":")
    parameters: dict[str, Any] = conninfo_to_dict(url)
    parameters.pop("hostaddr", None)
    return make_conninfo(**(parameters | {"host": host.strip("[]"), "port": port}))


def address_at_node(address: Address, node: str) -> Address:
    """As `at_node`, for what provides a URL."""
    if isinstance(address, str | Secret):
        return _url_at_node(address, node)
    return lambda: at_node(address(), node)


def _url_at_node(address: str | Secret, node: str) -> str | Secret:
    if isinstance(address, str):
        return at_node(address, node)
    return (
        address.at(lambda signed: _url_at_node(signed, node))
        if isinstance(address, IamAddress)
        else _SecretAtNode(address, node)
    )


class _SecretAtNode(Secret):
    """A secret with the URL of a database, which is at a node."""

    def __init__(self, secret: Secret, node: str) -> None:
        self._secret = secret
        self._node = node

    def prepare_now(self) -> None:
        self._secret.prepare_now()

    def read_now(self) -> str:
        return at_node(self._secret.read_now(), self._node)

    def forget(self) -> None:
        self._secret.forget()
