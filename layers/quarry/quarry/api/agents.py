"""What all domains offer to other people's agents, and the route that serves it."""

from functools import cache

from quarry.agent.server import Offer
from quarry.domains import modules
from quarry.web.mcp import mcp_router


@cache
def offer() -> Offer:
    """All of it. The searches are imported with it."""
    from quarry.agent import tools as of_all

    found = [of_all, *modules("agent_tools").values()]
    return Offer(
        tuple(tool for module in found for tool in getattr(module, "AGENT_TOOLS", ())),
        *(
            tuple(each for module in found for each in getattr(module, name, ()))
            for name in ("AGENT_RESOURCES", "AGENT_TEMPLATES", "AGENT_PROMPTS")
        ),
    )


ROUTERS = (mcp_router(offer),)
