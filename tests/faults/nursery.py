"""Commands that may be killed: `python -m tests.faults.nursery`, told on stdin what to do, one JSON object a line.

For each line with `arguments` a process is forked (all is imported once) that runs that quarry command, with `environment` as
all that it finds there, and writes what it says to the file `output`; the line that comes back names its `pid`. With `point` it
kills itself as by `kill -9`: before its nth statement, those not counted that only begin a transaction, or before the first that
holds that text; at "commit", when all is written but for the commit, or "after commit", when nobody was told yet. With `first`,
all begins with the statement that holds that text; with `commits`, the commit is that of a statement that holds that one.
A line with `pid` waits for that process to end; the line that comes back says how: its exit status, or minus the number of the
signal.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openai  # noqa: F401 -- else imported on first use, in each process anew
import psycopg
from psycopg.sql import Composable

from quarry.api.routers import EVERYTHING
from quarry.domains import import_what_answers
from quarry.local import cli, data, embedded_postgres, server  # noqa: F401 -- likewise
from quarry.models.local_embedding import LocalEmbedding, MiniLM
from quarry.platform.settings import Settings
from quarry.postgres import embed
from quarry.runs import idempotency
from quarry.services.services import build_services
from quarry.web.app import create_app

LEASE_SECONDS = 0.3
"""Of a claim in these processes: who comes after one that died waits no longer."""

Order = dict[str, Any]
Point = int | str


class Executioner:
    """Counts the statements of this process, from the one on that holds `first`, and kills it at `point`."""

    def __init__(self, point: Point, first: str, commits: str) -> None:
        self._point = point
        self._first = first
        self._commits = commits
        self._statements = -1
        self._connections: set[Any] = set()
        """Those whose next commit is the one."""

    def install(self) -> None:
        for connection in (psycopg.AsyncConnection, psycopg.Connection):
            self._watch(connection, "execute", self._sees_statement)
            self._watch(connection, "commit", self._sees_commit, self._has_seen_commit)
        # maintenance work commits by leaving a transaction
        self._watch(psycopg.Transaction, "__exit__", self._sees_commit, self._has_seen_commit)

    def _watch(
        self,
        owner: Any,
        name: str,
        before: Callable[..., None],
        after: Callable[[Any], None] = lambda _: None,
    ) -> None:
        """Call `before` and `after` around a method; `after` once an asynchronous one has been waited for."""
        method = getattr(owner, name)

        async def awaited(owner: Any, result: Any) -> Any:
            done = await result
            after(owner)
            return done

        def watched(owner: Any, *arguments: Any, **options: Any) -> Any:
            before(owner, *arguments)
            result = method(owner, *arguments, **options)
            if hasattr(result, "__await__"):
                return awaited(owner, result)
            after(owner)
            return result

        setattr(owner, name, watched)

    def _sees_statement(self, connection: Any, query: Any, *_: object) -> None:
        text = query.as_string() if isinstance(query, Composable) else str(query)
        if self._statements < 0 and self._first not in text:
            return
        if text.startswith("begin"):
            return  # who dies before it leaves what who dies before the next statement does
        self._statements += 1
        if self._commits in text:
            self._connections.add(connection)
        self._reach(self._statements)
        if isinstance(self._point, str) and self._point in text:
            self._die()

    def _sees_commit(self, owner: Any, *_: object) -> None:
        if getattr(owner, "connection", owner) in self._connections:
            self._reach("commit")

    def _has_seen_commit(self, owner: Any) -> None:
        if getattr(owner, "connection", owner) in self._connections:
            self._reach("after commit")

    def _reach(self, point: Point) -> None:
        if self._statements >= 0 and point == self._point:
            self._die()

    def _die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def start(order: Order) -> int:
    child = os.fork()
    if child:
        return child
    with Path(order["output"]).open("ab") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.environ.clear()
    os.environ.update(order["environment"])
    idempotency.LEASE_SECONDS = embed.LEASE_SECONDS = LEASE_SECONDS
    if "point" in order:
        Executioner(order["point"], order.get("first", ""), order.get("commits", "")).install()
    status = 1
    try:
        status = cli.main(order["arguments"])
    finally:
        sys.stdout.flush()
        os._exit(status)


def wait(order: Order) -> int:
    _, status = os.waitpid(order["pid"], 0)
    return os.waitstatus_to_exitcode(status)


def main() -> None:
    # imported, read and built once for all
    import_what_answers()
    create_app(
        build_services(Settings.from_environment({"DATABASE_URL": "postgresql://127.0.0.1:1/nowhere"})),
        EVERYTHING,
    ).build_middleware_stack()
    MiniLM.from_folder = functools.cache(MiniLM.from_folder)  # type: ignore[method-assign]
    LocalEmbedding().load()
    gc.freeze()  # a child that ends then looks through nothing of what it shares
    for line in sys.stdin:
        order: Order = json.loads(line)
        handle: Callable[[Order], object] = start if "arguments" in order else wait
        print(json.dumps(handle(order)), flush=True)


if __name__ == "__main__":
    main()
