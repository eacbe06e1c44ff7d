"""Reads a workspace from Postgres. Every statement is limited to the caller, whom a model never chooses."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from psycopg.sql import SQL, Composable, Identifier, Literal

from quarry.ontology.contract import ENTITY_TYPES, EntityType, WholeEntity
from quarry.ontology.facets import SEARCHED_BY_TYPE
from quarry.ontology.reading import WorkspaceIntent
from quarry.ontology.sources import SCHEMA
from quarry.ontology.tables import TABLES
from quarry.platform.errors import NotFound
from quarry.postgres.pool import Database
from quarry.query.algebra import Condition
from quarry.query.execute import RowConditions
from quarry.services.services import Caller

FILTERED_MAX = 2_000
"""How many entities that meet the conditions are ranked, those due first."""


@dataclass(frozen=True)
class EntityCandidate:
    """An entity of the caller's. `snippet` marks the matched words as `platform.snippet` says. `is_match`: it contains every word
    of the query, or has a similar title; others are merely near.
    """

    type: EntityType
    id: str
    project_id: str
    project_name: str | None
    title: str
    snippet: str
    score: float
    is_match: bool


@dataclass(frozen=True)
class Candidates:
    """The best entities for a query, and the number of all; a lower bound with `more`."""

    entities: tuple[EntityCandidate, ...]
    total: int
    more: bool = False


_FIELDS = tuple(field.name for field in fields(EntityCandidate))

# one round trip: whether the project is the caller's, and the entities found
_KNOWN_PROJECT = """
select k.project_is_known, e.*
from (
  select %(project_id)s::text is null
    or exists (select from onto_projects p where p.id = %(project_id)s and p.created_by = %(actor_id)s) as project_is_known
) k
left join {} e on k.project_is_known
"""
_SEARCH = _KNOWN_PROJECT.format("onto_search_entities(%(actor_id)s, %(query)s, %(project_id)s, %(types)s, %(limit)s)")
_FILTERED = _KNOWN_PROJECT.format(
    "onto_filtered_entities(%(actor_id)s, %(query)s, %(project_id)s, %(types)s, %(ids)s, %(preferred)s, %(limit)s)"
)


async def find_entities(
    database: Database,
    caller: Caller,
    intent: WorkspaceIntent,
    *,
    project_id: str | None,
    types: Sequence[EntityType],
    limit: int,
    filters: Mapping[str, str],
) -> Candidates:
    """The caller's best `limit` entities, of all types if `types` is empty. Entities of a type in `filters` must also meet its
    SQL condition. The database must know who the caller is.

    Raises NotFound for a project that is not theirs.
    """
    wanted: dict[str, Any] = {"types": list(types) or None}
    if intent.where:
        chosen = [each for each in types or ENTITY_TYPES if each in intent.types] if intent.types else types
        wanted = await _meeting(database, caller, intent, chosen or ENTITY_TYPES)
    parameters = {"actor_id": caller.user_id, "query": intent.text, "project_id": project_id, "limit": limit, **wanted}
    rows = await database.rows(_FILTERED if intent.where else _SEARCH, parameters)
    if not rows[0]["project_is_known"]:
        raise NotFound("You have no project with this id.")
    found = [row for row in rows if row["id"] is not None]
    entities = tuple(EntityCandidate(**{name: row[name] for name in _FIELDS}) for row in found)
    if not found:
        return Candidates((), 0)
    more = len(wanted["ids"]) > FILTERED_MAX if intent.where else found[0]["more"]
    return await _filtered(database, Candidates(entities, found[0]["total"], more), filters)


async def _filtered(database: Database, found: Candidates, filters: Mapping[str, str]) -> Candidates:
    """The entities that meet the SQL condition of their type, if it has one."""
    if not filters:
        return found
    kept = set[tuple[str, str]]()
    for type, condition in filters.items():
        ids = [each.id for each in found.entities if each.type == type]
        # made by `RowConditions`, which quotes every name and value
        rows = await database.rows(
            SQL("select t.id from {} t where t.id = any({}::text[]) and {}").format(
                Identifier(TABLES[cast("EntityType", type)]), Literal(ids), SQL(condition)
            )
        )
        kept |= {(type, row["id"]) for row in rows}
    return replace(found, entities=tuple(each for each in found.entities if (each.type, each.id) in kept))


async def _meeting(
    database: Database, caller: Caller, intent: WorkspaceIntent, types: Sequence[EntityType]
) -> dict[str, Any]:
    """The entities of these types that meet all conditions, by preferred conditions met, then by due date."""
    parameters: dict[str, Any] = {"actor_id": caller.user_id, "most": FILTERED_MAX + 1}
    parts = [_of_type(type, intent, parameters) for type in types]
    rows = await database.rows(
        SQL("select * from ({}) e order by preferred desc, due nulls last, type, id limit %(most)s").format(
            SQL(" union all ").join(parts)
        ),
        parameters,
    )
    return {name: [row[column] for row in rows] for name, column in _COLUMNS.items()}


_COLUMNS: Mapping[str, str] = {"types": "type", "ids": "id", "preferred": "preferred"}


def _of_type(type: EntityType, intent: WorkspaceIntent, parameters: dict[str, Any]) -> Composable:
    today = datetime.datetime.now(datetime.UTC).date()

    def met(conditions: Sequence[Condition]) -> Composable:
        return RowConditions(type, SCHEMA, today, parameters).met(conditions)

    preferred: list[Composable] = [SQL("coalesce({}, false)::int").format(met([each])) for each in intent.preferred]
    return SQL(
        "select e.type, e.id, {preferred} as preferred, {due} as due from onto_search_entries e join {table} t on t.id = e.id"
        " where e.created_by = %(actor_id)s and e.type = {type} and {met}"
    ).format(
        preferred=SQL(" + ").join(preferred or [SQL("0")]),
        due=SQL(SEARCHED_BY_TYPE[type].facet("due").sql),
        table=Identifier(TABLES[type]),
        type=type,
        met=met(intent.where),
    )


async def entities_of(database: Database, caller: Caller, keys: Sequence[tuple[str, str]]) -> list[EntityCandidate]:
    """The caller's entities with these types and ids, in this order."""
    rows = await database.rows(
        """select e.type, e.id, e.project_id, p.name as project_name, e.title
           from unnest(%(types)s::text[], %(ids)s::text[]) with ordinality k (type, id, place)
           join onto_search_entries e on e.type = k.type and e.id = k.id and e.created_by = %(actor_id)s
           left join onto_projects p on p.id = e.project_id and p.created_by = e.created_by order by k.place""",
        {"types": [type for type, _ in keys], "ids": [id for _, id in keys], "actor_id": caller.user_id},
    )
    return [EntityCandidate(**row, snippet="", score=0.0, is_match=True) for row in rows]


async def project_name(database: Database, caller: Caller, project_id: str) -> str:
    """The name of a project of the caller's. Raises NotFound."""
    row = await database.row(
        "select name from onto_projects where id = %s and created_by = %s", [project_id, caller.user_id]
    )
    if row is None:
        raise NotFound("You have no project with this id.")
    return str(row["name"])


async def whole_entity(database: Database, caller: Caller, type: EntityType, entity_id: str) -> WholeEntity:
    """One of the caller's entities with its props and project. Raises NotFound."""
    rows = await database.call("onto_entity_details", p_actor_id=caller.user_id, p_type=type, p_id=entity_id)
    if not rows:
        raise NotFound(f"You have no {type} with this id.")
    return WholeEntity.model_validate(rows[0])
