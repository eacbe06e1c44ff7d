"""Ontology search: one list over every kind of thing in the caller's workspace.

The conditions that a query states (a status, who does it, when it is due, its project) filter; its other words are searched for.
Matching, scope and score are SQL functions'; there is nothing to fuse and no model to ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from quarry.ontology.candidates import Candidate, Candidates
from quarry.ontology.contract import RESULTS_MAX, EntityResult, OntologySearchRequest, OntologySearchResponse
from quarry.ontology.reading import Sought, read_sought
from quarry.ontology.retrieval import find_entities
from quarry.ontology.sources import labels, settings_of
from quarry.platform.snippet import mark
from quarry.runs.run_log import ResultRecord
from quarry.services.services import Caller, Services


async def search_ontology(
    request: OntologySearchRequest, caller: Caller, services: Services, request_id: str | None = None
) -> OntologySearchResponse:
    """The caller's entities for a query, best first. Raises NotFound for a project that is not theirs, DatabaseUnavailable."""
    with services.run("ontology", caller, request.query, request.as_asked(), request_id=request_id) as run:
        with run.step("retrieve") as record:
            types = request.types or []
            sought = await read_sought(request.query, types, caller, services)
            find = partial(
                find_entities,
                services.acting(settings_of(caller)).reader,
                caller,
                project_id=request.project_id,
                types=types,
                limit=RESULTS_MAX,
            )
            found = await find(sought)
            is_met = bool(found.entities) or not sought.where
            found = found if is_met else await find(Sought(request.query))
            record.counts["found"] = found.total
        run.results = [ResultRecord(entity.type, entity.id, entity.score) for entity in found.entities]
        run.end_reason = "answered"
    return OntologySearchResponse(
        results=[_result(entity) for entity in found.entities],
        total=found.total,
        message=message(found, labels(sought.where), is_met=is_met),
        more=found.more or None,
    )


def message(found: Candidates, filters: Sequence[str] = (), *, is_met: bool = True) -> str:
    """What was found, and what it was filtered by or, where nothing meets that, by what it was not, for people and agents."""
    if not filters:
        return _message(found)
    named = "; ".join(filters)
    return (
        f"{_message(found)} Filtered by: {named}."
        if is_met
        else f"Nothing has {named}. By its words: {_message(found)}"
    )


def _message(found: Candidates) -> str:
    if not found.entities:
        return "Nothing found. Try other words, or search without project and types."
    matches = sum(entity.is_match for entity in found.entities)
    shown = len(found.entities)
    if matches == 0:
        return f"Nothing matches the whole query; {'this is' if shown == 1 else 'these are'} nearest to it."
    if shown < found.total or found.more:
        total = f"at least {found.total:,}" if found.more else f"{found.total:,}"
        return f"The best {shown} of {total}. Name a project or types to narrow the search."
    near = f", and {shown - matches} near" if shown > matches else ""
    return f"{matches} match{'' if matches == 1 else 'es'}{near}."


def _result(entity: Candidate) -> EntityResult:
    return EntityResult(
        type=entity.type,
        id=entity.id,
        project_id=entity.project_id,
        project_name=entity.project_name,
        title=entity.title,
        snippet=mark(entity.snippet),
        score=entity.score,
    )
