"""IAM database authentication of Amazon RDS: a token that AWS credentials sign stands for the password.

A token opens connections for a quarter of an hour, so each new one gets its own. To sign takes no call to AWS.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from quarry.platform.errors import ConfigurationError
from quarry.platform.secrets import Secret
from quarry.postgres.certificates import region_of

DEFAULT_PORT = 5432


class IamAddress(Secret):
    """The database at `address`, opened as the user that this names."""

    def __init__(self, address: str | Secret) -> None:
        self._address = address

    def prepare_now(self) -> None:
        if isinstance(self._address, Secret):
            self._address.prepare_now()
        import_sdk()

    def read_now(self) -> str:
        """The connection string with a new token. Raises ConfigurationError where none can be signed, and as the address does."""
        address = self._address if isinstance(self._address, str) else self._address.read_now()
        parameters: dict[str, Any] = conninfo_to_dict(address)
        host, user = parameters.get("host"), parameters.get("user")
        if not (host and user):
            raise ConfigurationError(
                "With DATABASE_IAM the database's URL names a user and a host: postgresql://user@host/name"
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
        raise ConfigurationError(f"No token that opens the database can be signed: {error}") from error
    return token


@cache
def _client(region: str | None) -> Any:
    """What signs for a region, the process's own where a host does not name it; credentials are renewed within."""
    import boto3

    # a session of its own: the pool connects in several threads
    return boto3.session.Session(region_name=region).client("rds")
