"""Calls as users make them, over minimal HTTP, because the client shares the machine with the server it measures."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

SAMPLE = Path(__file__).resolve().parents[2] / "sql" / "sample"
CALL_SECONDS = 30.0
"""A client gives up after waiting this long."""


@dataclass(frozen=True)
class Request:
    """One request; `body` goes out as JSON."""

    method: str
    target: str
    body: object = None


@dataclass(frozen=True)
class Outcome:
    """The outcome of a call. `status` is 0 without a complete response; times are seconds, `ended` by the monotonic clock."""

    user: str
    status: int
    seconds: float
    ended: float
    retry_after: int | None


HEALTH = Request("GET", "/health")

# All kinds of search are equally frequent; the queries are drawn from the judged ones of each domain.
_SEARCHES: dict[str, tuple[Callable[[str], Request], ...]] = {
    "records": (
        lambda query: Request("GET", "/records/search?" + urlencode({"q": query})),
        lambda query: Request("POST", "/records/ask", {"question": query}),
    ),
    "companies": (
        lambda query: Request("POST", "/companies/chat", {"messages": [{"role": "user", "content": query}]}),
    ),
    "people": (lambda query: Request("POST", "/people/search", {"query": query}),),
    "ontology": (lambda query: Request("POST", "/ontology/search", {"query": query}),),
    "campaigns": (lambda query: Request("POST", "/campaigns/chat", {"message": query}),),
}


class Workload:
    """Searches of all domains in random order, the same in every run."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._queries = {domain: _judged_queries(domain) for domain in _SEARCHES}
        self._kinds = [(domain, make) for domain, makes in _SEARCHES.items() for make in makes]
        self._number = 0

    def draw(self) -> Request:
        """The next search. A number in its words bypasses every cache of whole queries."""
        domain, make = self._random.choice(self._kinds)
        self._number += 1
        return make(f"{self._random.choice(self._queries[domain])} {self._number}")


def _judged_queries(domain: str) -> list[str]:
    lines = (SAMPLE / domain / "judged.jsonl").read_text(encoding="utf-8").splitlines()
    return [str(json.loads(line)["query"]) for line in lines]


async def call(address: str, request: Request, user: str = "demo") -> Outcome:
    """Sends a request on its own connection and reads the response to its end."""
    began = time.monotonic()
    try:
        async with asyncio.timeout(CALL_SECONDS):
            response = await _exchange(address, request, user)
    except (OSError, TimeoutError, ValueError):
        response = b""
    ended = time.monotonic()
    status, retry_after = _read(response)
    return Outcome(user, status, ended - began, ended, retry_after)


async def _exchange(address: str, request: Request, user: str) -> bytes:
    host, port = urlsplit(address).hostname, urlsplit(address).port
    reader, writer = await asyncio.open_connection(host, port)
    try:
        body = b"" if request.body is None else json.dumps(request.body).encode()
        head = (
            f"{request.method} {request.target} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {user}\r\n"
            f"Connection: close\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        return await reader.read(-1)
    finally:
        writer.close()


def _read(response: bytes) -> tuple[int, int | None]:
    """The status, 0 if the response was incomplete, and the time to wait before a retry."""
    head, _, body = response.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    chunked = headers.get("transfer-encoding") == "chunked"
    whole = body.endswith(b"0\r\n\r\n") if chunked else len(body) == int(headers.get("content-length", -1))
    retry_after = headers.get("retry-after", "")
    return int(lines[0].split()[1]) if whole else 0, int(retry_after) if retry_after.isdecimal() else None
