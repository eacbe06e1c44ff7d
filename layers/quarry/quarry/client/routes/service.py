"""The service itself."""

from __future__ import annotations

from quarry.client.calls import route
from quarry.client.wire import Sent
from quarry.web.contract import Health


class ServiceRoutes:
    @route("GET /health", Health, also=503)
    def health(self, *, deep: bool = False) -> Sent:
        """Whether the service can answer; `deep`: also where asking wakes its database."""
        return Sent(query={"deep": "true"} if deep else None)
