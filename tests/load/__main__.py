"""`python -m tests.load`: finds what one process can carry, offers it up to ten times that, and prints a table.

The server is `quarry demo` on the sample data with an embedded Postgres of its own, on loopback; database, server and this client
share the machine's cores, so the figures say how one process behaves beyond its capacity, not how large that is elsewhere.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.openai_server import FakeOpenAI, Reply
from tests.load.calls import HEALTH, Outcome, Request, Workload, call

CONCURRENCIES = (1, 2, 4, 8, 16)
MULTIPLES = (1, 2, 5, 10)
CLOSED_SECONDS = 4.0
OPEN_SECONDS = 9.0
SETTLING_SECONDS = 1.5
"""The beginning of a phase, which is not counted."""

HEALTH_INTERVAL_SECONDS = 0.1
GREEDY = "greedy"
OTHERS = tuple(f"user-{number}" for number in range(9))
SEED = 12


@dataclass(frozen=True)
class Phase:
    """What became of the calls of one phase, and of the looks at `/health` beside them. `offered` is calls a second."""

    name: str
    offered: float | None
    seconds: float
    calls: Sequence[Outcome]
    looks: Sequence[Outcome]

    def per_second(self, outcomes: Sequence[Outcome]) -> float:
        return len(outcomes) / self.seconds

    @property
    def completed(self) -> list[Outcome]:
        return [outcome for outcome in self.calls if outcome.status == 200]

    @property
    def refused(self) -> list[Outcome]:
        return [outcome for outcome in self.calls if outcome.status == 503]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument(
        "--model-seconds", type=float, help="answer with a chat model that takes this long (default: none)"
    )
    parser.add_argument(
        "--pool-size", type=int, default=8, help="DATABASE_POOL_SIZE of the server (default: %(default)s)"
    )
    given = parser.parse_args()
    with _model(given.model_seconds) as model_address, _server(given.pool_size, model_address) as address:
        asyncio.run(_measure(address))


async def _measure(address: str) -> None:
    workload = Workload(SEED)
    await _closed(address, workload, 2)  # the first requests compile, connect and load
    closed = [await _closed(address, workload, concurrency) for concurrency in CONCURRENCIES]
    print("| at once | completed/s | p50 ms | p95 ms | /health p50 ms | p99 ms |\n|---|---|---|---|---|---|")
    for phase in closed:
        row = [
            phase.name,
            f"{phase.per_second(phase.completed):.1f}",
            *_times(phase.completed, 95),
            *_times(phase.looks, 99),
        ]
        print(f"| {' | '.join(row)} |")
    capacity = max(phase.per_second(phase.completed) for phase in closed)
    columns = (
        "offered", "calls/s", "completed/s", "refused/s", "with Retry-After", "other", "p50 ms", "p95 ms",
        "greedy user's", "each other's", "/health p50 ms", "p99 ms",
    )  # fmt: skip
    print(f"\nIt carries {capacity:.1f} calls a second.\n\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    best = capacity
    for multiple in MULTIPLES:
        phase = await _open(address, workload, multiple, capacity)
        print(_row(phase), flush=True)
        best = max(best, completed := phase.per_second(phase.completed))
    print(f"\nAt {phase.name} it completes {completed / best:.0%} of its best.")


async def _closed(address: str, workload: Workload, concurrency: int) -> Phase:
    """As many users as `concurrency`, each with one call at a time."""

    async def use(user: str, calls: list[Outcome]) -> None:
        while True:
            calls.append(await call(address, workload.draw(), user))

    async def begin(calls: list[Outcome], users: asyncio.TaskGroup) -> None:
        for number in range(concurrency):
            users.create_task(use(f"user-{number}", calls))

    return await _phase(address, str(concurrency), None, CLOSED_SECONDS, begin)


async def _open(address: str, workload: Workload, multiple: int, capacity: float) -> Phase:
    """Calls that come at random moments, whatever became of the earlier ones; half of them from one user."""
    moments = random.Random(SEED)
    others = itertools.cycle(OTHERS)

    async def one(request: Request, user: str, calls: list[Outcome]) -> None:
        calls.append(await call(address, request, user))

    async def begin(calls: list[Outcome], running: asyncio.TaskGroup) -> None:
        due = time.monotonic()
        while True:
            due += moments.expovariate(multiple * capacity)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            user = GREEDY if moments.random() < 0.5 else next(others)
            running.create_task(one(workload.draw(), user, calls))

    return await _phase(address, f"{multiple} ×", multiple * capacity, OPEN_SECONDS, begin)


async def _phase(
    address: str,
    name: str,
    offered: float | None,
    seconds: float,
    begin: Callable[[list[Outcome], asyncio.TaskGroup], Coroutine[None, None, None]],
) -> Phase:
    """So many seconds of the calls that `begin` makes; clients whose calls still run then leave."""
    calls: list[Outcome] = []
    looks: list[Outcome] = []
    began = time.monotonic()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as running:
            running.create_task(_look(address, looks))
            await begin(calls, running)
    counted = [outcome for outcome in calls if outcome.ended >= began + SETTLING_SECONDS]
    return Phase(name, offered, seconds - SETTLING_SECONDS, counted, looks)


async def _look(address: str, looks: list[Outcome]) -> None:
    """Look at `/health` ten times a second, as a load balancer would."""
    while True:
        looks.append(await call(address, HEALTH))
        await asyncio.sleep(HEALTH_INTERVAL_SECONDS)


def _row(phase: Phase) -> str:
    told = [outcome for outcome in phase.refused if outcome.retry_after]
    greedy = [outcome for outcome in phase.completed if outcome.user == GREEDY]
    each_other = phase.per_second([o for o in phase.completed if o.user != GREEDY]) / len(OTHERS)
    cells = [
        phase.name,
        f"{phase.offered:.0f}",
        f"{phase.per_second(phase.completed):.1f}",
        f"{phase.per_second(phase.refused):.1f}",
        f"{len(told) / len(phase.refused):.0%}" if phase.refused else "–",
        str(len(phase.calls) - len(phase.completed) - len(phase.refused)),
        *_times(phase.completed, 95),
        f"{phase.per_second(greedy):.1f}/s",
        f"{each_other:.1f}/s",
        *_times(phase.looks, 99),
    ]
    return f"| {' | '.join(cells)} |"


def _times(outcomes: Sequence[Outcome], percentile: int) -> tuple[str, str]:
    """The median and a percentile, in milliseconds."""
    if len(outcomes) < 2:
        return "–", "–"
    cuts = statistics.quantiles((outcome.seconds * 1000 for outcome in outcomes), n=100, method="inclusive")
    return f"{cuts[49]:.0f}", f"{cuts[percentile - 1]:.0f}"


@contextmanager
def _model(seconds: float | None) -> Iterator[str | None]:
    """The address of a chat model that says one sentence to everything, after `seconds`; None without one."""
    with (
        FakeOpenAI(lambda body: Reply.text("It is so [1].", delay=seconds or 0)) if seconds else nullcontext() as model
    ):
        yield model.url if model else None


@contextmanager
def _server(pool_size: int, model_address: str | None) -> Iterator[str]:
    """The address of a `quarry demo` of its own, gone at the end with its data."""
    with tempfile.TemporaryDirectory(prefix="quarry-load-") as directory:
        # open to the user that Postgres runs as when this runs as root
        Path(directory).chmod(0o755)
        environment = {
            "PATH": os.environ["PATH"],
            "QUARRY_DATA_DIR": directory,
            "DATABASE_POOL_SIZE": str(pool_size),
            "RATE_LIMIT_PER_MINUTE": "0",
            "INITIAL_CREDITS": "1000000",
            **({"OPENAI_BASE_URL": model_address, "EMBEDDINGS": "local"} if model_address else {}),
        }
        command = [str(Path(sys.executable).with_name("quarry")), "demo", "--port", "0"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield _address_told(process)
            finally:
                process.terminate()


def _address_told(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+:\d+", line):
            return found.group()
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    main()
