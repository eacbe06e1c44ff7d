"""What the function `search` serves."""

from quarry.agent import routes as query_routes
from quarry.api import agents, completions
from quarry.domains import modules
from quarry.web import run_routes, service_routes

ROUTERS = (
    service_routes.router,
    run_routes.router,
    query_routes.router,
    *(module.router for module in modules("routes").values()),
    *agents.ROUTERS,
    *completions.ROUTERS,
)
