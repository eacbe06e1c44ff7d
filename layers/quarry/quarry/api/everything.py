"""What the functions serve together, and a local server by itself."""

from quarry.api import cache_lookup, console, search

ROUTERS = (*search.ROUTERS, *cache_lookup.ROUTERS, *console.ROUTERS)
