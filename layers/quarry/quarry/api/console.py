"""What the function `console` serves."""

from quarry.core.web.console_routes import console_router
from quarry.records import tables as records_tables

ROUTERS = (console_router({"companies": ("companies",), "records": tuple(records_tables.TABLES.values())}),)
