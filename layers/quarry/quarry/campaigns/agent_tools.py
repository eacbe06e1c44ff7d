"""What agents are offered of campaigns besides the tools over every source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quarry.agent.domain_tools import AgentPrompt, AgentTemplate
from quarry.campaigns.retrieval import campaign_by_id
from quarry.services.services import Caller, Services


async def _get(variables: Mapping[str, str], caller: Caller, services: Services) -> dict[str, Any]:
    return (await campaign_by_id(services.reader, variables["id"])).model_dump(mode="json", exclude_none=True)


AGENT_TEMPLATES = (
    AgentTemplate(
        "quarry://campaigns/{id}", "campaign", "A campaign", "One campaign, whole, with all of its copy.", _get
    ),
)

AGENT_PROMPTS = (
    AgentPrompt(
        "compare_advertisers",
        "Compare two advertisers",
        "How two advertisers differ in channels, offers, promises and tone.",
        {"first": "the one advertiser", "second": "the other advertiser"},
        "Compare how {first} and {second} advertise. Find the campaigns of each with `search`, take numbers from `query` alone, "
        "and read a few of each whole with `get`. Say what differs in channels, offers, promises and tone, and quote the copy.",
    ),
)
