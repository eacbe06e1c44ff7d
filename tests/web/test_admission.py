from __future__ import annotations

import asyncio
import json
import socket
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import ClassVar
from urllib.parse import urlsplit

import psycopg
import pytest
from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from quarry.api.routers import EVERYTHING
from quarry.platform.settings import Settings
from quarry.services.services import Caller, build_services
from quarry.streaming import runs
from quarry.streaming.events import NDJSON, Event
from quarry.web import admission as admission_module
from quarry.web import service_routes
from quarry.web.admission import UNMETERED, Admission
from quarry.web.app import create_app
from quarry.web.description import openapi_document
from quarry.web.requests import ServicesDependency
from quarry.web.streams import stream_response
from tests.running import running_server, serving_app
from tests.waiting import PATIENCE_SECONDS, wait_until

# of two connections: four places, one for each user; of the queue a user has two places
CONNECTIONS = 2
PLACES = 4
QUEUE = 3
OWN_QUEUE = 2

NO_DATABASE = "postgresql://127.0.0.1:1/none"


class Said(Event):
    type: str = "said"


class Desk:
    """Routes whose work lasts until the test says that it is done."""

    def __init__(self) -> None:
        self.router = APIRouter()
        self.router.get("/work")(self.work)
        self.router.post("/work")(self.work)
        self.router.get("/stream")(self.stream)
        self._done = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.at_work: Counter[str] = Counter()
        self.most_at_work = 0
        self.cancelled: list[str] = []

    def finish(self) -> None:
        """Let all work end, and what begins later end at once."""
        if self._loop is None:
            self._done.set()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._done.set)

    async def work(self, request: Request) -> str:
        await self._work(request)
        return "done"

    async def stream(self, request: Request, services: ServicesDependency) -> Response:
        async def events() -> AsyncGenerator[Event]:
            yield Said()
            await self._work(request)

        return stream_response(request, lambda _: events(), Caller("someone"), services, NDJSON)

    async def _work(self, request: Request) -> None:
        self._loop = asyncio.get_running_loop()
        user = request.headers["authorization"].removeprefix("Bearer ")
        self.at_work[user] += 1
        self.most_at_work = max(self.most_at_work, self.at_work.total())
        try:
            await self._done.wait()
        except asyncio.CancelledError:
            self.cancelled.append(user)
            raise
        finally:
            self.at_work[user] -= 1


class Call:
    """A request that was sent on a connection of its own, which stays open until the test ends."""

    opened: ClassVar[list[Call]] = []

    def __init__(self, url: str, user: str, path: str = "/work", *, body: object = None, headers: str = "") -> None:
        address = urlsplit(url)
        self._socket = socket.create_connection((address.hostname, address.port), PATIENCE_SECONDS)
        self._received = b""
        Call.opened.append(self)
        text = "" if body is None else json.dumps(body)
        if body is not None:
            headers += f"Content-Type: application/json\r\nContent-Length: {len(text.encode())}\r\n"
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\n"
        self._socket.sendall(f"{head}Authorization: Bearer {user}\r\n{headers}\r\n{text}".encode())

    def leave(self) -> None:
        self._socket.close()

    @property
    def answered(self) -> bool:
        """Whether a response has begun; never waits."""
        self._socket.setblocking(False)
        try:
            self._received += self._socket.recv(65536)
        except BlockingIOError:
            pass
        finally:
            self._socket.settimeout(PATIENCE_SECONDS)
        return bool(self._received)

    def response(self) -> tuple[int, dict[str, str], str]:
        """Status, headers and body, once all of it is there."""
        while piece := self._socket.recv(65536):
            self._received += piece
        self._socket.close()
        head, _, body = self._received.decode().partition("\r\n\r\n")
        lines = head.lower().split("\r\n")
        return int(lines[0].split()[1]), dict(line.split(": ", 1) for line in lines[1:]), body

    @property
    def status(self) -> int:
        return self.response()[0]


@pytest.fixture
def desk() -> Desk:
    return Desk()


@contextmanager
def served(desk: Desk, url: str = NO_DATABASE, *more: APIRouter, **environment: str) -> Iterator[str]:
    defaults = {"DATABASE_POOL_SIZE": str(CONNECTIONS), "RATE_LIMIT_PER_MINUTE": "0", "STREAM_GRACE_SECONDS": "0"}
    services = build_services(Settings.from_environment(defaults | environment), url)
    with serving_app(create_app(services, [desk.router, *more])) as address:
        try:
            yield address
        finally:
            desk.finish()


@pytest.fixture(autouse=True)
def _a_short_queue_and_little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission_module, "QUEUE_MAX", QUEUE)
    # most of these servers have no database to write the last events of a stream to
    monkeypatch.setattr(runs, "LAST_WRITE_SECONDS", 0.05)


@pytest.fixture(autouse=True)
def _all_clients_leave_in_the_end() -> Iterator[None]:
    yield
    while Call.opened:
        Call.opened.pop().leave()


@pytest.fixture
def url(desk: Desk) -> Iterator[str]:
    """A server with the desk's routes and no database."""
    with served(desk) as address:
        yield address


def fill(url: str, desk: Desk, path: str = "/work") -> list[Call]:
    """Calls of as many users as there are places, all at work."""
    calls = [Call(url, f"worker-{number}", path) for number in range(PLACES)]
    wait_until(lambda: desk.at_work.total() == PLACES)
    return calls


def fill_the_queue(url: str) -> list[Call]:
    """Calls that wait, once as many do as can: one more than that was refused."""
    calls = [Call(url, f"waiter-{number}") for number in range(QUEUE + 1)]
    wait_until(lambda: any(call.answered for call in calls))
    [refused] = [call for call in calls if call.answered]
    assert refused.status == 503
    return [call for call in calls if call is not refused]


def test_so_many_are_at_work_so_many_wait_and_one_more_is_refused_at_once(url: str, desk: Desk) -> None:
    working = fill(url, desk)
    waiting = fill_the_queue(url)
    assert not any(call.answered for call in (*working, *waiting))
    desk.finish()
    assert [call.status for call in (*working, *waiting)] == [200] * (PLACES + QUEUE)
    assert desk.most_at_work == PLACES


async def test_waiting_users_take_turns_however_many_requests_each_has() -> None:
    places, done, served = Admission(3), asyncio.Event(), list[str]()

    async def work(user: str) -> None:
        async with places.place(user):
            served.append(user)
            await done.wait()

    working = [asyncio.create_task(work(user)) for user in (*"aabbcc", "ann", "ann", "bob")]
    await asyncio.sleep(0)
    done.set()
    await asyncio.gather(*working)
    assert served == [*"aabbcc", "ann", "bob", "ann"]


def test_one_user_holds_a_share_of_the_places_and_of_the_queue(url: str, desk: Desk) -> None:
    greedy = [Call(url, "greedy") for _ in range(1 + OWN_QUEUE + 1)]
    wait_until(lambda: any(call.answered for call in greedy))
    assert sum(call.answered for call in greedy) == 1
    others = [Call(url, name) for name in ("ada", "bob", "eve")]
    wait_until(lambda: desk.at_work.total() == PLACES)
    assert desk.at_work["greedy"] == 1
    desk.finish()
    assert Counter(call.status for call in (*greedy, *others)) == {200: 6, 503: 1}


@pytest.mark.parametrize("path", ["/work", "/stream"])
def test_a_client_that_leaves_ends_its_work_and_frees_its_place(url: str, desk: Desk, path: str) -> None:
    [leaving, *staying] = fill(url, desk, path)
    [next_one] = [Call(url, "next")]
    leaving.leave()
    wait_until(lambda: desk.at_work["next"])
    assert desk.cancelled == ["worker-0"]
    desk.finish()
    assert [call.status for call in (*staying, next_one)] == [200] * PLACES


def test_health_answers_while_everything_is_full(desk: Desk, database_url: str) -> None:
    with served(desk, database_url, service_routes.router) as url:
        fill(url, desk)
        fill_the_queue(url)
        status, _, body = Call(url, "anybody", "/health").response()
        assert (status, json.loads(body)["status"]) == (200, "ok")


def test_every_route_needs_a_place_but_those_that_are_public_and_every_other_tells_of_the_503() -> None:
    routes = [route for router in EVERYTHING for route in router.routes if isinstance(route, APIRoute)]
    exempt = {route.path for route in routes if hasattr(route.endpoint, UNMETERED)}
    assert exempt == {
        "/health", "/health/deep", "/openapi.json", "/", "/search", "/docs", "/assets/{path:path}", "/embed/quarry-ask.js",
        "/config.json",
        "/answers/{id}",
    }  # fmt: skip
    paths = openapi_document(EVERYTHING)["paths"]
    assert [
        path for path, by_method in paths.items() for said in by_method.values() if "503" not in said["responses"]
    ] == []


@contextmanager
def locked(url: str, table: str) -> Iterator[None]:
    """Nobody else reads or writes the table."""
    with psycopg.connect(url) as connection:
        connection.execute(f"lock table {table} in access exclusive mode")
        yield


def waiting_statements(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def test_the_statement_of_a_client_that_left_is_cancelled_in_the_database(sample_url: str) -> None:
    path, body = "/records/ask", {"question": "Was the elm in Quill Square kept?"}
    with running_server(sample_url, DATABASE_POOL_SIZE="1", RATE_LIMIT_PER_MINUTE="0") as url:
        with locked(sample_url, "motions"):
            leaving = Call(url, "ada", path, body=body)
            wait_until(lambda: waiting_statements(sample_url) == 1)
            leaving.leave()
            wait_until(lambda: waiting_statements(sample_url) == 0)
        # its only place and connection are free again
        assert Call(url, "ada", path, body=body).status == 200


def test_a_paid_search_whose_client_left_is_charged_once_with_its_retry(sample_url: str) -> None:
    def search(url: str) -> Call:
        return Call(url, "payer", "/people/search", body={"query": "nurse in Pune"}, headers="Idempotency-Key: k1\r\n")

    with running_server(sample_url, RATE_LIMIT_PER_MINUTE="0") as url:
        with locked(sample_url, "people_searches"):
            leaving = search(url)
            wait_until(lambda: waiting_statements(sample_url) == 1)
            leaving.leave()
            wait_until(lambda: waiting_statements(sample_url) == 0)
        assert search(url).status == 200
        assert search(url).status == 200
    with psycopg.connect(sample_url) as connection:
        charged = connection.execute(
            "select count(*) from credit_ledger where user_id = 'payer' and amount < 0"
        ).fetchall()
        stored = connection.execute("select count(*) from people_searches where user_id = 'payer'").fetchall()
    assert (charged, stored) == ([(1,)], [(1,)])
