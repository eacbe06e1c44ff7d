"""Users that serve and load, made with passwords or for IAM, and connections that a token of IAM opens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

from quarry.platform import secrets
from quarry.platform.errors import ConfigurationError
from quarry.platform.settings import Settings
from quarry.postgres import connections
from quarry.postgres.connections import IamAddress
from quarry.postgres.migrate import Login, make_logins
from quarry.postgres.pool import Database
from quarry.services.services import read_database_url

HOST = "quarry.cluster-c7tj4example.eu-central-1.rds.amazonaws.com"


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process has AWS credentials, and is in another region than the database."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very-secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    for cached in (connections._client, secrets._secrets_manager):
        cached.cache_clear()
    yield
    for cached in (connections._client, secrets._secrets_manager):
        cached.cache_clear()


@pytest.fixture
def operator(server_url: str, database_url: str) -> Iterator[psycopg.Connection]:
    """A session of the server's owner; users that a test makes go with it."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        yield connection
        for role in ("quarry_serve", "quarry_load", "rds_iam"):
            connection.execute(SQL("drop role if exists {}").format(Identifier(role)))


def as_user(url: str, name: str, password: str) -> str:
    at = urlsplit(url)
    return at._replace(netloc=f"{name}:{password}@{at.hostname}:{at.port}").geturl()


def who(url: str) -> tuple[Any, ...] | None:
    roles = "select current_user::text, pg_has_role('quarry_serving', 'usage'), pg_has_role('quarry_loading', 'usage')"
    with psycopg.connect(url) as connection:
        return connection.execute(roles).fetchone()


def test_a_login_is_made_and_follows_its_secret(database_url: str, operator: psycopg.Connection) -> None:
    for password in ("first", "se'cond"):
        make_logins(
            database_url,
            [Login("quarry_serving", "quarry_serve", password), Login("quarry_loading", "quarry_load", "x")],
        )
        assert who(as_user(database_url, "quarry_serve", password)) == ("quarry_serve", True, False)
    assert who(as_user(database_url, "quarry_load", "x")) == ("quarry_load", False, True)
    with pytest.raises(psycopg.OperationalError):
        who(as_user(database_url, "quarry_serve", "first"))


def test_a_login_by_iam_has_no_password_and_one_by_password_no_iam(
    database_url: str, operator: psycopg.Connection
) -> None:
    def state() -> tuple[Any, ...] | None:
        query = "select rolpassword is not null, pg_has_role(rolname, 'rds_iam', 'member') from pg_authid where rolname = %s"
        return operator.execute(query, ["quarry_serve"]).fetchone()

    by_iam, by_password = Login("quarry_serving", "quarry_serve"), Login("quarry_serving", "quarry_serve", "word")
    with pytest.raises(ConfigurationError, match="rds_iam"):
        make_logins(database_url, [by_iam])
    operator.execute("create role rds_iam")  # as RDS does
    states = []
    for login in (by_password, by_iam, by_password):
        make_logins(database_url, [login])
        states.append(state())
    assert states == [(True, False), (False, True), (True, False)]


def test_a_token_is_signed_for_the_host_the_port_and_the_user(credentials: None) -> None:
    url = f"postgresql://quarry_serve@{HOST}:6432/quarry"
    settings = Settings.from_environment({"DATABASE_URL": url, "DATABASE_IAM": "true"})
    parameters = conninfo_to_dict(read_database_url(settings))
    token = urlsplit(f"https://{parameters.pop('password')}")
    assert parameters == conninfo_to_dict(url)
    assert token.netloc == f"{HOST}:6432"
    signed = {name: value for name, [value] in parse_qs(token.query).items()}
    assert signed["Action"] == "connect"
    assert signed["DBUser"] == "quarry_serve"
    assert signed["X-Amz-Expires"] == "900"
    assert "/eu-central-1/rds-db/" in signed["X-Amz-Credential"]
    assert "very-secret" not in token.query


async def test_each_connection_is_opened_by_a_token_of_its_own(
    database_url: str, operator: psycopg.Connection, credentials: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign = connections._sign
    tokens: list[str] = []

    def take(*place: Any) -> str:
        """Sign a token, and take it for the user's password from now on, as RDS does."""
        tokens.append(sign(*place) + f"&number={len(tokens)}")
        make_logins(database_url, [Login("quarry_serving", "quarry_serve", tokens[-1])])
        return tokens[-1]

    monkeypatch.setattr(connections, "_sign", take)
    at = urlsplit(database_url)
    address = IamAddress(at._replace(netloc=f"quarry_serve@{at.hostname}:{at.port}").geturl())
    database = Database(address, pool_size=1, timeout_seconds=60)
    asked = "select pg_backend_pid() as pid, current_user::text as who"
    try:
        first = await database.row(asked)
        assert first is not None
        operator.execute("select pg_terminate_backend(%s, 5000)", [first["pid"]])
        second = await database.row(asked)
    finally:
        await database.close()
    assert second is not None
    assert second["pid"] != first["pid"]
    assert first["who"] == second["who"] == "quarry_serve"
    assert len(tokens) == len(set(tokens)) == 2
