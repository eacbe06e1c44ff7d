"""What all domains offer to other people's agents, and the route that serves it."""

from functools import cache

from quarry.core.agent_server import Offer
from quarry.core.web.mcp import mcp_router
from quarry.domains import modules


@cache
def offer() -> Offer:
    """All of it. The searches are imported with it."""
    from quarry.agent import agent_tools as of_all

    found = [of_all, *modules("agent_tools").values()]
    return Offer(
        tuple(tool for module in found for tool in module.AGENT_TOOLS),
        tuple(each for module in found for each in getattr(module, "AGENT_RESOURCES", ())),
        tuple(each for module in found for each in getattr(module, "AGENT_PROMPTS", ())),
    )


ROUTERS = (mcp_router(offer),)
