"""What agents are offered of records besides the tools over every source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quarry.agent.domain_tools import AgentPrompt, AgentResource, AgentTemplate
from quarry.records.collections import describe_collections, read_record
from quarry.services.services import Caller, Services


async def _get(variables: Mapping[str, str], caller: Caller, services: Services) -> dict[str, Any]:
    record = await read_record(variables["type"], variables["id"], caller, services)
    return record.model_dump(mode="json", exclude_none=True)


async def _types(caller: Caller, services: Services) -> dict[str, Any]:
    return (await describe_collections(caller, services)).model_dump(mode="json", exclude_defaults=True)


AGENT_RESOURCES = (
    AgentResource(
        "quarry://collections",
        "collections",
        "Types of record",
        "The types of record that there are, and the facets that each can be filtered and counted by; of these and every other "
        "source the fields that a Query can name.",
        _types,
    ),
)

AGENT_TEMPLATES = (
    AgentTemplate(
        "quarry://records/{type}/{id}",
        "record",
        "A record",
        "One whole record with what it is part of, by the source and id of a result.",
        _get,
    ),
)

AGENT_PROMPTS = (
    AgentPrompt(
        "answer_from_records",
        "Answer from the records",
        "A question answered from the records alone, with a source for each statement.",
        {"question": "the question, in plain words"},
        "Answer this from the records alone: {question}\n\nFind what speaks of it with `search`, in several wordings where the "
        "first finds little, and read what matters whole with `get`. Take numbers from `query` only. After each statement name "
        "the record that it rests on, by title and date. Say plainly what the records do not say.",
    ),
)
