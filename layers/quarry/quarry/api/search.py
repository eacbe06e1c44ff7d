"""What the function `search` serves."""

from quarry.api import agents
from quarry.campaigns import routes as campaigns_routes
from quarry.companies import routes as companies_routes
from quarry.core.web import service_routes
from quarry.ontology import routes as ontology_routes
from quarry.people import routes as people_routes
from quarry.records import routes as records_routes

ROUTERS = (
    service_routes.router,
    companies_routes.router,
    records_routes.router,
    people_routes.router,
    ontology_routes.router,
    campaigns_routes.router,
    *agents.ROUTERS,
)
