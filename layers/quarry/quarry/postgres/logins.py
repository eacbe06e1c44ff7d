"""Users that log in to serve and to load, made and kept in step with their secrets by who owns the schema.

They own nothing and may do what the roles `quarry_serving` and `quarry_loading` may (migration 0021).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier, Literal

from quarry.platform.errors import ConfigurationError
from quarry.platform.secrets import database_secret
from quarry.platform.setting_fields import DEFAULT_SCHEMA
from quarry.postgres.migrate import connect
from quarry.postgres.schema import SyncConnection, value

BY_IAM = "iam:"
IAM_ROLE = "rds_iam"
"""RDS' own role: its members log in by a token, and by nothing else."""


@dataclass(frozen=True)
class Login:
    """A user in one of the roles. Without a password it logs in by IAM."""

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
    secret.forget()  # a password that was just rotated is the one that is meant
    held = conninfo_to_dict(secret.read_now())
    if not (held.get("user") and held.get("password")):
        raise ConfigurationError(f"The secret {named} does not hold a user and a password.")
    return Login(role, str(held["user"]), str(held["password"]))


def make_logins(url: str, logins: Iterable[Login], *, schema: str = DEFAULT_SCHEMA) -> None:
    """Make the users, or change them to what they are to be. All of them or, after an error, none.

    Raises DatabaseUnavailable, and ConfigurationError where the one who migrates may not do this, or is named for it.
    """
    with connect(url, schema) as connection:
        try:
            with connection.transaction():
                for login in logins:
                    _make(connection, login)
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(f"Who migrates may not make users: {error.diag.message_primary}.") from error


def _make(connection: SyncConnection, login: Login) -> None:
    if login.name == connection.info.user:
        raise ConfigurationError(f"{login.name} owns the schema and migrates: name another user in DATABASE_LOGINS.")
    name, takes_iam = Identifier(login.name), _exists(connection, IAM_ROLE)
    if login.password is None and not takes_iam:
        raise ConfigurationError(f"The database has no role {IAM_ROLE}: only one on RDS takes IAM for a password.")
    if not _exists(connection, login.name):
        connection.execute(SQL("create role {}").format(name))
    # a hash: what the server logs of its statements is to be of no use
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
