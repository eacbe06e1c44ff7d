"""What the function `console` serves."""

from quarry.domains import searched_tables
from quarry.web import page_routes
from quarry.web.console_routes import console_router

ROUTERS = (page_routes.router, console_router(searched_tables))
