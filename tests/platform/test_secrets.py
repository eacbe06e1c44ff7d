"""Secrets read from AWS Secrets Manager, as moto plays it."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import boto3
import psycopg
import pytest
from botocore.loaders import JSONFileLoader
from moto import mock_aws
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL

from quarry.platform import secrets
from quarry.platform.errors import ConfigurationError
from quarry.platform.secrets import Secret, api_key_secret, database_secret
from quarry.postgres.pool import Database

URL = "postgresql://quarry:very-secret@db.example:6432/records?sslmode=require"
RDS = {
    "username": "quarry", "password": "very secret'", "engine": "postgres", "host": "db.example", "port": 6432,
    "dbname": "records", "dbClusterIdentifier": "cluster",
}  # fmt: skip

Put = Callable[[str], str]


@pytest.fixture(scope="module", autouse=True)
def descriptions_read_once() -> Iterator[None]:
    """Each session of boto3 would read anew what AWS has, for a fifth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSONFileLoader, "load_file", functools.cache(JSONFileLoader.load_file))
        patch.setattr(JSONFileLoader, "__hash__", lambda _: 0)
        patch.setattr(JSONFileLoader, "__eq__", lambda _, other: isinstance(other, JSONFileLoader))
        yield


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of Secrets Manager, which holds nothing yet."""
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "testing"), ("AWS_SECRET_ACCESS_KEY", "testing"), ("AWS_DEFAULT_REGION", "us-east-1"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    secrets._secrets_manager.cache_clear()
    with mock_aws():
        yield boto3.client("secretsmanager")
    secrets._secrets_manager.cache_clear()


@pytest.fixture
def put(manager: Any) -> Put:
    """Makes the text that of the one secret; its ARN."""

    def put_text(text: str) -> str:
        if manager.list_secrets()["SecretList"]:
            arn: str = manager.put_secret_value(SecretId="secret", SecretString=text)["ARN"]
        else:
            arn = manager.create_secret(Name="secret", SecretString=text)["ARN"]
        return arn

    return put_text


@pytest.mark.parametrize("text", [URL, f" {URL}\n", json.dumps({"url": URL})])
def test_a_database_secret_is_a_url_or_a_json_object_with_one(put: Put, text: str) -> None:
    assert conninfo_to_dict(database_secret(put(text)).read_now()) == conninfo_to_dict(URL)


def test_the_secrets_of_rds_are_understood(put: Put) -> None:
    assert conninfo_to_dict(database_secret(put(json.dumps(RDS))).read_now()) == {
        "user": "quarry", "password": "very secret'", "host": "db.example", "port": "6432", "dbname": "records",
    }  # fmt: skip


NOT_WHAT_IT_SHOULD_BE = ['{"other": "very-secret"}', "{very-secret", "very-secret\tand more", "é very-secret"]


@pytest.mark.parametrize(
    ("make", "text"), [(make, text) for make in (database_secret, api_key_secret) for text in NOT_WHAT_IT_SHOULD_BE]
)
def test_a_secret_that_holds_something_else_is_refused_and_not_told(
    put: Put, make: Callable[[str], Secret], text: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        make(put(text)).read_now()
    assert "very-secret" not in f"{raised.value} {raised.value.__cause__}"
    assert raised.value.__suppress_context__


async def test_a_rotated_password_is_read_anew(put: Put, database_url: str) -> None:
    parts = urlsplit(database_url)
    where = parts._replace(netloc=f"{parts.hostname}:{parts.port}").geturl()

    def rotate(password: str) -> str:
        operator.execute(SQL("alter role rotating password {}").format(password))
        return put(json.dumps({"username": "rotating", "password": password}))

    with psycopg.connect(database_url, autocommit=True) as operator:
        operator.execute("create role rotating login")
        database = Database(database_secret(rotate("one"), value=where), pool_size=2, timeout_seconds=60)
        try:
            assert await database.row("select current_user as who") == {"who": "rotating"}
            rotate("two")
            # both at once: one of them needs a new connection
            rows = await asyncio.gather(*(database.row("select current_user as who, pg_sleep(0.05)") for _ in range(2)))
            assert [row and row["who"] for row in rows] == ["rotating", "rotating"]
            assert await database.row("show statement_timeout") == {"statement_timeout": "1min"}
        finally:
            await database.close()
            operator.execute("drop role rotating")
