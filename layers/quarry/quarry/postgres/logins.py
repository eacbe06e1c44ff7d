"""Database users for serving and loading, which the schema's owner creates and updates from their secrets.

They own nothing and have the rights of the roles `quarry_serving` and `quarry_loading` (migration 0021).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier, Literal

from quarry.platform.errors import ConfigurationError
from quarry.platform.secrets import database_secret
from quarry.platform.settings import DEFAULT_SCHEMA
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection, value

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
    return [_read_login(f"quarry_{kind}", named) for kind, named in logins.items()]


def _read_login(role: str, named: str) -> Login:
    if named.startswith(BY_IAM):
        return Login(role, named.removeprefix(BY_IAM))
    secret = database_secret(named)
    secret.forget()  # it may have been rotated just now
    held = conninfo_to_dict(secret.read_now())
    if not (held.get("user") and held.get("password")):
        raise ConfigurationError(f"The secret {named} does not hold a user and a password.")
    return Login(role, str(held["user"]), str(held["password"]))


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
    verifier = login.password and _verifier(connection, login.name, login.password)
    connection.execute(SQL("alter role {} login password {}").format(name, Literal(verifier)))
    connection.execute(SQL("grant {} to {}").format(Identifier(login.role), name))
    if takes_iam:
        change = "revoke {} from {}" if login.password else "grant {} to {}"
        connection.execute(SQL(change).format(Identifier(IAM_ROLE), name))


def _verifier(connection: SyncConnection, name: str, password: str) -> str:
    return connection.pgconn.encrypt_password(password.encode(), name.encode(), b"scram-sha-256").decode()


def _exists(connection: SyncConnection, role: str) -> bool:
    return value(connection, "select to_regrole(quote_ident(%s))", [role]) is not None
