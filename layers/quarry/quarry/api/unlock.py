"""What the function `unlock` serves."""

from quarry.people.access import unlock_routes

ROUTERS = (unlock_routes.router,)
