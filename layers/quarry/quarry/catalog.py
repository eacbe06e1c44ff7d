"""All domains at one glance: the routes of each function, the tables that can be loaded, embedded and cleaned up."""

from __future__ import annotations

from quarry.core.cleanup import CORE_EXPIRING
from quarry.core.web import service_routes
from quarry.records import routes as records_routes
from quarry.records import tables as records_tables

SEARCH_ROUTERS = (service_routes.router, records_routes.router)
CACHE_LOOKUP_ROUTERS = (records_routes.answers_router,)
ALL_ROUTERS = (*SEARCH_ROUTERS, *CACHE_LOOKUP_ROUTERS)

LOADABLE = {table.name: table for table in records_tables.LOADABLE}
EMBEDDED = {table.name: table for table in records_tables.EMBEDDED}
EXPIRING = (*CORE_EXPIRING, *records_tables.EXPIRING)
