"""What all domains offer to other people's agents, and the route that serves it."""

from quarry.core.agent_server import Offer
from quarry.core.agent_tools import AgentTool
from quarry.core.web.mcp import mcp_router
from quarry.domains import modules

_MODULES = [*modules("agent_tools").values()]

AGENT_TOOLS: tuple[AgentTool, ...] = tuple(tool for module in _MODULES for tool in module.AGENT_TOOLS)

OFFER = Offer(
    AGENT_TOOLS,
    tuple(each for module in _MODULES for each in getattr(module, "AGENT_RESOURCES", ())),
    tuple(each for module in _MODULES for each in getattr(module, "AGENT_PROMPTS", ())),
)

ROUTERS = (mcp_router(OFFER),)
