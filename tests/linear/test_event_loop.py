"""While hostile requests of all domains are served, the event loop goes on."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from quarry.api import everything
from quarry.core.services import build_services
from quarry.core.settings import Settings
from quarry.core.web.app import create_app

SPACES = '"x' + " " * 1996 + 'y"'
LISTS = "nor x " * 333
STALL_SECONDS_MAX = 0.1
"""Of the loop's own processor time, between two of its turns."""
MANY = 15_000
"""Pieces of a body of about 256 KiB, the largest that is read."""

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


def _many_conditions() -> list[Call]:
    """Questions and requests for companies that say more conditions than are looked for."""
    questions = (
        " ".join(f"founded before {year}" for year in range(1800, 1920)),
        "how many companies " + " ".join(f"founded before {year}" for year in range(1800, 1920)),
        "companies " + ", ".join(f"no x{number}" for number in range(400)),
        "companies " + ", ".join(f"no platform {number}" for number in range(200)),
        "no Antofagasta " * 200,
        "fintech insurance payments " * 100,
    )
    said: list[dict[str, Any]] = [
        {"messages": [{"role": "user", "content": question[:2000].strip()}]} for question in questions
    ]
    years = [{"field": "founded_year", "least": 2900 + number} for number in range(40)]
    excluded = [f"{number} {'x y ' * 40}" for number in range(40)]
    for conditions in (years, years[:8]):
        given = {"topic": "payments", "conditions": conditions, "excluded": excluded}
        said.append({"messages": [{"role": "user", "content": "payments"}], "constraints": given})
    return [("POST", "/companies/chat", {"json": body}) for body in said]


def _large_bodies() -> list[Call]:
    """Requests with bodies of about the most bytes that are taken, all wrong in some way."""
    keys = {f"k{number}": number for number in range(MANY)}
    message = {"role": "user", "content": "payments"}
    tool_call = {"name": "search_records", "arguments": keys}
    bodies: list[tuple[str, object]] = [
        ("/companies/chat", {"messages": [message], **keys}),
        ("/companies/chat", {"messages": [{"role": "u", "content": 1}] * (MANY // 3)}),
        ("/companies/chat", {"messages": [message | {f"k{number}": 1 for number in range(MANY // 50)}] * 45}),
        ("/campaigns/chat", {"message": "save", "activeFilters": {"company": [f"{number}" for number in range(MANY)]}}),
        ("/records/ask", {"question": "why?", "history": [{"question": "x y " * 60, "answer": "x"}] * (MANY // 20)}),
        ("/people/search", {"query": "engineer", "preferred_locations": ["pune"] * MANY}),
        ("/ontology/search", {"query": "project", "types": ["task"] * MANY}),
        ("/v1/chat/completions", {"model": "quarry-records", "messages": [message] * 900}),
        ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool_call}),
    ]
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    # encoded here: the client shares the event loop
    return [("POST", path, {"content": json.dumps(body).encode(), "headers": headers}) for path, body in bodies]


def _large_answers() -> list[Call]:
    """Requests with the longest answers."""
    return [
        ("GET", "/records/search", {"params": {"q": "city", "limit": "100"}}),
        ("POST", "/campaigns/chat", {"json": {"message": "campaigns"}}),
        ("POST", "/companies/chat", {"json": {"messages": [{"role": "user", "content": "startups for payments"}]}}),
        ("POST", "/people/search", {"json": {"query": "engineer"}}),
        ("GET", "/openapi.json", {}),
    ]


HOSTILE = {
    "texts made to be read again and again": [_calls(SPACES), _calls(LISTS)],
    "more conditions than are looked for": [[call] for call in _many_conditions()],
    "large bodies": [[call] for call in _large_bodies()],
    "large answers": [[call] for call in _large_answers()],
}
"""Requests that are sent together, one lot after another."""


@pytest.mark.parametrize("calls", HOSTILE.values(), ids=HOSTILE)
async def test_hostile_requests_never_hold_the_event_loop(sample_url: str, calls: list[list[Call]]) -> None:
    settings = Settings.from_environment({"DATABASE_URL": sample_url, "RATE_LIMIT_PER_MINUTE": "0"})
    async with _client(settings) as client:
        # what is built and read at the first request is no part of it
        for together in calls:
            await _send(client, together)
        _leave_garbage_out()
        turns = asyncio.create_task(_longest_turn())
        statuses = [status for together in calls for status in await _send(client, together)]
        turns.cancel()
        longest = await turns
    assert set(statuses) <= {200, 422, 503}
    assert longest < STALL_SECONDS_MAX


def _leave_garbage_out() -> None:
    """The garbage collector does not look at what is there already, which takes it longer than all of this."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


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
