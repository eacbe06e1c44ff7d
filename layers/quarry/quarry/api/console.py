"""What the function `console` serves."""

from quarry.core.web.console_routes import console_router
from quarry.people import tables as people_tables
from quarry.records import tables as records_tables

ROUTERS = (
    console_router(
        {
            "companies": ("companies",),
            "people": tuple(table.name for table in people_tables.LOADABLE),
            "records": tuple(records_tables.TABLES.values()),
        }
    ),
)
