"""What the domains declare is what their tables have."""

from __future__ import annotations

import pytest

from quarry import catalog
from quarry.core.query.question import Ask, Condition
from quarry.core.retrieval.facets import Facet, SearchTable
from quarry.core.retrieval.filters import Among
from quarry.core.retrieval.questions import answer
from quarry.core.services import Services
from tools.generate import declared_functions

TABLES = list(catalog.SEARCHED.values())


def _orders(facet: Facet) -> bool:
    return facet.kind in ("number", "year", "money", "date")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_names_of_facets_and_relations_are_single_and_known(table: SearchTable) -> None:
    names = [facet.name for facet in table.facets]
    assert len(set(names)) == len(names)
    assert table.date is None or table.facet(table.date)
    assert {facet.related for facet in table.facets} - {None} <= {related.name for related in table.related}


async def test_every_facet_can_be_asked_about(services: Services) -> None:
    for table in TABLES:
        among = Among(scope="demo" if table.scope else None)
        assert (await answer(services.database, table, Ask("rows"), [], among)).keys == ()
        for facet in table.facets:
            present = Condition(facet.name)
            assert (await answer(services.database, table, Ask("groups", facet.name), [(present,)], among)).groups == ()
            if _orders(facet):
                assert (await answer(services.database, table, Ask("extreme", facet.name), [], among)).value is None


async def test_what_belongs_to_someone_is_asked_about_in_their_name(sample_services: Services) -> None:
    tasks = catalog.SEARCHED["onto_tasks"]
    with pytest.raises(ValueError):
        await answer(sample_services.database, tasks, Ask("count"), [])
    assert (await answer(sample_services.database, tasks, Ask("count"), [], Among(scope="nobody"))).number == 0
    assert (await answer(sample_services.database, tasks, Ask("count"), [], Among(scope="demo"))).number


def test_the_functions_that_tell_values_are_made_from_the_facets() -> None:
    stale = [path.name for path, text in declared_functions().items() if path.read_text() != text]
    assert not stale, "run `make docs`"
