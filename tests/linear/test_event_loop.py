"""While hostile requests of all domains are served, the event loop goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from quarry.api import everything
from quarry.core.services import build_services
from quarry.core.settings import Settings
from quarry.core.web.app import create_app

SPACES = '"x' + " " * 1996 + 'y"'
LISTS = "nor x " * 333
STALL_SECONDS_MAX = 0.2
"""Of the loop's own processor time, between two of its turns."""

Call = tuple[str, str, dict[str, Any]]


def _calls(query: str) -> list[Call]:
    """A request of each domain that reads `query`, in its history too."""
    history = [{"role": "user", "content": query}, {"role": "assistant", "content": (query * 10)[:9000]}] * 10
    campaigns = {
        "message": query,
        "history": history,
        "activeFilters": {"company": [f"{n} {query[:100]}" for n in range(50)]},
    }
    return [
        ("POST", "/people/search", {"json": {"query": query}}),
        ("POST", "/companies/chat", {"json": {"messages": [*history, {"role": "user", "content": query}]}}),
        ("GET", "/records/search", {"params": {"q": query}}),
        (
            "POST",
            "/records/ask",
            {"json": {"question": query, "history": [{"question": query, "answer": query * 9}] * 5}},
        ),
        ("POST", "/ontology/search", {"json": {"query": query}}),
        ("POST", "/campaigns/chat", {"json": campaigns}),
        ("POST", "/campaigns/chat", {"json": campaigns | {"applyFiltersToQuery": True}}),
    ]


async def test_hostile_requests_never_hold_the_event_loop(database_url: str) -> None:
    settings = Settings.from_environment({"DATABASE_URL": database_url, "RATE_LIMIT_PER_MINUTE": "0"})
    async with _client(settings) as client:
        # what is built and read at the first request is no part of it
        await _send(client, _calls("payments in Pune since 2020"))
        turns = asyncio.create_task(_longest_turn())
        statuses = [status for query in (SPACES, LISTS) for status in await _send(client, _calls(query))]
        turns.cancel()
        longest = await turns
    assert set(statuses) <= {200, 422, 503}
    assert longest < STALL_SECONDS_MAX


@asynccontextmanager
async def _client(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    services = build_services(settings)
    app = create_app(services, everything.ROUTERS, everything.ROUTERS)
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120) as client:
        yield client
    await services.close()


async def _send(client: httpx2.AsyncClient, calls: list[Call]) -> list[int]:
    answers = await asyncio.gather(*(client.request(method, path, **rest) for method, path, rest in calls))
    return [answer.status_code for answer in answers]


async def _longest_turn() -> float:
    """The most processor time that the loop's thread took between two turns, in seconds; cancelled, it tells."""
    longest, before = 0.0, time.thread_time()
    try:
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            longest, before = max(longest, now - before), now
    except asyncio.CancelledError:
        return longest
