"""`quarry mcp`: what agents are offered, over standard input and output, for clients. `quarry tools` prints it."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Literal

import anyio

from quarry.agent.domain_tools import openai_format
from quarry.agent.server import AgentServer, offer
from quarry.local.database import LocalDatabase, open_database
from quarry.local.output import write_json
from quarry.services.services import Caller
from quarry.web.requests import take_place

if TYPE_CHECKING:  # its import takes longer than all the rest of a start
    from mcp.shared._stream_protocols import ReadStream, WriteStream
    from mcp.shared.message import SessionMessage

ANSWERS_AWAITED_SECONDS = 120.0
"""How long to wait for outstanding answers after standard input has ended."""


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
        async with stdio_server() as (reader, writer), anyio.create_task_group() as passing:
            unanswered = _Unanswered()
            ask, requests = anyio.create_memory_object_stream["SessionMessage | Exception"]()
            answer, answered = anyio.create_memory_object_stream["SessionMessage"]()
            passing.start_soon(unanswered.pass_questions, reader, ask)
            passing.start_soon(unanswered.pass_answers, answered, writer)
            await protocol.run(requests, answer, protocol.create_initialization_options())


class _Unanswered:
    """The requests that wait for their answers.

    The SDK abandons them when its input ends, which happens at once if the input is a file or another program's output. So the
    end is passed on only when all are answered.
    """

    def __init__(self) -> None:
        self._ids = set[str | int]()
        self._one_less = anyio.Event()

    async def pass_questions(
        self, reader: ReadStream[SessionMessage | Exception], requests: WriteStream[SessionMessage | Exception]
    ) -> None:
        async with reader, requests:
            async for item in reader:
                if not isinstance(item, Exception):
                    self._note(item)
                await requests.send(item)
            with anyio.move_on_after(ANSWERS_AWAITED_SECONDS):
                while self._ids:
                    self._one_less = anyio.Event()
                    await self._one_less.wait()

    async def pass_answers(self, answers: ReadStream[SessionMessage], writer: WriteStream[SessionMessage]) -> None:
        from mcp_types import JSONRPCError, JSONRPCResponse

        async with answers, writer:
            async for item in answers:
                await writer.send(item)
                if isinstance(item.message, JSONRPCError | JSONRPCResponse) and item.message.id is not None:
                    self._forget(item.message.id)

    def _note(self, item: SessionMessage) -> None:
        from mcp_types import JSONRPCNotification, JSONRPCRequest

        match item.message:
            case JSONRPCRequest(id=id):
                self._ids.add(id)
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as id}):
                self._forget(id)  # it gets no answer

    def _forget(self, id: str | int) -> None:
        self._ids.discard(id)
        self._one_less.set()


def print_tools(format: Literal["openai", "mcp"]) -> None:
    """The tools as JSON, in OpenAI's function format or as `POST /mcp` lists them."""
    offered = offer().tools
    write_json(
        openai_format(offered) if format == "openai" else [tool.listing for tool in offered if not tool.is_former]
    )
