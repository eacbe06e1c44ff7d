"""The routes of each function, over all domains."""

from __future__ import annotations

from quarry.core.web import service_routes
from quarry.core.web.console_routes import console_router
from quarry.records import routes as records_routes
from quarry.records import tables as records_tables

SEARCH_ROUTERS = (service_routes.router, records_routes.router)
CACHE_LOOKUP_ROUTERS = (records_routes.answers_router,)
CONSOLE_ROUTERS = (console_router({"records": tuple(records_tables.TABLES.values())}),)
ALL_ROUTERS = (*SEARCH_ROUTERS, *CACHE_LOOKUP_ROUTERS, *CONSOLE_ROUTERS)
