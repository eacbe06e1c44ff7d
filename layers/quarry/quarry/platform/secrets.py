"""Secrets of AWS Secrets Manager, read by their ARN when they are needed, and kept for five minutes.

A secret is a plain text, or a JSON object with the value in a field. Errors here never repeat any of it.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from quarry.platform.errors import ConfigurationError, Unavailable

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.parameters import SecretsProvider

MAX_AGE_SECONDS = 300
CONNECT_SECONDS = 1.0
READ_SECONDS = 2.0

# The keys of the JSON object that RDS keeps in its secrets, and libpq's names for them. RDS Proxy's has the first two.
_RDS_FIELDS = {"username": "user", "password": "password", "host": "host", "port": "port", "dbname": "dbname"}


class Secret(ABC):
    """A secret that is read each time it is needed. `prepare` and `read` do not block the event loop."""

    async def prepare(self) -> None:
        """As `prepare_now`."""
        await asyncio.to_thread(self.prepare_now)

    async def read(self) -> str:
        """As `read_now`."""
        return await asyncio.to_thread(self.read_now)

    @abstractmethod
    def prepare_now(self) -> None:
        """Import the SDK: it takes a second on a cold start, which must not count as waiting for the database or model."""

    @abstractmethod
    def read_now(self) -> str:
        """The secret. Raises Unavailable if it cannot be read, ConfigurationError if it has another form."""

    @abstractmethod
    def forget(self) -> None:
        """Bypass the cache at the next read: the secret may have been rotated."""


class StoredSecret(Secret):
    """One secret of Secrets Manager. `parse` extracts the value from its text, and raises ValueError or KeyError if it cannot."""

    def __init__(self, arn: str, parse: Callable[[str], str]) -> None:
        self._arn = arn
        self._parse = parse
        self._forgotten = False

    def prepare_now(self) -> None:
        _secrets_manager(_region(self._arn))

    def read_now(self) -> str:
        from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

        try:
            text = _secrets_manager(_region(self._arn)).get(
                self._arn, max_age=MAX_AGE_SECONDS, force_fetch=self._forgotten
            )
        except GetParameterError as error:
            raise Unavailable(f"The secret {self._arn} cannot be read.") from error
        self._forgotten = False
        try:
            return self._parse(str(text))
        except (ValueError, KeyError, TypeError, psycopg.ProgrammingError):
            # without its cause, which may quote the secret
            raise ConfigurationError(f"The secret {self._arn} does not hold what it should.") from None

    def forget(self) -> None:
        self._forgotten = True


def database_secret(arn: str, value: str = "") -> Secret:
    """A secret that is read as a connection string. Parts of `known`, a database URL, take precedence."""

    def parse(text: str) -> str:
        fields = _json_object(text)
        if "username" in fields:
            parameters = {name: fields[key] for key, name in _RDS_FIELDS.items() if key in fields}
        else:
            parameters = conninfo_to_dict(fields["url"] if fields else text.strip())
        return make_conninfo(**(parameters | conninfo_to_dict(value)))

    return StoredSecret(arn, parse)


def api_key_secret(arn: str) -> Secret:
    """A secret that is read as an API key."""

    def parse(text: str) -> str:
        fields = _json_object(text)
        key = fields["api_key"] if fields else text.strip()
        if not (isinstance(key, str) and key.isascii() and key.isprintable() and key):
            raise ValueError("no key has such characters")
        return key

    return StoredSecret(arn, parse)


def _json_object(text: str) -> dict[str, Any]:
    """The JSON object that a secret's text is; empty when it is another text."""
    if not text.lstrip().startswith("{"):
        return {}
    fields: dict[str, Any] = json.loads(text)
    return fields


def _region(arn: str) -> str:
    return arn.split(":")[3]


@cache
def _secrets_manager(region: str) -> SecretsProvider:
    # boto3 takes a quarter of a second of processor time: not before the first secret
    from aws_lambda_powertools.utilities.parameters import SecretsProvider
    from botocore.config import Config

    config = Config(
        region_name=region,
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"total_max_attempts": 2},
    )
    return SecretsProvider(boto_config=config)
