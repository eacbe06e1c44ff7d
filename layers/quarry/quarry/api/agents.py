"""The tools of all domains for other people's agents, and the route that serves them."""

from quarry.campaigns import agent_tools as campaigns_tools
from quarry.companies import agent_tools as companies_tools
from quarry.core.web.mcp import mcp_router
from quarry.ontology import agent_tools as ontology_tools
from quarry.records import agent_tools as records_tools

AGENT_TOOLS = (
    *ontology_tools.AGENT_TOOLS,
    *records_tools.AGENT_TOOLS,
    *companies_tools.AGENT_TOOLS,
    *campaigns_tools.AGENT_TOOLS,
)

ROUTERS = (mcp_router(AGENT_TOOLS),)
