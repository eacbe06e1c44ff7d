"""A client of Quarry's HTTP API: typed, with streams, retries and one exception for each kind of error. docs/client.md shows it.

It imports the contracts of the domains, but none of their logic.
"""

from quarry.client.clients import AsyncClient, Client
from quarry.client.errors import (
    Conflict,
    ConnectionFailed,
    Forbidden,
    Gone,
    InvalidInput,
    NotAuthenticated,
    NotEnoughCredits,
    NotFound,
    QuarryError,
    RateLimited,
    SearchFailed,
    Unavailable,
    UnexpectedAnswer,
)
from quarry.client.routes.written import CampaignsEvent, CompaniesEvent, RecordsEvent
from quarry.client.streams import AsyncStream, Stream
from quarry.platform.text import unmark

__all__ = [
    "AsyncClient",
    "AsyncStream",
    "CampaignsEvent",
    "Client",
    "CompaniesEvent",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "Gone",
    "InvalidInput",
    "NotAuthenticated",
    "NotEnoughCredits",
    "NotFound",
    "QuarryError",
    "RateLimited",
    "RecordsEvent",
    "SearchFailed",
    "Stream",
    "Unavailable",
    "UnexpectedAnswer",
    "unmark",
]
