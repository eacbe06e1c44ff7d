"""`python -m tools.load`: finds the capacity of one process, offers it up to ten times that, and prints a table.

The server is `quarry demo` on the sample data with its own embedded Postgres, on loopback. Database, server and client share
the machine's cores, so the figures show how a process behaves beyond its capacity, not how large that is elsewhere.
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
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from tests.fakes.openai_server import FakeOpenAI, Reply
from tools.load.calls import HEALTH, Outcome, Request, Workload, call

CONCURRENCIES = (1, 2, 4, 8, 16)
MULTIPLES = (1, 2, 5, 10)
CLOSED_SECONDS = 4.0
OPEN_SECONDS = 9.0
ROUNDS = 3
SETTLING_SECONDS = 1.5
"""The start of a phase, which is not counted."""

HEALTH_INTERVAL_SECONDS = 0.1
GREEDY = "greedy"
OTHERS = tuple(f"user-{number}" for number in range(9))
SEED = 12


@dataclass(frozen=True)
class Phase:
    """The calls of one phase, and the checks of `/health` during it. `offered` is calls per second.

    Of the `begun` calls, started before its end or before its counted part, `calls` ended in it, and `unanswered` had not
    ended. `cpu_seconds` is the CPU that the server's own process used for all of them.
    """

    name: str
    offered: float | None
    seconds: float
    begun: int
    calls: Sequence[Outcome]
    unanswered: int
    looks: Sequence[Outcome]
    cpu_seconds: float

    def per_second(self, outcomes: Sequence[Outcome]) -> float:
        return len(outcomes) / self.seconds

    @property
    def completed(self) -> list[Outcome]:
        return [outcome for outcome in self.calls if outcome.status == 200]

    @property
    def refused(self) -> list[Outcome]:
        return [outcome for outcome in self.calls if outcome.status == 503]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.load", description=__doc__)
    parser.add_argument(
        "--model-seconds", type=float, help="answer with a chat model that takes this long (default: none)"
    )
    parser.add_argument(
        "--pool-size", type=int, default=8, help="DATABASE_POOL_SIZE of the server (default: %(default)s)"
    )
    given = parser.parse_args()
    with _model(given.model_seconds) as model_address, _server(given.pool_size, model_address) as server:
        # the server's own event loop: the client then uses less of the shared CPU
        uvloop.run(_measure(server))


async def _measure(server: Server) -> None:
    workload = Workload(SEED)
    await _closed(server, workload, 2)  # the first requests compile, connect and load
    closed = [await _closed(server, workload, concurrency) for concurrency in CONCURRENCIES]
    print("| at once | completed/s | p50 ms | p95 ms | /health p50 ms | p99 ms |\n|---|---|---|---|---|---|")
    for phase in closed:
        row = [
            phase.name,
            f"{phase.per_second(phase.completed):.1f}",
            *_times(phase.completed, 95),
            *_times(phase.looks, 99),
        ]
        print(f"| {' | '.join(row)} |")
    best = max(closed, key=lambda phase: phase.per_second(phase.completed))
    capacity = best.per_second(best.completed)
    columns = (
        "offered", "calls/s", "begun", "completed", "refused", "failed", "unanswered", "completed/s", "p50 ms", "p95 ms",
        "refused: with Retry-After", "p50 ms", "p95 ms", "greedy user's", "each other's", "/health p50 ms", "p99 ms", "CPU",
    )  # fmt: skip
    print(f"\nIt carries {capacity:.1f} calls a second.\n\n| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for multiple in MULTIPLES:
        print(_row(await _open(server, workload, multiple, capacity)), flush=True)
    # a machine's capacity changes from minute to minute, so both are measured alternately
    carried, completed = list[float](), list[float]()
    for _ in range(ROUNDS):
        phase = await _closed(server, workload, int(best.name))
        carried.append(phase.per_second(phase.completed))
        phase = await _open(server, workload, MULTIPLES[-1], capacity)
        completed.append(phase.per_second(phase.completed))
    share = statistics.median(completed) / statistics.median(carried)
    print(
        f"\nBy turns, medians of {ROUNDS}: with {best.name} at once it completes {statistics.median(carried):.1f} calls a second,"
        f" at {phase.name} {statistics.median(completed):.1f}, {share:.0%} of them."
    )


async def _closed(server: Server, workload: Workload, concurrency: int) -> Phase:
    """Simulates `concurrency` users, each with one call at a time."""

    async def use(user: str, calls: Calls) -> None:
        while True:
            await calls.make(workload.draw(), user)

    async def begin(calls: Calls, users: asyncio.TaskGroup) -> None:
        for number in range(concurrency):
            users.create_task(use(f"user-{number}", calls))

    return await _phase(server, str(concurrency), None, CLOSED_SECONDS, begin)


async def _open(server: Server, workload: Workload, multiple: int, capacity: float) -> Phase:
    """Calls at random moments, independent of earlier ones; half of them from one user."""
    moments = random.Random(SEED)
    others = itertools.cycle(OTHERS)

    async def begin(calls: Calls, running: asyncio.TaskGroup) -> None:
        due = time.monotonic()
        while True:
            due += moments.expovariate(multiple * capacity)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            user = GREEDY if moments.random() < 0.5 else next(others)
            running.create_task(calls.make(workload.draw(), user))

    return await _phase(server, f"{multiple} ×", multiple * capacity, OPEN_SECONDS, begin)


@dataclass
class Calls:
    """The calls of a phase: when each began, and the outcomes of those that ended."""

    address: str
    began: list[float] = field(default_factory=list)
    ended: list[Outcome] = field(default_factory=list)

    async def make(self, request: Request, user: str) -> None:
        self.began.append(time.monotonic())
        self.ended.append(await call(self.address, request, user))


async def _phase(
    server: Server,
    name: str,
    offered: float | None,
    seconds: float,
    begin: Callable[[Calls, asyncio.TaskGroup], Coroutine[None, None, None]],
) -> Phase:
    """Runs the calls that `begin` makes for this long; then clients with calls in progress disconnect."""
    calls = Calls(server.address)
    looks: list[Outcome] = []
    counted_from = time.monotonic() + SETTLING_SECONDS
    used = 0.0
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as running:
            running.create_task(_look(server.address, looks))
            running.create_task(begin(calls, running))
            await asyncio.sleep(SETTLING_SECONDS)
            used = server.cpu_seconds()
    before = sum(outcome.ended < counted_from for outcome in calls.ended)
    return Phase(
        name,
        offered,
        seconds - SETTLING_SECONDS,
        begun=len(calls.began) - before,
        calls=[outcome for outcome in calls.ended if outcome.ended >= counted_from],
        unanswered=len(calls.began) - len(calls.ended),
        looks=looks,
        cpu_seconds=server.cpu_seconds() - used,
    )


async def _look(address: str, looks: list[Outcome]) -> None:
    """Checks `/health` ten times per second, as a load balancer would."""
    while True:
        looks.append(await call(address, HEALTH))
        await asyncio.sleep(HEALTH_INTERVAL_SECONDS)


def _row(phase: Phase) -> str:
    told = [outcome for outcome in phase.refused if outcome.retry_after]
    greedy = [outcome for outcome in phase.completed if outcome.user == GREEDY]
    each_other = phase.per_second([o for o in phase.completed if o.user != GREEDY]) / len(OTHERS)
    failed = len(phase.calls) - len(phase.completed) - len(phase.refused)
    cells = [
        phase.name,
        f"{phase.offered:.0f}",
        str(phase.begun),
        str(len(phase.completed)),
        str(len(phase.refused)),
        str(failed),
        str(phase.unanswered),
        f"{phase.per_second(phase.completed):.1f}",
        *_times(phase.completed, 95),
        f"{len(told) / len(phase.refused):.0%}" if phase.refused else "–",
        *_times(phase.refused, 95),
        f"{phase.per_second(greedy):.1f}/s",
        f"{each_other:.1f}/s",
        *_times(phase.looks, 99),
        f"{phase.cpu_seconds / phase.seconds:.0%}",
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
    """The address of a chat model that answers everything with one sentence after `seconds`; None without a model."""
    with (
        FakeOpenAI(lambda body: Reply.text("It is so [1].", delay=seconds or 0)) if seconds else nullcontext() as model
    ):
        yield model.url if model else None


@dataclass(frozen=True)
class Server:
    """The server under test, and the id of its process; the database has other processes."""

    address: str
    process: int

    def cpu_seconds(self) -> float:
        """The CPU that its process has used, over all threads."""
        fields = Path(f"/proc/{self.process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _server(pool_size: int, model_address: str | None) -> Iterator[Server]:
    """A new `quarry demo`, removed at the end with its data."""
    with tempfile.TemporaryDirectory(prefix="quarry-load-") as directory:
        # readable by the user that Postgres runs as if this runs as root
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
                yield Server(_address_told(process), process.pid)
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
