"""The tools of all domains for other people's agents, and the route that serves them."""

from quarry.core.agent_tools import AgentTool
from quarry.core.web.mcp import mcp_router
from quarry.domains import modules

AGENT_TOOLS: tuple[AgentTool, ...] = tuple(
    tool for module in modules("agent_tools").values() for tool in module.AGENT_TOOLS
)

ROUTERS = (mcp_router(AGENT_TOOLS),)
