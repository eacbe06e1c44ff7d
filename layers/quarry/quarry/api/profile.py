"""What the function `profile` serves."""

from quarry.kept import routes as kept_routes
from quarry.people import profile_routes

ROUTERS = (profile_routes.router, kept_routes.router)
