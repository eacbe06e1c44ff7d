"""How good ontology search is, on the judged queries over the sample data of `demo`.

The floors lie a little below what was measured when they were set: they catch a loss, they do not claim a level.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import mean

from quarry.core.services import Caller, Services
from quarry.local.sample import sample_directory
from quarry.ontology.contract import OntologySearchRequest
from quarry.ontology.search import search_ontology
from tests.quality.judged import ndcg, read_judged

FLOORS = {"keyword": 0.97, "typo": 0.91, "question": 0.80}


async def test_search_stays_above_its_floor(sample_services: Services) -> None:
    measured: dict[str, list[float]] = defaultdict(list)
    for query in read_judged(sample_directory() / "ontology" / "judged.jsonl"):
        response = await search_ontology(OntologySearchRequest(query=query.query), Caller("demo"), sample_services)
        keys = [f"{result.type}:{result.id}" for result in response.results]
        measured[query.kind].append(ndcg(keys, query.relevant))
    assert set(measured) == set(FLOORS)
    assert {kind: score for kind, scores in measured.items() if (score := mean(scores)) < FLOORS[kind]} == {}
