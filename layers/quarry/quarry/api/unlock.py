"""What the function `unlock` serves."""

from quarry.people import unlock_routes

ROUTERS = (unlock_routes.router,)
