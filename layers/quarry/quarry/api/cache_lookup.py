"""What the function `cache_lookup` serves."""

from quarry.records import answer_routes

ROUTERS = (answer_routes.router,)
