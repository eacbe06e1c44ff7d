"""The run log: every search as a run with timed steps and ranked results, for `quarry runs` and for operators.

It is best effort and off the critical path: a run is written once, after it ended, by a background task; a log that cannot
be written is noted and forgotten, and never fails a search.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from quarry.core.budget import Budget
from quarry.core.errors import NotFound
from quarry.core.model.interface import ChatModel, Usage
from quarry.core.postgres.pool import Connection, Database

RunStatus = Literal["completed", "failed", "abandoned"]
StepStatus = Literal["completed", "degraded", "failed"]

PENDING_RUNS_MAX = 500
DRAIN_SECONDS = 2.0

logger = logging.getLogger(__name__)


@dataclass
class StepRecord:
    """One step of a run. Milliseconds count from the run's start; `counts` are true numbers of what the step saw or made."""

    name: str
    started_ms: float
    duration_ms: float = 0.0
    status: StepStatus = "completed"
    usage: Usage = field(default_factory=Usage)
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ResultRecord:
    """One result that a run gave; its rank is its place in the list."""

    type: str
    id: str
    score: float


@dataclass
class Run:
    """One search while it happens. Handed through the search; `degraded` names the model steps that a stand-in served."""

    domain: str
    caller: str
    query: str
    budget: Budget
    chat: ChatModel | None
    request_id: str | None = None
    id: uuid.UUID = field(default_factory=uuid.uuid4)
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    degraded: list[str] = field(default_factory=list)
    steps: list[StepRecord] = field(default_factory=list)
    results: list[ResultRecord] = field(default_factory=list)
    end_reason: str | None = None
    status: RunStatus = "completed"
    duration_ms: float = 0.0
    _started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def step(self, name: str) -> Iterator[StepRecord]:
        """Time a step. An exception marks it failed and goes on its way."""
        record = StepRecord(name, started_ms=self.elapsed_ms())
        self.steps.append(record)
        try:
            yield record
        except BaseException:
            record.status = "failed"
            raise
        finally:
            record.duration_ms = self.elapsed_ms() - record.started_ms

    def degrade(self, name: str, record: StepRecord | None = None) -> None:
        """Note that a stand-in, or less than was asked for, served the step `name`."""
        if name not in self.degraded:
            self.degraded.append(name)
        if record is not None:
            record.status = "degraded"

    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self._started) * 1000

    @property
    def usage(self) -> Usage:
        return sum((step.usage for step in self.steps), Usage())


class RunLog:
    """Writes runs to `search_runs`, `search_run_steps` and `search_run_results`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writing: set[asyncio.Task[None]] = set()

    @contextmanager
    def record(self, run: Run) -> Iterator[Run]:
        """Close the run at the end of the block: completed, failed by an exception, or abandoned when the client went away."""
        try:
            yield run
        except (GeneratorExit, asyncio.CancelledError):
            run.status, run.end_reason = "abandoned", "abandoned"
            raise
        except BaseException:
            run.status, run.end_reason = "failed", run.end_reason or "error"
            raise
        finally:
            run.duration_ms = run.elapsed_ms()
            self._write_later(run)

    async def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Wait until what was recorded so far is written, at most `seconds`; a Lambda is frozen once it has answered."""
        if self._writing:
            await asyncio.wait(set(self._writing), timeout=seconds)

    def _write_later(self, run: Run) -> None:
        if len(self._writing) >= PENDING_RUNS_MAX:
            logger.warning("run log is behind; run %s is not recorded", run.id)
            return
        task = asyncio.get_running_loop().create_task(self._write(run))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _write(self, run: Run) -> None:
        try:
            async with self._database.transaction() as connection:
                await _insert(connection, run)
        except Exception as error:
            logger.warning("run %s could not be recorded: %s", run.id, type(error).__name__)


async def _insert(connection: Connection, run: Run) -> None:
    usage = run.usage
    await connection.execute(
        """insert into search_runs (id, domain, caller, query, status, end_reason, started_at, duration_ms, chat_model,
             prompt_tokens, completion_tokens, degraded_steps, request_id)
           values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)""",
        [
            run.id, run.domain, run.caller, run.query, run.status, run.end_reason, run.started_at, run.duration_ms,
            run.chat.name if run.chat else None, usage.prompt_tokens, usage.completion_tokens, run.degraded, run.request_id,
        ],
    )  # fmt: skip
    if run.steps:
        await connection.execute(
            """insert into search_run_steps (run_id, step_number, name, status, started_ms, duration_ms, prompt_tokens,
                 completion_tokens, counts)
               select %s, s.* from unnest(%s::int[], %s::text[], %s::text[], %s::float8[], %s::float8[], %s::int[], %s::int[],
                 %s::jsonb[]) s""",
            [
                run.id,
                list(range(1, len(run.steps) + 1)),
                [step.name for step in run.steps],
                [step.status for step in run.steps],
                [step.started_ms for step in run.steps],
                [step.duration_ms for step in run.steps],
                [step.usage.prompt_tokens for step in run.steps],
                [step.usage.completion_tokens for step in run.steps],
                [json.dumps(step.counts) for step in run.steps],
            ],
        )
    if run.results:
        await connection.execute(
            """insert into search_run_results (run_id, rank, result_type, result_id, score)
               select %s, r.* from unnest(%s::int[], %s::text[], %s::text[], %s::float8[]) r""",
            [
                run.id,
                list(range(1, len(run.results) + 1)),
                [result.type for result in run.results],
                [result.id for result in run.results],
                [result.score for result in run.results],
            ],
        )


async def recent_runs(database: Database, limit: int) -> list[dict[str, Any]]:
    """The latest runs, newest first."""
    return await database.rows(
        """select id::text, domain, caller, query, status, end_reason, started_at, duration_ms, prompt_tokens,
             completion_tokens, degraded_steps
           from search_runs order by started_at desc, id limit %s""",
        [limit],
    )


async def whole_run(database: Database, run_id: str) -> dict[str, Any]:
    """A run with its steps and results, by its id or the unambiguous beginning of it. Raises NotFound."""
    runs = await database.rows(
        "select *, id::text as id from search_runs where starts_with(id::text, lower(%s)) limit 2", [run_id]
    )
    if len(runs) != 1:
        raise NotFound(f"There is {'more than one' if runs else 'no'} run {run_id!r}; `quarry runs` lists them.")
    run = runs[0]
    run["steps"] = await database.rows(
        """select step_number, name, status, started_ms, duration_ms, prompt_tokens, completion_tokens, counts
           from search_run_steps where run_id = %s order by step_number""",
        [run["id"]],
    )
    run["results"] = await database.rows(
        "select rank, result_type, result_id, score from search_run_results where run_id = %s order by rank",
        [run["id"]],
    )
    return run
