"""Every recorded event, for a tenant of each worker of a Citus cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import ModuleType

import pytest

from quarry.local.data import load_sample
from quarry.models.local_embedding import LocalEmbedding
from quarry.postgres.pool import Database
from quarry.postgres.tenants import add_tenant
from tests.citus.conftest import CLAIM, TENANTS, node_of_tenant
from tests.deployed.replay import Answer, RecordedEvent, forget_vectors, recorded_events
from tests.fakes.object_store import ObjectStore
from tests.functions.conftest import Context
from tests.functions.conftest import lambda_environment as lambda_environment
from tests.functions.conftest import load_function as load_function
from tests.functions.test_events import files as files
from tests.functions.test_events import without_local_model as without_local_model
from tools.citus import Cluster

TENANTS_OF_EVENTS = {f"{name}_sample": name for name in TENANTS}
"""Tenants with the sample data, each on the server of another one."""
OF_THE_INSTALLATION = {"console/config"}
"""What is the same for all tenants; with tenants the page offers every domain."""
REQUESTS = [each for each in recorded_events() if each.is_request and each.name not in OF_THE_INSTALLATION]


@pytest.fixture(scope="module")
def urls(nodes: Cluster) -> dict[str, str]:
    """The URL of each tenant's schema, by its name."""
    return {name: _filled(nodes, name, beside) for name, beside in TENANTS_OF_EVENTS.items()}


def _filled(nodes: Cluster, name: str, beside: str) -> str:
    node = node_of_tenant(nodes, beside)
    add_tenant(nodes.coordinator.url, name, name, own_schema="quarry", embedding_dimensions=384, node=node.name)

    async def fill() -> None:
        database, model = Database(node.url, pool_size=1, timeout_seconds=60, schema=name), LocalEmbedding()
        await load_sample(database, node.url, model)
        await model.close()
        await database.close()

    asyncio.run(fill())
    url = f"{node.url}?options=-c%20search_path%3D{name},public"
    forget_vectors(url)
    return url


@pytest.mark.parametrize("nodes", ["citus"], indirect=True)
@pytest.mark.parametrize("tenant", [*TENANTS_OF_EVENTS])
@pytest.mark.parametrize("recorded", REQUESTS, ids=lambda recorded: recorded.name)
@pytest.mark.usefixtures("without_local_model")
def test_an_event_gives_the_recorded_output(
    nodes: Cluster,
    urls: dict[str, str],
    load_function: Callable[[str], ModuleType],
    lambda_environment: pytest.MonkeyPatch,
    files: ObjectStore,
    tenant: str,
    recorded: RecordedEvent,
) -> None:
    environment = {"DATABASE_URL": nodes.coordinator.url, "TENANT_CLAIM": CLAIM, "AWS_SAM_LOCAL": "true"}
    for name, value in {**environment, **files.environment}.items():
        lambda_environment.setenv(name, value)
    recorded.prepare(urls[tenant])
    event = recorded.event
    # also where the installation without tenants answers anybody, as for links to answers
    event["requestContext"].setdefault("authorizer", {"claims": {"sub": "ada"}})["claims"][CLAIM] = tenant
    result = load_function(recorded.function).handler(event, Context(120_000))
    recorded.assert_yields(Answer.buffered(result).to_text())
