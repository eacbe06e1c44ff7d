"""`POST /mcp`: tools for clients of the Model Context Protocol, over stateless streamable HTTP with JSON answers.

Each request gets its own server, bound to its caller. The SDK is slow to import, so the first request does it, in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from quarry.agent.server import AgentServer, offer
from quarry.web.requests import PlainCaller, ServicesDependency, take_place

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

_MESSAGE = {
    "type": "object",
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": {"description": "A text or a whole number. A message with any other, or none, is a notification."},
        "method": {"type": "string"},
        "params": {"anyOf": [{"type": "object"}, {"type": "null"}]},
    },
    "required": ["jsonrpc", "method"],
}
_RESPONSE = {
    "type": "object",
    "properties": {"jsonrpc": {"const": "2.0"}, "result": {"type": "object"}, "error": {"type": "object"}},
    "required": ["jsonrpc"],
}
_REQUEST = {"requestBody": {"required": True, "content": {"application/json": {"schema": _MESSAGE}}}}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The response to a request", "content": {"application/json": {"schema": _RESPONSE}}},
    202: {"description": "A notification was taken"},
    400: {
        "description": "Not JSON, or not a message of the protocol",
        "content": {"application/json": {"schema": _RESPONSE}},
    },
    406: {
        "description": "The client takes neither JSON nor an event stream",
        "content": {"application/json": {"schema": _RESPONSE}},
    },
}

SPENDING = "Set in the address by the user, to offer tools that cost credits too. No agent can set it."

RESULTS = (
    "The form of tools' results: structured content, or JSON in a text for clients that show their model texts alone."
)

router = APIRouter(tags=["agents"])


@router.post("/mcp", response_class=Response, responses=_RESPONSES, openapi_extra=_REQUEST)
async def mcp(
    request: Request,
    caller: PlainCaller,
    services: ServicesDependency,
    spending: Annotated[Literal["allowed"] | None, Query(description=SPENDING)] = None,
    results: Annotated[Literal["structured", "text"], Query(description=RESULTS)] = "structured",
) -> Response:
    """One message of the Model Context Protocol (stateless streamable HTTP)."""
    charge = partial(take_place, services, caller)
    server = AgentServer(offer(), caller, services, charge, may_spend=spending is not None, results=results)
    return _Exchange(server)


class _Exchange(Response):
    """The answer to one message: the SDK reads the body of the request and writes the response."""

    def __init__(self, server: AgentServer) -> None:
        super().__init__()
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager, security = await asyncio.to_thread(_imported)
        # it logs every start and end of a server, which here is every request
        logging.getLogger("mcp").setLevel(logging.WARNING)
        scope, takes_json = _with_accept(scope)
        exchange = manager(
            self._server.protocol(),
            json_response=takes_json,
            stateless=True,
            # the application has its own gates
            security_settings=security(enable_dns_rebinding_protection=False),
        )
        async with exchange.run():
            await exchange.handle_request(scope, receive, send)


def _with_accept(scope: Scope) -> tuple[Scope, bool]:
    """The request in a form that the SDK accepts, and whether its client takes JSON. By the protocol, clients accept JSON and
    event streams; one that accepts a single type gets that type, and one that names none gets JSON.
    """
    accepted = ",".join(Headers(scope=scope).getlist("accept"))
    types = {each.partition(";")[0].strip().lower() for each in accepted.split(",")} - {""}
    takes_json = not types or not types.isdisjoint(("application/json", "application/*", "*/*"))
    headers = MutableHeaders(raw=[*scope["headers"]])
    if not types or (not takes_json and not types.isdisjoint(("text/event-stream", "text/*"))):
        headers["Accept"] = "*/*"
    elif "accept" in headers:
        # of several lines the SDK reads only the first
        headers["Accept"] = accepted
    return {**scope, "headers": headers.raw}, takes_json


def _imported() -> tuple[type[StreamableHTTPSessionManager], type[TransportSecuritySettings]]:
    """The classes of the SDK that are used here."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    return StreamableHTTPSessionManager, TransportSecuritySettings
