"""People for the tools that look through every source. Searching them costs a credit, so it is a tool of its own."""

from __future__ import annotations

from typing import Any

from quarry.agent.sources import Asked
from quarry.people.profiles import public_profile
from quarry.services.services import Services


async def read_whole(name: str, id: str, asked: Asked, services: Services) -> dict[str, Any]:
    """What everyone may see of one person. Raises NotFound and DatabaseUnavailable."""
    return (await public_profile(id, services.reader)).model_dump(mode="json")
