"""Ontology search: one list over all kinds of entities in the caller's workspace.

Conditions in a query (status, assignee, due date, project) filter; the other words are searched for. SQL functions match and
score; there is nothing to fuse, and no model is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from quarry.ontology.contract import (
    RESULTS_MAX,
    EntityResult,
    EntityType,
    OntologySearchRequest,
    OntologySearchResponse,
)
from quarry.ontology.reading import WorkspaceIntent, read_query
from quarry.ontology.reading import intent as sought_by
from quarry.ontology.retrieval import Candidates, EntityCandidate, find_entities
from quarry.ontology.sources import labels, settings_of
from quarry.platform.off_loop import off_loop
from quarry.platform.text import mark
from quarry.query.algebra import Condition
from quarry.runs.run_log import ResultRecord
from quarry.services.services import Caller, Services


async def search_ontology(
    request: OntologySearchRequest, caller: Caller, services: Services, request_id: str | None = None
) -> OntologySearchResponse:
    """The caller's entities for a query, best first. Raises NotFound for a project that is not theirs, DatabaseUnavailable."""
    with services.run("ontology", caller, request.query, request.as_asked(), request_id=request_id) as run:
        with run.step("retrieve") as record:
            found, where, is_met = await search_workspace(
                request.query, request.types or (), caller, services, project_id=request.project_id
            )
            record.counts["found"] = found.total
        run.results = [ResultRecord(entity.type, entity.id, entity.score) for entity in found.entities]
        run.end_reason = "answered"
    return OntologySearchResponse(
        results=[result_of(entity) for entity in found.entities],
        total=found.total,
        message=message(found, labels(where), is_met=is_met),
        more=found.more or None,
    )


def result_of(entity: EntityCandidate) -> EntityResult:
    """An entity as a result."""
    near = None if entity.is_match else True
    return EntityResult.model_validate(vars(entity) | {"snippet": mark(entity.snippet), "near": near})


async def search_workspace(
    query: str,
    types: Sequence[EntityType],
    caller: Caller,
    services: Services,
    *,
    project_id: str | None = None,
    filters: Mapping[str, str] | None = None,
) -> tuple[Candidates, Sequence[Condition], bool]:
    """The caller's best entities for a query, the conditions that it states, and whether any entity meets them; if not, entities
    are found by words alone. `filters` are SQL conditions by type that always hold.

    Raises NotFound for a project that is not the caller's, and DatabaseUnavailable.
    """
    intent = await off_loop(sought_by, await read_query(query, types, caller, services))
    return await find_sought(query, intent, types, caller, services, project_id=project_id, filters=filters)


async def find_sought(
    query: str,
    intent: WorkspaceIntent,
    types: Sequence[EntityType],
    caller: Caller,
    services: Services,
    *,
    project_id: str | None = None,
    filters: Mapping[str, str] | None = None,
) -> tuple[Candidates, Sequence[Condition], bool]:
    """The same for what a query seeks, once it is read."""
    find = partial(
        find_entities,
        services.acting(settings_of(caller)).reader,
        caller,
        project_id=project_id,
        types=types,
        limit=RESULTS_MAX,
        filters=filters or {},
    )
    found = await find(intent)
    is_met = bool(found.entities) or not intent.where
    return found if is_met else await find(WorkspaceIntent(query)), intent.where, is_met


def message(found: Candidates, filters: Sequence[str], *, is_met: bool) -> str:
    """A message about the result and its filters."""
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
