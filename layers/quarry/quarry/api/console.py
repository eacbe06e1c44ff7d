"""What the function `console` serves."""

from quarry.campaigns import tables as campaigns_tables
from quarry.core.web.console_routes import console_router
from quarry.ontology import tables as ontology_tables
from quarry.records import tables as records_tables

ROUTERS = (
    console_router(
        {
            "campaigns": tuple(table.name for table in campaigns_tables.LOADABLE),
            "ontology": tuple(ontology_tables.TABLES.values()),
            "records": tuple(records_tables.TABLES.values()),
        }
    ),
)
