"""The steps of a search as its user sees them: each runs, and then completes or fails, with its result in a line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from quarry.companies.contract import Activity, ActivityEvent, ActivityStatus
from quarry.runs.run_log import Run


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: 1 company, 1,200 companies."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


class Step:
    """One step. `detail` is its result in a line."""

    def __init__(self, id: str, label: str, run: Run) -> None:
        self._id, self._label, self._run = id, label, run
        self._started_ms = run.elapsed_ms()
        self._logged = len(run.steps)
        self.detail: str | None = None
        self.status: ActivityStatus = "running"

    @property
    def event(self) -> ActivityEvent:
        """The step in its present state."""
        over = self.status != "running"
        return ActivityEvent(
            data=Activity(
                id=self._id,
                label=self._label,
                status=self.status,
                detail=self.detail if over else None,
                duration_ms=round(self._run.elapsed_ms() - self._started_ms, 1) if over else None,
            )
        )

    def end(self) -> None:
        """End the step: as failed if a part of it failed or needed a fallback."""
        logged = self._run.steps[self._logged :]
        self.status = "failed" if any(record.status != "completed" for record in logged) else "completed"


class Timeline:
    """The steps of one search."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._current: Step | None = None

    @contextmanager
    def step(self, id: str, label: str) -> Iterator[Step]:
        """A step that ends with the block. `id` identifies its events within the search."""
        self._current = Step(id, label, self._run)
        yield self._current
        self._current.end()

    def broken_off(self) -> ActivityEvent | None:
        """The step that an error interrupted, as failed; None if no step was running."""
        step = self._current
        if step is None or step.status != "running":
            return None
        step.status = "failed"
        return step.event
