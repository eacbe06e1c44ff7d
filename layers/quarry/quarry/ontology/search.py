"""Ontology search: one list over all kinds of entities in the caller's workspace.

Conditions in a query (status, assignee, due date, project) filter; the other words are searched for. SQL functions match and
score; there is nothing to fuse, and no model is needed.
"""

from __future__ import annotations

import datetime
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, cast
from uuid import UUID

from psycopg.sql import SQL, Composable, Identifier, Literal

from quarry.agent.reading import read_over
from quarry.agent.sources import DataAccess
from quarry.agent.tools import Hit
from quarry.answering.asking import Asking, answered
from quarry.answering.contract import RESULTS_MAX, AnswerData
from quarry.answering.toolset import Toolset
from quarry.domains import module
from quarry.language.messages import gettext, gettext_noop, ngettext, writing
from quarry.ontology.contract import (
    ENTITY_TYPES,
    EntityResult,
    EntityType,
    FinalAnswerEvent,
    OntologyAnswer,
    OntologyAskRequest,
    OntologySearchRequest,
    OntologySearchResponse,
    WholeEntity,
)
from quarry.ontology.tables import TABLES
from quarry.platform.errors import NotFound
from quarry.platform.off_loop import off_loop
from quarry.platform.text import mark, unmark
from quarry.postgres.pool import Database
from quarry.query.execute import RowConditions
from quarry.query.phrases import Phrases
from quarry.reader.names import SourceName
from quarry.reader.reading import LikelyCondition, Reading, excluded_values, likely_conditions, remaining_words
from quarry.runs.run_log import ResultRecord, Run
from quarry.schema.algebra import Comparison, Condition
from quarry.schema.source import ACTOR_SETTING, Schema
from quarry.services.services import Caller, Services
from quarry.streaming.events import Event

SCHEMA = Schema(module("ontology", "sources").SOURCES)
"""The caller's entities as sources, one for each type."""


def settings_of(caller: Caller) -> Mapping[str, str]:
    """The setting that tells the database whose workspace is read."""
    return {ACTOR_SETTING: caller.user_id}


def labels(conditions: Sequence[Condition]) -> list[str]:
    """The conditions in words."""
    # all types have the same fields
    phrases = Phrases(SCHEMA, SCHEMA.sources["task"], datetime.date.min)
    return [phrases.condition(each) for each in conditions]


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
    filters: Mapping[str, str],
) -> Candidates:
    """The caller's best entities, at most RESULTS_MAX, of all types if `types` is empty. Entities of a type in `filters` must
    also meet its SQL condition. The database must know who the caller is.

    Raises NotFound for a project that is not theirs.
    """
    narrowing: dict[str, Any] = {"types": list(types) or None}
    if intent.where:
        searched_types = [each for each in types or ENTITY_TYPES if each in intent.types] if intent.types else types
        narrowing = await _meeting(database, caller, intent, searched_types or ENTITY_TYPES)
    parameters = {"actor_id": caller.user_id, "query": intent.text, "project_id": project_id, "limit": RESULTS_MAX}
    rows = await database.rows(_FILTERED if intent.where else _SEARCH, parameters | narrowing)
    if not rows[0]["project_is_known"]:
        raise NotFound(gettext_noop("You have no project with this id."))
    entity_rows = [row for row in rows if row["id"] is not None]
    entities = tuple(EntityCandidate(**{name: row[name] for name in _FIELDS}) for row in entity_rows)
    if not entity_rows:
        return Candidates((), 0)
    more = len(narrowing["ids"]) > FILTERED_MAX if intent.where else entity_rows[0]["more"]
    return await _filtered(database, Candidates(entities, entity_rows[0]["total"], more), filters)


async def _filtered(database: Database, candidates: Candidates, filters: Mapping[str, str]) -> Candidates:
    """The entities that meet the SQL condition of their type, if it has one."""
    if not filters:
        return candidates
    keys = set[tuple[str, str]]()
    for type, condition in filters.items():
        ids = [each.id for each in candidates.entities if each.type == type]
        # made by `RowConditions`, which quotes every name and value
        rows = await database.rows(
            SQL("select t.id from {} t where t.id = any({}::text[]) and {}").format(
                Identifier(TABLES[cast("EntityType", type)]), Literal(ids), SQL(condition)
            )
        )
        keys |= {(type, row["id"]) for row in rows}
    return replace(candidates, entities=tuple(each for each in candidates.entities if (each.type, each.id) in keys))


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
        due=SQL(SCHEMA.sources[type].facets["due"].value),
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
        raise NotFound(gettext_noop("You have no project with this id."))
    return str(row["name"])


async def whole_entity(database: Database, caller: Caller, type: EntityType, entity_id: str) -> WholeEntity:
    """One of the caller's entities with its props and project. Raises NotFound."""
    rows = await database.call("onto_entity_details", p_actor_id=caller.user_id, p_type=type, p_id=entity_id)
    if not rows:
        raise NotFound(gettext("You have no {type} with this id.", type=type))
    return WholeEntity.model_validate(rows[0])


LIKELY = 0.5
"""The least probability of a required condition; the words of a less likely one are searched for."""
WHOLE = 0.9
"""The least likeness of words to a name."""
STATED_MIN = 0.5
"""More than this share of a value must be said for a condition to be required."""
PREFERRED = 0.2
"""The least probability of a preferred condition."""
_ABSENCE = frozenset(("is_null", "not_null"))
_DOMAIN = "ontology"


@dataclass(frozen=True)
class WorkspaceIntent:
    """What a query seeks: entities that meet all conditions in `where`, of these `types` if it names any, found by the words of
    `text`; those that meet `preferred` conditions come first.
    """

    text: str
    where: tuple[Condition, ...] = ()
    preferred: tuple[Condition, ...] = ()
    types: tuple[EntityType, ...] = ()


def access_of(types: Sequence[EntityType], caller: Caller) -> DataAccess:
    """The caller's entities of these types, or of all, as sources."""
    names: list[str] = [*dict.fromkeys(types)] or [*SCHEMA.sources]
    return DataAccess(SCHEMA, caller, settings_of(caller), {name: (_DOMAIN, name) for name in names})


def intent_of(reading: Reading) -> WorkspaceIntent:
    """What a question seeks, from its reading."""
    mentions, likely = reading.mentions, likely_conditions(reading)
    required = [each for each in likely if _is_required(each, reading)]
    narrowing = [each for each in required if not each.is_denied]
    type, type_mask = _type_and_words(reading)
    mask = type_mask
    for each in required:
        mask |= each.mask
    text = remaining_words(mentions, mask)
    if not required or (text and not narrowing):
        # exclusions alone leave nearly everything: the search by words applies them
        return WorkspaceIntent(with_exclusions(reading))
    fields_required = {name for each in required for name in each.fields}
    preferred = tuple(
        each.condition
        for each in likely
        if each not in required
        and each.chance >= PREFERRED
        and not (each.ops & _ABSENCE or each.fields & fields_required)
    )
    return WorkspaceIntent(text, tuple(each.condition for each in required), preferred, (type,) if type else ())


def _is_required(each: LikelyCondition, reading: Reading) -> bool:
    """Whether a condition is likely enough to be required."""
    if each.chance < LIKELY or each.stated <= STATED_MIN or (each.ops & _ABSENCE and reading.verdict == "refused"):
        return False
    if each.ops & {"contains"} or (each.mask & _type_words(reading) and reading.verdict == "refused"):
        return False  # words are searched for, and the noun "plan" hardly means a status
    facets = SCHEMA.sources["task"].facets
    # a name of a kind may also occur in a text
    return each.ops != {"not_null"} and all(name not in facets or facets[name].is_hard for name in each.fields)


def _type_words(reading: Reading) -> int:
    """The words that name types, as bits."""
    mask = 0
    for name, places in reading.mentions.places.items():
        if isinstance(name, SourceName) and places[0].likeness >= WHOLE:
            mask |= places[0].mask
    return mask


def _type_and_words(reading: Reading) -> tuple[EntityType | None, int]:
    """The type that a question names and likely asks for, with the words that name it."""
    chances: dict[str, float] = {}
    for candidate, chance in reading.shares:
        name = candidate.query["source"]
        chances[name] = chances.get(name, 0.0) + chance
    for source_name, places in reading.mentions.places.items():
        if isinstance(source_name, SourceName) and chances.get(source_name.name, 0.0) >= LIKELY:
            return cast("EntityType", source_name.name), places[0].mask
    return None, 0


def with_exclusions(reading: Reading) -> str:
    """The text of a question with each value that it likely rules out written as an exclusion."""
    mentions, pieces, last = reading.mentions, list[str](), 0
    excluded = sorted(excluded_values(reading, LIKELY), key=lambda each: each.place.first)
    for value in excluded:
        start, end = mentions.tokens[value.place.first].start, mentions.tokens[value.place.last - 1].end
        pieces.append(mentions.text[last:start].strip())
        last = end
    # a quotation mark would end the exclusion
    values = dict.fromkeys(link.value.replace('"', " ") for each in excluded for link in each.links)
    return " ".join(filter(None, (*pieces, mentions.text[last:].strip(), *(f'-"{value}"' for value in values))))


async def search_ontology(
    request: OntologySearchRequest, caller: Caller, services: Services, request_id: str | None = None
) -> OntologySearchResponse:
    """The caller's entities for a query, best first. Raises NotFound for a project that is not theirs, DatabaseUnavailable."""
    with services.run("ontology", caller, request.query, request.as_asked(), request_id=request_id) as run:
        with run.step("retrieve") as record:
            candidates, where, is_met = await search_workspace(
                request.query, request.types or (), caller, services, project_id=request.project_id
            )
            record.counts["found"] = candidates.total
        run.results = [ResultRecord(entity.type, entity.id, entity.score) for entity in candidates.entities]
        run.end_reason = "answered"
    return OntologySearchResponse(
        results=[result_of(entity) for entity in candidates.entities],
        total=candidates.total,
        message=message(candidates, labels(where), is_met=is_met),
        more=candidates.more or None,
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
    intent: WorkspaceIntent | None = None,
) -> tuple[Candidates, Sequence[Condition], bool]:
    """The caller's best entities for a query, the conditions that it states, and whether any entity meets them; if not, entities
    are found by words alone. `filters` are SQL conditions by type that always hold; `intent` is what the query seeks, if it is
    read already.

    Raises NotFound for a project that is not the caller's, and DatabaseUnavailable.
    """
    if intent is None:
        access, today = access_of(types, caller), datetime.datetime.now(datetime.UTC).date()
        intent = await off_loop(intent_of, await read_over(query, [*access.homes], access, services, today))
    database = services.acting(settings_of(caller)).reader
    find = partial(find_entities, database, caller, project_id=project_id, types=types, filters=filters or {})
    candidates = await find(intent)
    is_met = bool(candidates.entities) or not intent.where
    return candidates if is_met else await find(WorkspaceIntent(query)), intent.where, is_met


def message(candidates: Candidates, filters: Sequence[str], *, is_met: bool) -> str:
    """A message about the result and its filters."""
    size, conditions = _size(candidates), "; ".join(filters)
    if not filters:
        return size
    if is_met:
        return " ".join([size, gettext("Filtered by: {conditions}.", conditions=conditions)])
    return " ".join([gettext("Nothing has {conditions}. By its words:", conditions=conditions), size])


def _size(candidates: Candidates) -> str:
    if not candidates.entities:
        return gettext("Nothing found. Try other words, or search without project and types.")
    matches = sum(entity.is_match for entity in candidates.entities)
    size = len(candidates.entities)
    if matches == 0:
        return ngettext(
            "Nothing matches the whole query; this is nearest to it.",
            "Nothing matches the whole query; these are nearest to it.",
            size,
        )
    if size < candidates.total or candidates.more:
        total = writing().number(candidates.total)
        total = gettext("at least {number}", number=total) if candidates.more else total
        return gettext(
            "The best {shown} of {total}. Name a project or types to narrow the search.", shown=size, total=total
        )
    text = ngettext("{number} match", "{number} matches", matches)
    return (
        gettext("{matches}, and {number} near.", matches=text, number=size - matches) if size > matches else f"{text}."
    )


def answer_about_projects(
    request: OntologyAskRequest,
    caller: Caller,
    services: Services,
    request_id: str | None = None,
    run_id: UUID | None = None,
) -> AsyncGenerator[Event]:
    """The events of one answer. A failing model degrades steps and never ends the stream; a failing database does. Raises
    NotFound for a project that is not the caller's.
    """

    async def begin(run: Run) -> AskingProjects:
        return await AskingProjects.of(request, caller, services, run)

    return answered(request, "ontology", begin, caller, services, request_id, run_id)


@dataclass(kw_only=True)
class ProjectTools(Toolset):
    """The general tools over the caller's entities, within the project that the request names."""

    project: str | None = None

    def required(self, name: str) -> Sequence[Condition]:
        return () if self.project is None else (Comparison(field="project", value=self.project),)


@dataclass
class AskingProjects(Asking[EntityCandidate]):
    """A question about the caller's entities."""

    step = "ontology_answer"
    about = "the projects of a user's workspace: tasks, plans, goals, milestones, documents, outputs and requirements"
    notes = (
        "What the words of the user call a project, a person or a status is a value; "
        "look it up with `values` if it is not below."
    )

    request: OntologyAskRequest
    tools: ProjectTools

    @classmethod
    async def of(cls, request: OntologyAskRequest, caller: Caller, services: Services, run: Run) -> AskingProjects:
        """The question over the caller's entities. Raises NotFound for a project that is not the caller's."""
        access = access_of(request.types or (), caller)
        acting = access.acting(services)
        project = None if request.project_id is None else await project_name(acting.reader, caller, request.project_id)
        tools = ProjectTools(
            services=services,
            caller=caller,
            run=run,
            access=access,
            today=datetime.datetime.now(datetime.UTC).date(),
            names=[*access.homes],
            project=project,
        )
        return cls(request, tools)

    @property
    def facts(self) -> str:
        return "" if self.tools.project is None else f"the project {self.tools.project}"

    async def search(self, text: str) -> str:
        return await self._find(WorkspaceIntent(text))

    async def by_words(self, reading: Reading) -> str:
        return await self._find(await off_loop(intent_of, reading))

    async def _find(self, intent: WorkspaceIntent) -> str:
        """Set what is found for what the question seeks; what was found in a line."""
        tools, request = self.tools, self.request
        with tools.run.step("retrieve"):
            candidates, where, is_met = await search_workspace(
                request.question,
                request.types or (),
                tools.caller,
                tools.services,
                project_id=request.project_id,
                intent=intent,
            )
        self.matches, self.total = candidates.entities, candidates.total
        return message(candidates, labels(where), is_met=is_met)

    async def rows(self, keys: Sequence[tuple[str, str]]) -> Sequence[EntityCandidate]:
        return await entities_of(self.tools.access.acting(self.tools.services).reader, self.tools.caller, keys)

    def hit(self, row: EntityCandidate) -> Hit:
        return Hit(source=row.type, id=row.id, title=row.title, text=unmark(mark(row.snippet)))

    def final(self, data: AnswerData) -> Event:
        results = [result_of(each) for each in self.matches[:RESULTS_MAX]]
        return FinalAnswerEvent(data=OntologyAnswer(results=results, **dict(data)))
