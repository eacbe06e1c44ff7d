"""The address of a database at another server."""

from __future__ import annotations

import pytest
from psycopg.conninfo import conninfo_to_dict

from quarry.platform.errors import ConfigurationError
from quarry.platform.secrets import Secret
from quarry.postgres import connections
from quarry.postgres.connections import IamAddress, address_at_node, at_node, node_from, node_of

URL = "postgresql://ada:secret@db-1.internal:6432/quarry?sslmode=require"


class Kept(Secret):
    """A secret that is known."""

    def prepare_now(self) -> None: ...

    def read_now(self) -> str:
        return URL

    def forget(self) -> None: ...


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("db-2", "db-2:5432"),
        (" DB-2.internal:6432 ", "db-2.internal:6432"),
        ("10.0.0.7", "10.0.0.7:5432"),
        ("[::1]:1", "[::1]:1"),
    ],
)
def test_a_node_is_a_host_and_a_port(text: str, node: str) -> None:
    assert node_from(text) == node
    assert node_of(at_node(URL, node)) == node


@pytest.mark.parametrize(
    "text", ["", "a b", "db:0", "db:65536", "db:port", "user@db", "postgresql://db/quarry", "db,other"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is no node"):
        node_from(text)


def test_all_but_the_server_stays() -> None:
    before, after = conninfo_to_dict(URL), conninfo_to_dict(at_node(f"{URL}&hostaddr=10.0.0.1", "db-2:5432"))
    assert after == before | {"host": "db-2", "port": "5432"}
    assert at_node(URL, None) == URL


def test_what_provides_a_url_provides_it_at_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    at_secret, at_function = address_at_node(Kept(), "db-2:5432"), address_at_node(lambda: URL, "db-2:5432")
    assert isinstance(at_secret, Secret)
    assert callable(at_function)
    assert at_secret.read_now() == at_function() == at_node(URL, "db-2:5432")
    # a token is signed for the server that it is sent to
    monkeypatch.setattr(connections, "_sign", lambda *signed_for: str(signed_for))
    at_iam = address_at_node(IamAddress(Kept()), "db-2:5432")
    assert isinstance(at_iam, Secret)
    assert conninfo_to_dict(at_iam.read_now())["password"] == "('db-2', 5432, 'ada')"
