"""Companies out of Postgres: by taxonomy, by several phrasings at once, whole; and what is made of the rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quarry.companies.retrieval import retrieve_variants
from quarry.companies.state import CompanyCandidate, Variant, merge
from quarry.platform.settings import Settings
from quarry.postgres.pool import Database
from tests.companies.seeded import Connection, add_company, seeded_id, seeded_vector
from tests.plans import reads

TAXONOMY = "select * from search_companies_by_taxonomy_v1(%s, %s, %s, %s, %s)"

SECTORS = ["Fintech", "Insurance", "Accounting & Tax"]
CATEGORIES = ["Payments", "O'Clock", "Fintech"]
MODELS = ["SaaS", "Payments"]
SETTINGS = Settings.from_environment({})


@pytest.fixture
async def database(seeded_url: str) -> AsyncIterator[Database]:
    """The seeded companies."""
    database = Database(seeded_url, pool_size=1, timeout_seconds=20)
    yield database
    await database.close()


def filed(
    connection: Connection,
    sectors: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    statuses: Sequence[str] | None = ("startup",),
    limit: int = 500,
) -> list[Any]:
    asked = [None if names is None else list(names) for names in (sectors, categories, models, statuses)]
    return connection.execute(TAXONOMY, [*asked, limit]).fetchall()


class TestTaxonomy:
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        companies=st.lists(
            st.tuples(*(st.lists(st.sampled_from(names), unique=True) for names in (SECTORS, CATEGORIES, MODELS))),
            max_size=8,
        ),
        asked=st.tuples(*(st.none() | st.lists(st.sampled_from(names)) for names in (SECTORS, CATEGORIES, MODELS))),
        limit=st.integers(1, 9),
    )
    def test_the_hits_are_those_of_the_formula(
        self,
        connection: Connection,
        companies: list[Any],
        asked: tuple[list[str] | None, list[str] | None, list[str] | None],
        limit: int,
    ) -> None:
        with connection.transaction(force_rollback=True):
            for number, (sectors, categories, models) in enumerate(companies):
                add_company(connection, str(number), sectors=sectors, categories=categories, business_models=models)
            literal = connection.execute(
                "select * from literal_search_companies_by_taxonomy(%s, %s, %s, '{startup}', %s)", [*asked, limit]
            ).fetchall()
            found = filed(connection, *asked, limit=limit)
            assert [(row.company_id, row.tag_score) for row in found] == [tuple(row) for row in literal]

    def test_tags_are_found_by_their_index(self, indexed: Connection) -> None:
        read = reads(indexed, "companies", TAXONOMY, [["sector3", "sector4"], None, None, ["startup"], 100])
        assert "companies_taxonomy_search" in read.indexes
        assert not read.whole


async def test_several_phrasings_are_merged_with_the_best_of_each_signal(
    database: Database, seeded: Connection
) -> None:
    variants = [Variant("topic3 part7", _vector(3)), Variant("topic5", _vector(5)), Variant("niche9 word5")]
    found = await retrieve_variants(database, variants, SETTINGS, exclude_ids=[seeded_id(3)], limit=50)

    alone: list[CompanyCandidate] = []
    for variant in variants:
        for hybrid in (True, False):
            alone += await retrieve_variants(
                database, [variant], SETTINGS, exclude_ids=[seeded_id(3)], hybrid=hybrid, keyword=not hybrid, limit=50
            )
    expected = {candidate.company_id: candidate for candidate in merge(alone)}
    assert found == list(expected.values())
    assert seeded_id(3) not in {candidate.company_id for candidate in found}


async def test_weights_and_thresholds_reach_the_formula(database: Database) -> None:
    meaning = SETTINGS.model_copy(
        update={"company_semantic_weight": 1, "company_keyword_weight": 0, "company_niche_weight": 0}
    )
    found = await retrieve_variants(database, [Variant("topic3", _vector(3))], meaning, keyword=False, min_semantic=0.6)
    assert found
    for candidate in found:
        assert candidate.combined == pytest.approx(candidate.semantic)
        assert candidate.semantic >= 0.6
    niches = SETTINGS.model_copy(update={"company_keyword_only_weight": 0, "company_niche_only_weight": 2})
    found = await retrieve_variants(database, [Variant("topic3")], niches, hybrid=False)
    assert all(candidate.combined == pytest.approx(2 * candidate.niche) for candidate in found)


def _vector(number: int) -> list[float]:
    return [float(value) for value in seeded_vector(number).strip("[]").split(",")]
