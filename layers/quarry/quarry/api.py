"""The routes of each function, over all domains."""

from __future__ import annotations

from quarry.core.web import service_routes
from quarry.records import routes as records_routes

SEARCH_ROUTERS = (service_routes.router, records_routes.router)
CACHE_LOOKUP_ROUTERS = (records_routes.answers_router,)
ALL_ROUTERS = (*SEARCH_ROUTERS, *CACHE_LOOKUP_ROUTERS)
