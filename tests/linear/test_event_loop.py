"""The event loop keeps running while hostile requests of all domains are served."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx2
import psycopg
import pytest

from quarry.api.routers import EVERYTHING
from quarry.platform.settings import Settings
from quarry.services.services import build_services
from quarry.web.app import create_app
from tests.conftest import clone_database, create_database
from tests.linear.measuring import SECONDS_OF_A_PIECE_MIN, pieces_of_work

SPACES = '"x' + " " * 1996 + 'y"'
LISTS = "nor x " * 333
STALL_WORK_MAX = 3.0
"""Of the loop's own processor time, in pieces of work, in one callback, which is what a task does between two awaits: 15 ms of a
fast machine.
"""
BODY_WORK_MAX = 15.0
"""The same where a body of about 256 KiB is wrong in 15,000 places, which the framework tells one by one."""
MANY = 15_000
"""Pieces of a body of about 256 KiB, the largest that is read."""
LONG_ROWS = "long_rows_template"

Call = tuple[str, str, dict[str, Any]]


def _calls(query: str) -> list[Call]:
    """A request of each domain that reads `query`, in its history too."""
    history = [{"role": "user", "content": query}, {"role": "assistant", "content": (query * 10)[:9000]}]
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
            {"json": {"question": query, "history": [{"question": query, "answer": query * 9}]}},
        ),
        ("POST", "/ontology/search", {"json": {"query": query}}),
        ("POST", "/campaigns/chat", {"json": campaigns}),
    ]


def _large_bodies() -> list[Call]:
    """Requests with bodies of about the most bytes that are taken, all wrong in some way."""
    keys = {f"k{number}": number for number in range(MANY)}
    message = {"role": "user", "content": "payments"}
    tool_call = {"name": "search", "arguments": keys}
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


def _long_rows() -> list[Call]:
    """Requests that find rows with the longest texts: see `long_rows_template`."""
    question = "wordy longs of the city"
    return [
        ("GET", "/records/search", {"params": {"q": question, "limit": "100"}}),
        ("POST", "/records/ask", {"json": {"question": f"what do the {question} say?"}}),
        ("POST", "/companies/chat", {"json": {"messages": [{"role": "user", "content": question}]}}),
        ("POST", "/campaigns/chat", {"json": {"message": question}}),
        ("POST", "/ontology/search", {"json": {"query": question}}),
    ]


async def test_texts_that_provoke_backtracking_never_block_the_event_loop(sample_url: str) -> None:
    assert await _too_long(sample_url, [_calls(SPACES), _calls(LISTS)], STALL_WORK_MAX) == []


async def test_invalid_bodies_block_the_event_loop_for_a_bounded_time(sample_url: str) -> None:
    assert await _too_long(sample_url, [[call] for call in _large_bodies()], BODY_WORK_MAX) == []


async def test_rows_with_long_texts_never_block_the_event_loop(long_rows_url: str) -> None:
    assert await _too_long(long_rows_url, [[call] for call in _long_rows()], STALL_WORK_MAX) == []


@pytest.fixture(scope="module")
def long_rows_template(server_url: str, sample_template: str) -> str:
    """The name of a database with the sample data, and rows with texts that are as long as what is read of a row."""
    words = "(select string_agg('w' || (i * n % 997), ' ') from generate_series(1, 4000) i)"
    with psycopg.connect(
        create_database(server_url, LONG_ROWS, template=sample_template), autocommit=True
    ) as connection:
        for statement in (
            "insert into motions (id, text_content)"
            f" select 'long' || n, 'wordy longs ' || {words} from generate_series(1, 120) n",
            "insert into companies (id, company_name, description, problem_solved)"
            f" select 'long' || n, 'Long ' || n, 'wordy longs ' || {words}, {words} from generate_series(1, 60) n",
            f"update campaigns c set full_campaign_text = 'wordy longs ' || {words}"
            " from (select id, row_number() over () as n from campaigns) k where k.id = c.id and n <= 60",
        ):
            connection.execute(statement.encode())
    return LONG_ROWS


@pytest.fixture
def long_rows_url(server_url: str, long_rows_template: str) -> Iterator[str]:
    with clone_database(server_url, long_rows_template) as url:
        yield url


async def _too_long(url: str, calls: list[list[Call]], most: float) -> list[tuple[float, str]]:
    """As `_longer_than`, of a service on this database whose first requests have been answered."""
    async with _client(_settings(url)) as client:
        # what is built and read at the first request is no part of it
        for together in calls:
            await _send(client, together)
        return await _longer_than(most, client, calls)


async def _longer_than(most: float, client: httpx2.AsyncClient, calls: list[list[Call]]) -> list[tuple[float, str]]:
    """The callbacks of the loop that took more than so many pieces of work while the calls were answered, and did so again."""
    _leave_garbage_out()
    rounds: list[list[tuple[float, str]]] = []
    # what a busy machine makes long once is not long twice, and neither is what is built at the first request
    while len(rounds) < 2 and all(rounds):
        with _callbacks_longer_than(most) as longest:
            statuses = [status for together in calls for status in await _send(client, together)]
        assert set(statuses) <= {200, 422, 503}
        rounds.append(longest)
    places = [{place for _, place in longest} for longest in rounds]
    return [each for each in rounds[0] if all(each[1] in found for found in places)]


def _settings(url: str, **environment: str) -> Settings:
    return Settings.from_environment({"DATABASE_URL": url, "RATE_LIMIT_PER_MINUTE": "0"} | environment)


@contextmanager
def _callbacks_longer_than(most: float) -> Iterator[list[tuple[float, str]]]:
    """Their pieces of work on the loop's thread, and where they stood afterwards, without other threads and processes."""
    longest: list[tuple[float, str]] = []
    run = asyncio.Handle._run

    def measured(handle: asyncio.Handle) -> None:
        before = time.thread_time()
        run(handle)
        seconds = time.thread_time() - before
        if seconds > most * SECONDS_OF_A_PIECE_MIN and (work := pieces_of_work(seconds)) > most:
            longest.append((work, _where(handle)))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(asyncio.Handle, "_run", measured)
        yield longest


def _where(handle: Any) -> str:
    """What a task awaits, from its outermost coroutine to the innermost; of another callback what it is."""
    at: Any = getattr(handle._callback, "__self__", None)
    if not isinstance(at, asyncio.Task):
        return repr(handle._callback)
    at, names = at.get_coro(), list[str]()
    while at is not None:
        names.append(getattr(at, "__qualname__", type(at).__name__))
        at = getattr(at, "cr_await", None) or getattr(at, "ag_await", None) or getattr(at, "gi_yieldfrom", None)
    return " > ".join(names)


def _leave_garbage_out() -> None:
    """The garbage collector does not look at what is there already, which takes it longer than all of this."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


@asynccontextmanager
async def _client(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    services = build_services(settings)
    app = create_app(services, EVERYTHING, EVERYTHING)
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=120) as client:
        yield client
    await services.close()


async def _send(client: httpx2.AsyncClient, calls: list[Call]) -> list[int]:
    answers = await asyncio.gather(*(client.request(method, path, **rest) for method, path, rest in calls))
    return [answer.status_code for answer in answers]
