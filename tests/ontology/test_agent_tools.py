"""The workspace as seen by external agents."""

from __future__ import annotations

import pytest

from quarry.ontology.agent_tools import AGENT_TEMPLATES, AGENT_TOOLS
from quarry.platform.errors import InvalidInput, NotFound
from quarry.services.services import Caller, Services

TOOLS = {tool.name: tool for tool in AGENT_TOOLS}
[ENTITY] = AGENT_TEMPLATES
DEMO, NOOR = Caller("demo"), Caller("noor")


async def test_a_search_result_can_be_opened_whole(sample_services: Services) -> None:
    found = await TOOLS["search_ontology"].call({"query": "threat model"}, DEMO, sample_services)
    first = found["results"][0]
    assert (first["type"], first["id"]) == ("document", "fieldnote-2-document-02")
    assert "<mark>" not in first["snippet"]
    assert "`get`" in found["next"]
    key = first["type"], first["id"]
    whole = await ENTITY.read(*key, DEMO, sample_services)
    assert whole["props"]["body_markdown"].startswith("Assets:")
    with pytest.raises(NotFound):
        await ENTITY.read(*key, NOOR, sample_services)


@pytest.mark.parametrize("name", TOOLS)
def test_an_agent_cannot_choose_the_owner_of_the_workspace(name: str) -> None:
    properties = TOOLS[name].parameters["properties"]
    assert set(properties) <= {"query", "project_id", "types", "type", "id"}


async def test_wrong_arguments_are_named(sample_services: Services) -> None:
    with pytest.raises(InvalidInput, match="created_by"):
        await TOOLS["search_ontology"].call({"query": "x", "created_by": "noor"}, DEMO, sample_services)
