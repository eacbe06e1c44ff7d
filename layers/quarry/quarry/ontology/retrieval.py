"""A workspace out of Postgres: typed rows in. The caller goes into every statement, and a model never chooses who that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from quarry.ontology.candidates import Candidate, Candidates
from quarry.ontology.contract import EntityType, WholeEntity
from quarry.platform.errors import NotFound
from quarry.postgres.call import call
from quarry.postgres.pool import Database
from quarry.services.services import Caller

_FIELDS = tuple(field.name for field in fields(Candidate))

# One round trip: whether the project is the caller's, and what was found in it.
_SEARCH = """
select k.project_is_known, e.*
from (
  select %(project_id)s::text is null
    or exists (select from onto_projects p where p.id = %(project_id)s and p.created_by = %(actor_id)s) as project_is_known
) k
left join onto_search_entities(%(actor_id)s, %(query)s, %(project_id)s, %(types)s, %(limit)s) e on k.project_is_known
"""


async def find_entities(
    database: Database,
    caller: Caller,
    *,
    query: str,
    project_id: str | None,
    types: Sequence[EntityType] | None,
    limit: int,
) -> Candidates:
    """The caller's best `limit` entities for `query`; `types` None for all. Raises NotFound for a project that is not theirs."""
    rows = await database.rows(
        _SEARCH,
        {
            "actor_id": caller.user_id,
            "query": query,
            "project_id": project_id,
            "types": list(types) if types is not None else None,
            "limit": limit,
        },
    )
    if not rows[0]["project_is_known"]:
        raise NotFound("You have no project with this id.")
    found = [row for row in rows if row["id"] is not None]
    entities = tuple(Candidate(**{name: row[name] for name in _FIELDS}) for row in found)
    return Candidates(entities, found[0]["total"], found[0]["more"]) if found else Candidates((), 0)


async def whole_entity(database: Database, caller: Caller, type: EntityType, entity_id: str) -> WholeEntity:
    """One entity of the caller's with its props and project. Raises NotFound."""
    rows = await call(database, "onto_entity_details", p_actor_id=caller.user_id, p_type=type, p_id=entity_id)
    if not rows:
        raise NotFound(f"You have no {type} with this id.")
    return WholeEntity.model_validate(rows[0])
