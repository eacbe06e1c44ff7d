"""What the function `profile` serves."""

from quarry.people import profile_routes
from quarry.web import me_routes

ROUTERS = (profile_routes.router, me_routes.router)
