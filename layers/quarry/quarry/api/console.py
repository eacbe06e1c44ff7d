"""What the function `console` serves."""

from quarry.core.web import page_routes
from quarry.core.web.console_routes import console_router
from quarry.domains import searched_tables

ROUTERS = (page_routes.router, console_router(searched_tables))
