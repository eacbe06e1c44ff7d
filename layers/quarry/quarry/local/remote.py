"""Commands that ask a server instead of a database: `quarry --server URL …`."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable
from contextlib import aclosing, asynccontextmanager

from pydantic import BaseModel

from quarry.client import AsyncClient, NotAuthenticated
from quarry.client import QuarryError as ClientError
from quarry.local.ask import Events, events_of, render
from quarry.local.ask import asked as asked_of
from quarry.local.query import read_query, show
from quarry.platform.errors import QuarryError

TOKEN = "QUARRY_TOKEN"  # noqa: S105 -- the variable's name


async def ask_server(server: str, domain: str, question: str, *, as_json: bool) -> None:
    """`quarry ask`, answered by a server. Raises QuarryError."""
    askable, _ = asked_of(domain, question)
    async with _asked(server) as asked, aclosing(_events(askable.remote(asked, question))) as events:
        await render(askable, events, as_json=as_json, server=server)


async def query_server(server: str, file: str, *, as_json: bool) -> None:
    """`quarry query`, answered by a server. Raises WrongUsage, QuarryError."""
    query = read_query(file)
    async with _asked(server) as asked:
        result = await asked.query(query)
    show(result, as_json=as_json)


async def show_own_credits(server: str, *, as_json: bool) -> None:
    """Print how many credits the owner of the token has."""
    async with _asked(server) as asked:
        balance = (await asked.credits()).balance
    print(json.dumps({"balance": balance}) if as_json else f"{balance:,} credit{'' if balance == 1 else 's'}")


@asynccontextmanager
async def _asked(server: str) -> AsyncIterator[AsyncClient]:
    """A client of the server. Its errors become those of commands."""
    try:
        async with AsyncClient(server, token=os.environ.get(TOKEN)) as asked:
            yield asked
    except ClientError as error:
        raise _as_ours(error) from error


async def _events(answer: AsyncIterator[BaseModel] | Awaitable[BaseModel]) -> Events:
    try:
        async for event in events_of(answer):
            yield event
    except ClientError as error:
        raise _as_ours(error) from error


def _as_ours(error: ClientError) -> QuarryError:
    if isinstance(error, NotAuthenticated):
        return QuarryError(f"{error.detail} Set {TOKEN} to sign in.")
    if error.retry_after_seconds:
        return QuarryError(f"{error.detail} (in {error.retry_after_seconds:.0f} s)")
    return QuarryError(error.detail)
