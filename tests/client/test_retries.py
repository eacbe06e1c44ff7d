"""What is tried again, when, and what is not; and how answers that are no problem of ours are told."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from quarry.client import Client, Conflict, ConnectionFailed, QuarryError, RateLimited, SearchFailed, Unavailable
from quarry.client.exchange import Patience
from quarry.kept.contract import Turn

Handler = Callable[[httpx2.Request], httpx2.Response]
BALANCE = {"balance": 3}
SEARCHED = {"search_id": "s", "people": [], "constraints": {}, "fallback_tier": 0, "relaxations": [], "degraded": []}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Patience, "own_pause", staticmethod(lambda failures: 0.0))


class Server:
    """Answers as it is told, in turn, and remembers what it was asked."""

    def __init__(self, *answers: httpx2.Response | Exception) -> None:
        self.answers = [*answers]
        self.asked: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options: object) -> Client:
        http = httpx2.Client(transport=httpx2.MockTransport(self))
        return Client("https://quarry.example/prod/", http=http, **options)  # type: ignore[arg-type]


def busy(status: int, retry_after: str | None = "0", **problem: object) -> httpx2.Response:
    return httpx2.Response(status, json=problem, headers={} if retry_after is None else {"Retry-After": retry_after})


def test_a_search_that_costs_is_sent_again_under_one_key() -> None:
    server = Server(
        busy(503), httpx2.ReadError("reset"), busy(409), busy(502, None), httpx2.Response(200, json=SEARCHED)
    )
    assert server.client(retries=4, token="ann").search_people("engineers").search_id == "s"
    assert len({request.headers["Idempotency-Key"] for request in server.asked}) == 1
    assert {request.headers["Authorization"] for request in server.asked} == {"Bearer ann"}
    assert {request.url.path for request in server.asked} == {"/prod/people/search"}


def test_what_must_not_happen_twice_is_sent_again_only_where_it_has_not_happened() -> None:
    turns = [Turn(question="Why?")]
    for lost in (httpx2.ReadError("reset"), busy(503)):
        server = Server(lost)
        with pytest.raises(QuarryError):
            server.client().keep_conversation("records", turns)
        assert len(server.asked) == 1
    server = Server(httpx2.ConnectError("refused"), busy(429), httpx2.ReadError("reset"))
    with pytest.raises(ConnectionFailed) as lost_later:
        server.client().keep_conversation("records", turns)
    assert lost_later.value.was_sent
    assert len(server.asked) == 3


def test_a_wait_is_as_long_as_the_server_asks_for_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("quarry.client.exchange.time.sleep", waits.append)
    server = Server(busy(429, "7"), httpx2.Response(200, json=BALANCE))
    assert server.client().credits().balance == 3
    assert waits == [7.0]
    server = Server(busy(429, "31", type="urn:quarry:problem:too-many-requests", detail="Wait.", request_id="r1"))
    with pytest.raises(RateLimited) as limited:
        server.client().credits()
    assert (limited.value.retry_after_seconds, limited.value.request_id, str(limited.value)) == (31.0, "r1", "Wait.")
    again = Server(busy(409, None, detail="This key was used with another body."))
    with pytest.raises(Conflict, match="another body"):
        again.client().search_people("engineers", idempotency_key="k")
    server = Server(*(busy(503) for _ in range(4)))
    with pytest.raises(Unavailable):
        server.client(retries=3).credits()
    assert len(server.asked) == 4


def test_a_search_that_fails_after_it_has_begun_raises_and_unknown_events_are_passed_over() -> None:
    lines = b'{"type":"new","data":{},"seq":"r/1"}\n\n{"type":"error","data":{"message":"It broke."},"seq":"r/2"}\n'
    stream = Server(httpx2.Response(200, content=lines)).client().ask_companies("robots")
    with pytest.raises(SearchFailed, match="It broke"):
        next(stream)
    assert stream.run_id == "r"
    assert next(stream, None) is None
