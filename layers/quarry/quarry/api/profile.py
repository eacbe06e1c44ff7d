"""What the function `profile` serves."""

from quarry.core.web import me_routes
from quarry.people.access import profile_routes

ROUTERS = (profile_routes.router, me_routes.router)
