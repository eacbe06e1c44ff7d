"""What the function `search` serves."""

from quarry.agent import routes as query_routes
from quarry.domains import modules
from quarry.web import mcp, openai_routes, run_routes, service_routes

ROUTERS = (
    service_routes.router,
    run_routes.router,
    query_routes.router,
    *(module.router for module in modules("routes").values()),
    mcp.router,
    openai_routes.router,
)
