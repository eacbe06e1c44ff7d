"""The run log: every search with timed steps and ranked results, for `quarry runs` and for operators.

Finished runs go into a bounded queue. One writer stores them in batches over a connection that no search needs. Runs that find
the queue full, or that the database rejects, are dropped and counted; no search waits for the log or fails because of it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal, LiteralString, NamedTuple

from psycopg.sql import SQL, Composable, Identifier

from quarry.language.messages import gettext_noop
from quarry.models.interface import ChatModel, Prices, Usage
from quarry.platform.budget import Budget
from quarry.platform.errors import DatabaseUnavailable, NotFound, QuarryError
from quarry.platform.tables import KEEP, ExpiringTable
from quarry.platform.telemetry import (
    COMPLETION_TOKENS,
    DEGRADED_STEPS,
    FAILED_SEARCHES,
    MODEL_COST,
    PROMPT_TOKENS,
    SEARCHES,
    Metrics,
    span,
    untraced,
)
from quarry.postgres.pool import Connection, Database

RunStatus = Literal["running", "completed", "failed", "abandoned"]
StepStatus = Literal["completed", "degraded", "failed"]

PENDING_RUNS_MAX = 500
BATCH_RUNS = 20
REQUEST_CHARACTERS_MAX = 20_000
"""Longer requests (as JSON) are not kept, since many may be waiting in the queue."""
BEGUN_SECONDS = 1.0
"""A run that lasts longer is written while it runs, with the steps that have ended, so that a killed run leaves them."""
RENEWED_SECONDS = 5.0
"""It is written again after so long."""
DRAIN_SECONDS = 2.0
ENDED_LATE = "ended at its deadline"
"""The reason for cancelling a task whose search ran out of time, as opposed to one without a reader."""
WARNING_PAUSE_SECONDS = 60.0

logger = logging.getLogger(__name__)


@dataclass
class StepRecord:
    """One step of a run. Milliseconds count from the run's start. `counts` are true numbers of what the step read or produced.
    `reason` is the kind of error that made it fail or degrade.
    """

    name: str
    started_ms: float
    duration_ms: float = 0.0
    status: StepStatus = "completed"
    usage: Usage = field(default_factory=Usage)
    counts: dict[str, int] = field(default_factory=dict)
    reason: str | None = None
    has_ended: bool = False


class ResultRecord(NamedTuple):
    """One result of a run. Its rank is its position in the list."""

    type: str
    id: str
    score: float


@dataclass
class Run:
    """A search in progress. `degraded` names the model steps that a fallback served, `request` repeats the search, `answer_id`
    is the stored answer, `decided` holds the model's decisions by what was asked, `session_id` joins the turns of a chat, and
    `iterations` counts the rounds of a loop.
    """

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
    request: Mapping[str, Any] | None = None
    answer_id: str | None = None
    status: RunStatus = "running"
    session_id: str | None = None
    iterations: int = 0
    is_our_fault: bool = False
    duration_ms: float = 0.0
    decided: dict[object, Any] = field(default_factory=dict, repr=False)
    has_timed_out: bool = False
    """Whether the model was too slow once: what else it would do is done without it."""
    _started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def step(self, name: str) -> Iterator[StepRecord]:
        """Times a step. An exception marks it as failed and propagates."""
        with span(name, {"quarry.domain": self.domain, "quarry.run_id": str(self.id)}) as attributes:
            record = StepRecord(name, started_ms=self.elapsed_ms())
            self.steps.append(record)
            try:
                yield record
            except BaseException as error:
                record.status, record.reason = "failed", type(error).__name__
                raise
            finally:
                record.duration_ms, record.has_ended = self.elapsed_ms() - record.started_ms, True
                attributes["quarry.step.status"] = record.status

    def degrade(self, name: str, record: StepRecord | None = None, error: BaseException | None = None) -> None:
        """Records that the step `name` was served by a fallback, or only in part, because of `error`."""
        if name not in self.degraded:
            self.degraded.append(name)
        if record is not None:
            record.status = "degraded"
            record.reason = type(error).__name__ if error else record.reason

    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self._started) * 1000

    @property
    def usage(self) -> Usage:
        return sum((step.usage for step in self.steps), Usage())


class RunLog:
    """Writes runs to `search_runs`, `search_run_steps` and `search_run_results`, and counts them in `metrics`, with token costs
    by `prices`. `dropped` counts the runs it could not write.
    """

    def __init__(self, database: Database, metrics: Metrics | None = None, prices: Prices | None = None) -> None:
        self._database = database
        self._metrics = metrics or Metrics()
        self.prices = prices or Prices()
        self._waiting: deque[Run] = deque()
        self._writer: asyncio.Task[None] | None = None
        self._warned_at = float("-inf")
        self.dropped = 0

    def on(self, database: Database) -> RunLog:
        """A log of another database, with the same metrics and prices."""
        return RunLog(database, self._metrics, self.prices)

    @contextmanager
    def record(self, run: Run) -> Iterator[Run]:
        """Closes the run at the end of the block: completed, failed, or abandoned if the client went away. A long run is first
        written as running.
        """
        clock = asyncio.get_running_loop()
        next_write: asyncio.TimerHandle | None = None

        def write_on() -> None:
            nonlocal next_write
            self._write_later(run)
            next_write = clock.call_later(RENEWED_SECONDS, write_on)

        next_write = clock.call_later(BEGUN_SECONDS, write_on)
        try:
            yield run
            run.status = "completed" if run.status == "running" else run.status
        except (GeneratorExit, asyncio.CancelledError) as error:
            run.status, run.end_reason = "abandoned", "abandoned"
            run.is_our_fault = ENDED_LATE in error.args
            raise
        except BaseException as error:
            run.status, run.end_reason = "failed", run.end_reason or "error"
            run.is_our_fault = not isinstance(error, QuarryError) or error.status >= 500
            raise
        finally:
            next_write.cancel()
            run.duration_ms = run.elapsed_ms()
            self._count(run)
            self._write_later(run)

    async def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Waits until everything recorded so far is written, at most `seconds`. A Lambda is frozen once it has answered."""
        if self._writer is not None:
            await asyncio.wait({self._writer}, timeout=seconds)

    async def close(self) -> None:
        """Writes what can be written in time, and drops the rest."""
        await self.drain()
        if self._writer is not None and not self._writer.done():
            self._writer.cancel()
            await self.drain()
        self._drop(len(self._waiting), "the process ends")
        self._waiting.clear()

    def _count(self, run: Run) -> None:
        usage = run.usage
        counts = {
            SEARCHES: 1,
            FAILED_SEARCHES: int(run.is_our_fault),
            DEGRADED_STEPS: len(run.degraded),
            PROMPT_TOKENS: usage.prompt_tokens,
            COMPLETION_TOKENS: usage.completion_tokens,
            MODEL_COST: self.prices.cost(usage),
        }
        for metric, value in counts.items():
            if value:
                self._metrics.count(metric, value, domain=run.domain)
                if metric in _WATCHED:
                    self._metrics.count(metric, value)

    def _write_later(self, run: Run) -> None:
        if len(self._waiting) >= PENDING_RUNS_MAX:
            self._drop(1, "too many wait to be written")
            return
        self._waiting.append(run)
        # started when there is something to write, on the current event loop
        if self._writer is None or self._writer.done():
            self._writer = asyncio.get_running_loop().create_task(self._write_waiting(), context=untraced())

    async def _write_waiting(self) -> None:
        size = BATCH_RUNS
        while self._waiting:
            batch = list(islice(self._waiting, size))
            try:
                await self._write(batch)
            except Exception as error:
                if len(batch) > 1 and not isinstance(error, DatabaseUnavailable):
                    size = 1  # one run cannot be written, but the others can
                    continue
                self._drop(len(batch), type(error.__cause__ or error).__name__)
            for _ in batch:
                self._waiting.popleft()

    async def _write(self, runs: Sequence[Run]) -> None:
        runs = list({run.id: run for run in runs}.values())  # a run that began and ended in one batch is written once
        rows = list(map(_run_row, runs))
        over = [run for run in runs if run.status != "running"]
        steps = [row for run in runs for row in _ended_steps(run)]
        results = [
            {"result_type": each.type, "result_id": each.id, "score": each.score, "run_id": str(run.id), "rank": rank}
            for run in over
            for rank, each in enumerate(run.results, start=1)
        ]
        async with self._database.background.transaction() as connection:
            await connection.execute(KEEP)
            await _insert(connection, "search_runs", rows, key="id")
            await connection.execute(_LET_GO, [[str(run.id) for run in runs]])
            await _insert(connection, "search_run_steps", steps, key="run_id, step_number")
            await _insert(
                connection, "search_run_results", results, but=SQL("where not was_forgotten(result_type, result_id)")
            )

    def _drop(self, count: int, reason: str) -> None:
        self.dropped += count
        if count and time.monotonic() - self._warned_at >= WARNING_PAUSE_SECONDS:
            self._warned_at = time.monotonic()
            logger.warning("runs are not recorded, %d since the start: %s", self.dropped, reason)


_WATCHED = frozenset((SEARCHES, FAILED_SEARCHES, MODEL_COST))
"""Also counted over all domains: an alarm that sums over domains would be billed for each."""


class UsageRecorder(RunLog):
    """A run log that forwards to another one, and knows the usage of its own runs."""

    def __init__(self, log: RunLog) -> None:
        self._log = log
        self._runs: list[Run] = []

    @contextmanager
    def record(self, run: Run) -> Iterator[Run]:
        self._runs.append(run)
        with self._log.record(run):
            yield run

    @property
    def usage(self) -> Usage:
        """Chat model tokens of all runs so far."""
        return sum((run.usage for run in self._runs), Usage())


# requests that quote a record forgotten during the run, or while a page was open
_LET_GO: LiteralString = """
update search_runs r set request = null
where r.id = any(%s::uuid[]) and exists (select from forgotten where forgotten_at > now() - interval '1 day') and exists (
  select from jsonb_path_query(r.request, 'strict $.**') v (value) join forgotten f on f.id_hash = id_hash(v.value #>> '{}')
  where f.domain = r.domain and f.forgotten_at > now() - interval '1 day' and jsonb_typeof(v.value) = 'string')
"""

_NOTHING = SQL("")


async def _insert(
    connection: Connection,
    table: str,
    rows: Sequence[dict[str, Any]],
    *,
    but: Composable = _NOTHING,
    key: LiteralString | None = None,
) -> None:
    """Inserts rows with the same columns that satisfy `but`. With a `key`, replaces rows that have the same one."""
    if rows:
        columns = SQL(", ").join(map(Identifier, rows[0]))
        changes = SQL(", ").join(SQL("{0} = excluded.{0}").format(Identifier(each)) for each in rows[0])
        over = SQL("on conflict ({}) do update set {}").format(SQL(key), changes) if key else _NOTHING
        await connection.execute(
            SQL(
                "insert into {table} ({columns}) select {columns} from jsonb_populate_recordset(null::{table}, %s) {but} {over}"
            ).format(table=Identifier(table), columns=columns, but=but, over=over),
            [json.dumps(rows)],
        )


def _run_row(run: Run) -> dict[str, Any]:
    usage = run.usage
    return {
        "id": str(run.id),
        "domain": run.domain,
        "caller": run.caller,
        "query": run.query,
        "status": run.status,
        "end_reason": "in_progress" if run.status == "running" else run.end_reason,
        "started_at": run.started_at.isoformat(),
        "duration_ms": run.duration_ms,
        "chat_model": run.chat.name if run.chat else None,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "degraded_steps": run.degraded,
        "request_id": run.request_id,
        "request": run.request if len(json.dumps(run.request)) <= REQUEST_CHARACTERS_MAX else None,
        "answer_id": run.answer_id,
        "iteration_count": run.iterations,
        "tool_call_count": run.budget.calls,
        "session_id": run.session_id,
    }


def _ended_steps(run: Run) -> Iterator[dict[str, Any]]:
    """The rows of the steps, of a run that goes on those that have ended."""
    return (
        {"run_id": str(run.id), "step_number": number, **_step_row(step)}
        for number, step in enumerate(run.steps, start=1)
        if step.has_ended or run.status != "running"
    )


def _step_row(step: StepRecord) -> dict[str, Any]:
    return {
        "name": step.name,
        "status": step.status,
        "started_ms": step.started_ms,
        "duration_ms": step.duration_ms,
        "prompt_tokens": step.usage.prompt_tokens,
        "completion_tokens": step.usage.completion_tokens,
        "counts": step.counts,
        "reason": step.reason,
    }


async def keep_feedback(
    database: Database, run_id: uuid.UUID, caller: str, *, helpful: bool, reason: str | None
) -> None:
    """Stores the caller's feedback on one of their runs. Raises NotFound if there is no such run."""
    if not await database.execute(
        """update search_runs set helpful = %s, feedback_reason = %s, feedback_at = now() where id = %s and caller = %s""",
        [helpful, reason or None, run_id, caller],
    ):
        raise NotFound(gettext_noop("There is no such run, or it is not yours."))


async def recent_runs(database: Database, limit: int, *, with_feedback: bool = False) -> list[dict[str, Any]]:
    """The latest runs, newest first; or those with feedback, latest feedback first."""
    which = SQL(
        "where feedback_at is not null order by feedback_at desc" if with_feedback else "order by started_at desc"
    )
    return await database.rows(
        SQL(
            """select id::text, domain, caller, query, status, end_reason, started_at, duration_ms, prompt_tokens,
             completion_tokens, degraded_steps, helpful, feedback_reason
           from search_runs {}, id limit {}"""
        ).format(which, limit)
    )


async def whole_run(database: Database, run_id: str) -> dict[str, Any]:
    """A run with its steps and results, by its id or an unambiguous prefix of it. Raises NotFound."""
    runs = await database.rows(
        "select *, id::text as id from search_runs where starts_with(id::text, lower(%s)) limit 2", [run_id]
    )
    if len(runs) != 1:
        raise NotFound(f"There is {'more than one' if runs else 'no'} run {run_id!r}; `quarry runs` lists them.")
    run = runs[0]
    run["steps"] = await database.rows(
        """select step_number, name, status, started_ms, duration_ms, prompt_tokens, completion_tokens, counts, reason
           from search_run_steps where run_id = %s order by step_number""",
        [run["id"]],
    )
    run["results"] = await database.rows(
        "select rank, result_type, result_id, score from search_run_results where run_id = %s order by rank",
        [run["id"]],
    )
    return run


BATCH_ROWS = 1000


CORE_EXPIRING = (
    ExpiringTable("rate_windows", "rate_windows", "window_start < now() - interval '5 minutes'"),
    ExpiringTable("idempotency_keys", "idempotency_keys", "expires_at <= now()"),
    ExpiringTable("embedding_claims", "embedding_claims", "claimed_until <= now()"),
    ExpiringTable("search_runs", "runs", "started_at < now() - make_interval(days => %(run_log_days)s)"),
)


async def delete_expired(
    database: Database,
    tables: Sequence[ExpiringTable],
    *,
    run_log_days: int,
    keep_going: Callable[[], bool] = lambda: True,
) -> dict[str, int]:
    """Deletes the expired rows of each table in batches, while `keep_going` returns true. Returns the number per table."""
    deleted = dict.fromkeys((table.label for table in tables), 0)
    for table in tables:
        statement = SQL(
            "delete from {table} where ctid = any(array("
            "select ctid from {table} where {expired} limit {batch} for update skip locked))"
        ).format(table=Identifier(table.table), expired=SQL(table.expired), batch=BATCH_ROWS)
        while keep_going():
            count = await database.execute(statement, {"run_log_days": run_log_days})
            deleted[table.label] += count
            if count < BATCH_ROWS:
                break
    return deleted
