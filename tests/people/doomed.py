"""Searches that are killed: `python -m tests.people.doomed`, told on stdin what to do, one JSON object a line.

For each line a process is forked (all is imported once) that searches under `key`, and kills itself as by `kill -9` at the
point named: before its nth statement, at "commit", when all is written but for the commit, or "after commit", when the answer
is not yet given. With `searches`, so many run at once, and it kills itself `seconds` after so many `answers`. The line that comes
back says how the process ended; where it lived, one before it says how many statements it ran.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace
from typing import Any

import psycopg

from quarry.core import idempotency
from quarry.core.services import Caller, Services, build_services
from quarry.core.settings import Settings
from quarry.people.contract import PeopleSearchRequest
from quarry.people.search import search_people

QUERY = "backend engineer for payments in Python"
LEASE_SECONDS = 0.15
"""Of a claim in these processes: who comes after one that died waits no longer."""

Order = dict[str, Any]


class FixedVector:
    """In place of the query's embedding: what a vector is made of is not the matter here."""

    async def embed(self, query: str) -> list[float]:
        return [0.05] * 384


def services_at(url: str) -> Services:
    services = build_services(Settings.from_environment({"DATABASE_URL": url, "DATABASE_TIMEOUT_SECONDS": "60"}))
    return replace(services, queries=FixedVector())  # type: ignore[arg-type]


async def search(services: Services, user: str, key: str | None) -> str:
    request = PeopleSearchRequest(query=QUERY)
    response = await search_people(request, Caller(user), services, idempotency_key=key)
    return response.model_dump_json()


class Executioner:
    """Counts the statements of this process and kills it at `point`."""

    def __init__(self, point: int | str | None) -> None:
        self.point = point
        self.statements = 0

    def install(self) -> None:
        execute, commit = psycopg.AsyncConnection.execute, psycopg.AsyncConnection.commit
        charging: list[Any] = []

        async def counted(connection: Any, *arguments: Any, **options: Any) -> Any:
            self._reach(self.statements)
            self.statements += 1
            if "update credit_accounts" in str(arguments[0]):
                charging.append(connection)
            return await execute(connection, *arguments, **options)

        async def committed(connection: Any) -> None:
            if connection not in charging:
                return await commit(connection)
            self._reach("commit")
            await commit(connection)
            self._reach("after commit")

        psycopg.AsyncConnection.execute = counted  # type: ignore[method-assign,assignment]
        psycopg.AsyncConnection.commit = committed  # type: ignore[method-assign]

    def _reach(self, point: int | str) -> None:
        if point == self.point:
            os.kill(os.getpid(), signal.SIGKILL)


async def _search_once(order: Order) -> None:
    executioner = Executioner(order["point"])
    executioner.install()
    services = services_at(order["url"])
    await search(services, order["user"], order["key"])
    os.write(1, f"{executioner.statements}\n".encode())
    await services.close()


async def _search_often(order: Order) -> None:
    services = services_at(order["url"])
    searches = [search(services, order["user"], f"{order['key']}-{number}") for number in range(order["searches"])]
    for answers, answer in enumerate([_nothing(), *asyncio.as_completed(searches)]):
        await answer
        if answers == order["answers"]:
            asyncio.get_running_loop().call_later(order["seconds"], os.kill, os.getpid(), signal.SIGKILL)
    await asyncio.sleep(60)


async def _nothing() -> None: ...


def _fork(order: Order) -> int:
    child = os.fork()
    if child == 0:
        idempotency.LEASE_SECONDS, idempotency.RENEWAL_SECONDS = LEASE_SECONDS, 60.0
        asyncio.run(_search_often(order) if "searches" in order else _search_once(order))
        os._exit(0)
    return child


def main() -> None:
    for line in sys.stdin:
        order: Order = json.loads(line)
        child = _fork(order)
        _, status = os.waitpid(child, 0)
        os.write(1, f"{json.dumps({'killed': os.WIFSIGNALED(status), 'failed': bool(status)})}\n".encode())


if __name__ == "__main__":
    main()
