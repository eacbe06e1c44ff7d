"""A project workspace for agents and as a chat model: a search of its own, and what the tools over all sources need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from pydantic import Field

from quarry.agent.completions import Chat, Sources, answering
from quarry.agent.domain_tools import RESULTS_MAX, AgentPrompt, AgentTemplate, AgentTool
from quarry.agent.sources import DataAccess
from quarry.agent.tools import Filters, Hit
from quarry.ontology.contract import (
    EntityResult,
    EntityType,
    FinalAnswerEvent,
    OntologyAskRequest,
    OntologySearchRequest,
)
from quarry.ontology.search import answer_about_projects, search_ontology, search_workspace, whole_entity
from quarry.ontology.tables import TABLES
from quarry.platform.contract import LazyModel, Request
from quarry.platform.errors import NotFound
from quarry.platform.text import Identifier, QueryText, mark, unmark
from quarry.services.services import Caller, Services
from quarry.standard.agent_tools import earlier_turns, sources_of


async def search_text(
    text: str, names: Sequence[str], filters: Filters, limit: int, access: DataAccess, services: Services
) -> list[Hit]:
    """The caller's entities for a text, best first. Filters apply to the best ones. Raises DatabaseUnavailable."""
    with services.run("ontology", access.caller, text, {"text": text, "types": list(names)}) as run:
        types = cast("Sequence[EntityType]", names)
        conditions = {name: each.condition for name, each in filters.items()}
        candidates, _, _ = await search_workspace(text, types, access.caller, services, filters=conditions)
        run.end_reason = "answered"
    return [
        Hit(source=each.type, id=each.id, title=each.title, text=unmark(mark(each.snippet)))
        for each in candidates.entities[:limit]
    ]


async def read_whole(name: str, id: str, caller: Caller, services: Services) -> dict[str, Any]:
    """All fields of one of the caller's entities. Raises NotFound, also for an unknown type, and DatabaseUnavailable."""
    if name not in TABLES:
        raise NotFound(f"There is no type {name[:64]!r}: {', '.join(TABLES)}.")
    entity = await whole_entity(services.reader, caller, name, id)
    return entity.model_dump(mode="json", exclude_none=True)


class SearchOntologyArguments(Request):
    """Arguments of `search_ontology`."""

    query: QueryText = Field(description="A few words of what is looked for, as its owner would call it.")
    project_id: Identifier | None = Field(
        default=None, description="Only in this project; leave it out to search all of them."
    )
    types: list[EntityType] = Field(default=[], max_length=14, description="Only these types; empty for all.")


class FoundEntities(LazyModel):
    """The best results. `total` is the number of all, or a lower bound with `more`."""

    total: int
    more: bool
    message: str
    results: list[EntityResult]
    next: str


async def _search(arguments: SearchOntologyArguments, caller: Caller, services: Services) -> dict[str, Any]:
    request = OntologySearchRequest.model_validate(arguments.model_dump())
    response = await search_ontology(request, caller, services)
    results = [
        result.model_dump(exclude_none=True) | {"snippet": unmark(result.snippet)}
        for result in response.results[:RESULTS_MAX]
    ]
    return {
        "total": response.total,
        "more": bool(response.more),
        "message": response.message,
        "results": results,
        "next": "`get` gives the whole of one.",
    }


AGENT_TOOLS = (
    AgentTool(
        "search_ontology",
        "Search the workspace",
        "Search the user's own project workspace: tasks, plans, goals, milestones, documents, outputs and requirements, best "
        "first, forgiving of misspellings. For things that the user describes (the email brief) without giving an id.",
        SearchOntologyArguments,
        FoundEntities,
        _search,
    ),
)

AGENT_TEMPLATES = (
    AgentTemplate(
        "quarry://ontology/{type}/{id}",
        "entity",
        "Something in the workspace",
        "One task, plan, goal, milestone, document, output or requirement of the user's, whole.",
        read_whole,
    ),
)

AGENT_PROMPTS = (
    AgentPrompt(
        "project_status",
        "Where a project stands",
        "What is planned, done and still open in a project of the user's workspace.",
        {"project": "the project, as its owner would call it"},
        "Tell me where this project stands: {project}. Search my workspace with search_ontology for its goals, plans, milestones "
        "and tasks, read those that matter whole with `get`, and say what is done, what is open, what is late and "
        "what is missing. Name what each statement rests on by its type and title, and say so where the workspace tells nothing.",
    ),
)


def _chat_request(chat: Chat) -> OntologyAskRequest:
    return OntologyAskRequest(question=chat.question, history=earlier_turns(chat))


def _sources(event: FinalAnswerEvent) -> Sources:
    answer = event.data
    details = [", ".join(filter(None, (each.type.replace("_", " "), each.project_name))) for each in answer.results]
    rows = [(each.title, detail) for each, detail in zip(answer.results, details, strict=True)]
    return sources_of("Entities", answer.response, answer.total, rows)


complete = answering(_chat_request, answer_about_projects, FinalAnswerEvent, _sources)
"""The text of the answer, and then the entities that it speaks of."""
