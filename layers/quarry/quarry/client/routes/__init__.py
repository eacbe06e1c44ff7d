"""The routes of the API as methods: each function says what its call sends.

`/v1/` and `/mcp` are left to the official clients of their protocols.
"""

from quarry.client.routes.generated import GeneratedRoutes
from quarry.client.routes.written import WrittenRoutes


class Routes(WrittenRoutes, GeneratedRoutes):
    """All of them."""
