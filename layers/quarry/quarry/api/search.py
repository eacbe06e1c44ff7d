"""What the function `search` serves."""

from quarry.core.web import service_routes
from quarry.people import routes as people_routes
from quarry.records import routes as records_routes

ROUTERS = (service_routes.router, records_routes.router, people_routes.router)
