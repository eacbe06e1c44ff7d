"""Servers that hold tenants, besides that of DATABASE_URL. A node is `host:port`; all else of the URL is the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from quarry.platform.errors import ConfigurationError
from quarry.platform.secrets import Secret
from quarry.platform.text import visible
from quarry.postgres.connections import DEFAULT_PORT, IamAddress

Address = str | Secret | Callable[[], str]
"""The URL of a database, or what provides it."""

_NODE = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\])(?::(?P<port>[0-9]{1,5}))?")


def node_from(text: str) -> str:
    """The node that `host` or `host:port` names. Raises ConfigurationError."""
    found = _NODE.fullmatch(text.strip())
    if found is None or not 0 < int(found["port"] or DEFAULT_PORT) < 65_536:
        raise ConfigurationError(f"{visible(text)!r} is no node: write host:port, as in db-2.internal:5432.")
    return f"{found['host'].lower()}:{int(found['port'] or DEFAULT_PORT)}"


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
        return _known_at_node(address, node)
    return lambda: at_node(address(), node)


def _known_at_node(address: str | Secret, node: str) -> str | Secret:
    if isinstance(address, str):
        return at_node(address, node)
    return (
        address.at(lambda signed: _known_at_node(signed, node))
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
