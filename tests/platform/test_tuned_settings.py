"""The weights that a database has of its own: read once, and behind what the environment sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from quarry.companies import retrieval
from quarry.companies.contract import ChatRequest
from quarry.companies.search import search_companies
from quarry.companies.store import retrieve_variants
from quarry.platform.settings import Settings
from quarry.postgres.pool import Database
from quarry.records.contract import SearchRequest
from quarry.records.search import search_records
from quarry.services.services import Caller, Services
from quarry.services.tuned_settings import TUNED_NAMES, TunedSettings, forget_weights, store_weights, stored_weights


async def test_what_is_stored_stands_for_what_the_environment_does_not_set(
    database_url: str, make_services: Callable[..., Services]
) -> None:
    services = make_services(database_url, COMPANY_NICHE_WEIGHT="0.3")
    await store_weights(services.database, {"records_semantic_weight": 0.8, "company_niche_weight": 0.9})
    tuned = await services.tuned.read()
    assert (tuned.records_semantic_weight, tuned.company_niche_weight) == (0.8, 0.3)
    assert tuned.company_semantic_weight == services.settings.company_semantic_weight


async def test_a_process_reads_them_once(services: Services) -> None:
    before = await services.tuned.read()
    await store_weights(services.database, {"records_semantic_weight": 0.8})
    assert await services.tuned.read() is before
    started_later = TunedSettings(services.settings, services.database)
    assert (await started_later.read()).records_semantic_weight == 0.8


async def test_what_is_stored_again_replaces_and_a_reset_forgets(services: Services) -> None:
    for weight in (0.8, 0.1):
        await store_weights(services.database, {"records_semantic_weight": weight})
    assert await stored_weights(services.database) == {"records_semantic_weight": 0.1}
    assert await forget_weights(services.database) == ["records_semantic_weight"]
    assert await forget_weights(services.database) == []


async def test_no_weight_beyond_its_bounds_is_stored(services: Services) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        await store_weights(services.database, {"records_semantic_weight": 1.5})
    assert await stored_weights(services.database) == {}


async def test_records_are_ranked_by_them(sample_services: Services, make_services: Callable[..., Services]) -> None:
    await store_weights(sample_services.database, {"records_semantic_weight": 1.0})
    response = await search_records(SearchRequest(q="elm"), Caller("tuner"), sample_services)
    ranks = [result.matched.semantic_rank for result in response.results]
    assert ranks[:10] == list(range(1, 11))


async def test_companies_are_found_by_them(sample_services: Services) -> None:
    await store_weights(sample_services.database, {"company_semantic_weight": 0.0, "company_keyword_weight": 1.0})
    request = ChatRequest.model_validate({"messages": [{"role": "user", "content": "robots that weed fields"}]})
    told: list[Settings] = []

    async def retrieve_and_tell(database: Database, variants: Any, settings: Settings, **named: Any) -> Any:
        told.append(settings)
        return await retrieve_variants(database, variants, settings, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval, "retrieve_variants", retrieve_and_tell)
        assert [event async for event in search_companies(request, Caller("tuner"), sample_services)]
    assert told
    for each in told:
        assert (each.company_semantic_weight, each.company_keyword_weight, each.company_niche_weight) == (0, 1, 0.15)


def test_each_is_a_setting_of_a_share() -> None:
    for name in TUNED_NAMES:
        assert 0 <= getattr(Settings.from_environment({}), name) <= 1
