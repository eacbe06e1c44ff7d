"""What the functions serve together, and a local server by itself."""

from quarry.api import cache_lookup, console, profile, search, unlock

ROUTERS = (*search.ROUTERS, *unlock.ROUTERS, *profile.ROUTERS, *cache_lookup.ROUTERS, *console.ROUTERS)
