"""`quarry mcp`: what agents are offered, over standard input and output, for clients. `quarry tools` prints it."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Literal

from quarry.api.agents import offer
from quarry.core.agent_server import AgentServer
from quarry.core.agent_tools import openai_format
from quarry.core.services import Caller
from quarry.core.web.rate_limit import take_place
from quarry.local.database import LocalDatabase, open_database
from quarry.local.telling import write_json


def serve_agents(user: str, *, may_spend: bool) -> None:
    """Serve until standard input ends. Raises as `open_database` does."""
    with open_database() as database, database.supervised():
        asyncio.run(_serve(database, Caller(user), may_spend=may_spend))


async def _serve(database: LocalDatabase, caller: Caller, *, may_spend: bool) -> None:
    from mcp.server.stdio import stdio_server

    logging.getLogger("mcp").setLevel(logging.WARNING)
    async with database.services() as services:
        charge = partial(take_place, services, caller)
        protocol = AgentServer(offer(), caller, services, charge, may_spend=may_spend).protocol()
        async with stdio_server() as (read, write):
            await protocol.run(read, write, protocol.create_initialization_options())


def print_tools(format: Literal["openai", "mcp"]) -> None:
    """The tools as JSON, in OpenAI's function format or as `POST /mcp` lists them."""
    offered = offer().tools
    write_json(openai_format(offered) if format == "openai" else [tool.listing for tool in offered])
