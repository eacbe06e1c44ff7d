"""What the function `console` serves."""

from quarry.core.web import page_routes
from quarry.core.web.console_routes import console_router
from quarry.records import tables as records_tables

ROUTERS = (page_routes.router, console_router({"records": tuple(records_tables.TABLES.values())}))
