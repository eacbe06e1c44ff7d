"""The weights that a database has of its own: read once, and behind what the environment sets."""

from __future__ import annotations

from collections.abc import Callable

from quarry.services.services import Services, stored_weights
from quarry_tools.tune import forget_weights, store_weights


async def test_what_is_stored_stands_for_what_the_environment_does_not_set(
    database_url: str, make_services: Callable[..., Services]
) -> None:
    services = make_services(database_url, COMPANY_NICHE_WEIGHT="0.3")
    await store_weights(services.database, {"records_semantic_weight": 0.8, "company_niche_weight": 0.9})
    tuned = await services.tuned_settings()
    assert (tuned.records_semantic_weight, tuned.company_niche_weight) == (0.8, 0.3)
    assert tuned.company_semantic_weight == services.settings.company_semantic_weight


async def test_what_is_stored_again_replaces_and_a_reset_forgets(services: Services) -> None:
    for weight in (0.8, 0.1):
        await store_weights(services.database, {"records_semantic_weight": weight})
    assert await stored_weights(services.database) == {"records_semantic_weight": 0.1}
    assert await forget_weights(services.database) == ["records_semantic_weight"]
    assert await forget_weights(services.database) == []
