"""What the function `profile` serves."""

from quarry.people import profile_routes

ROUTERS = (profile_routes.router,)
