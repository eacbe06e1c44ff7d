"""What the function `profile` serves."""

from quarry.people.access import profile_routes

ROUTERS = (profile_routes.router,)
