"""Several servers with tenants on them, with and without Citus. With it, tests are skipped where QUARRY_CITUS names none."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from quarry.postgres.migrate import migrate
from quarry.postgres.tenants import add_tenant
from tools.citus import FOLDER_VARIABLE, Cluster, Node, cluster, programs, programs_of

CLAIM = "custom:tenant"
TENANTS = ("acme", "globex")


@pytest.fixture(scope="package", params=["postgres", "citus"])
def nodes(request: pytest.FixtureRequest, server_url: str) -> Iterator[Cluster]:
    """An installation with two tenants on different servers: two workers of Citus; without it, the installation's and another."""
    has_citus = request.param == "citus"
    folder = programs() if has_citus else programs_of(server_url)
    if folder is None:
        pytest.skip(f"{FOLDER_VARIABLE} names no Postgres with Citus")
    with cluster(folder, has_citus=has_citus, workers=2 if has_citus else 1) as nodes:
        url = nodes.coordinator.url
        migrate(url, embedding_dimensions=384)
        for name, node in zip(TENANTS, reversed(nodes.nodes), strict=False):
            # Citus knows its workers, and each tenant goes to the one with the fewest
            chosen = None if has_citus else node.name
            add_tenant(url, name, name, own_schema="quarry", embedding_dimensions=384, node=chosen)
        yield nodes


def node_of_tenant(nodes: Cluster, name: str) -> Node:
    """The server that a tenant is on."""
    with psycopg.connect(nodes.coordinator.url) as connection:
        [[node]] = connection.execute("select node from quarry.tenants where name = %s", [name]).fetchall()
    [found] = [each for each in nodes.nodes if each.name == (node or nodes.coordinator.name)]
    return found
