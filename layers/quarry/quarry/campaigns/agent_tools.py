"""Campaigns for other people's agents."""

from __future__ import annotations

from itertools import islice
from typing import Any, Self

from pydantic import Field, model_validator

from quarry.campaigns.contract import Campaign, EmbeddingField
from quarry.campaigns.retrieval import COUNTED_VALUES_MAX, campaign_by_id
from quarry.campaigns.search import find_campaigns
from quarry.campaigns.tools import FilterArguments
from quarry.core.agent_tools import RESULTS_MAX, TEXT_CHARACTERS_MAX, AgentPrompt, AgentTool
from quarry.core.contract import Request
from quarry.core.lazy_model import LazyModel
from quarry.core.services import Caller, Services
from quarry.core.text import Identifier, QueryText, shorten


class SearchCampaignsArguments(FilterArguments):
    """Arguments of `search_campaigns`."""

    query: QueryText | None = Field(default=None, description="What they are about, in a few words; found by meaning.")
    phrase: QueryText | None = Field(default=None, description='Words that the copy must say; "quoted" for a phrase.')
    compare: EmbeddingField = Field(default="profile", description="What `query` is compared with.")
    limit: int = Field(default=8, ge=1, le=RESULTS_MAX, description="How many to give.")

    @model_validator(mode="after")
    def _one_search(self) -> Self:
        if self.query and self.phrase:
            raise ValueError("give `query` or `phrase`, not both")
        return self


class GetCampaignArguments(Request):
    """Arguments of `get_campaign`."""

    id: Identifier = Field(description="The campaign's id, as a search gave it.")


class FoundCampaigns(LazyModel):
    """The first campaigns of a set, and how many of the whole set have each value, the most frequent ones of each field, those
    without one under the empty value; `others` are all those that have further values.
    """

    total: int
    more: bool
    counts: dict[str, dict[str, int]]
    others: dict[str, int]
    campaigns: list[Campaign]


async def _get(arguments: GetCampaignArguments, caller: Caller, services: Services) -> dict[str, Any]:
    return (await campaign_by_id(services.reader, arguments.id)).model_dump(mode="json", exclude_none=True)


async def _search(arguments: SearchCampaignsArguments, caller: Caller, services: Services) -> dict[str, Any]:
    filters = FilterArguments.model_validate({name: getattr(arguments, name) for name in FilterArguments.model_fields})
    found = await find_campaigns(
        filters, caller, services, query=arguments.query, phrase=arguments.phrase, embedding_field=arguments.compare
    )
    counted = {name: counts for name, counts in found.counts.items() if counts and name != "offer"}
    others = {
        name: found.others.get(name, 0) + sum(islice(counts.values(), COUNTED_VALUES_MAX, None))
        for name, counts in counted.items()
    }
    return {
        "total": found.total,
        "more": found.more,
        "counts": {name: dict(islice(counts.items(), COUNTED_VALUES_MAX)) for name, counts in counted.items()},
        "others": {name: number for name, number in others.items() if number},
        "campaigns": [_short(campaign) for campaign in found.campaigns[: arguments.limit]],
    }


def _short(campaign: Campaign) -> dict[str, Any]:
    fields = campaign.model_dump(mode="json", exclude_none=True, exclude={"full_campaign_text"})
    return fields | {"campaign_text": shorten(campaign.campaign_text, TEXT_CHARACTERS_MAX)}


AGENT_TOOLS = (
    AgentTool(
        "search_campaigns",
        "Search marketing campaigns",
        "Search marketing campaigns by meaning (query), by words of their copy (phrase), or by properties alone. Total and "
        "counts are exact over the whole set, unless `more` says that there are at least so many; the campaigns are its "
        "first ones, with offer, value propositions and copy.",
        SearchCampaignsArguments,
        FoundCampaigns,
        _search,
    ),
    AgentTool(
        "get_campaign",
        "Get a marketing campaign",
        "One campaign, whole, with all of its copy, by the id that search_campaigns gave.",
        GetCampaignArguments,
        Campaign,
        _get,
        resource="quarry://campaigns/{id}",
    ),
)

AGENT_PROMPTS = (
    AgentPrompt(
        "compare_advertisers",
        "Compare two advertisers",
        "How two advertisers differ in channels, offers, promises and tone.",
        {"first": "the one advertiser", "second": "the other advertiser"},
        "Compare how {first} and {second} advertise. Find the campaigns of each with search_campaigns, take numbers from its "
        "counts alone, and read a few of each whole with get_campaign. Tell what differs in channels, offers, promises and tone, "
        "with words of the copy in quotes.",
    ),
)
