"""How good ontology search is, on the judged queries over the sample data of `demo`.

The floors lie a little below what was measured when they were set: they catch a loss, they do not claim a level.
"""

from __future__ import annotations

from quarry.local.sample import sample_directory
from quarry.services.services import Services
from quarry_tools.evaluation import run_queries
from quarry_tools.judged import read_judged
from quarry_tools.outcomes import summarise

FLOORS = {"keyword": 0.97, "typo": 0.91, "question": 0.80}


async def test_search_stays_above_its_floors(sample_services: Services) -> None:
    queries = read_judged(sample_directory() / "ontology" / "judged.jsonl")
    summaries = {summary.kind: summary.ndcg for summary in summarise(await run_queries(queries, sample_services))}
    assert {kind: summaries[kind] for kind, floor in FLOORS.items() if summaries[kind] < floor} == {}
