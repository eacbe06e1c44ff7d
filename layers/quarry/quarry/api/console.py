"""What the function `console` serves."""

from quarry.web import console_routes, page_routes

ROUTERS = (page_routes.router, console_routes.router)
