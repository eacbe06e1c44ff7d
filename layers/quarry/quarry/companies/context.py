"""The context of a company search, and its steps as the user sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass

from quarry.companies.contract import Activity, ActivityEvent, ActivityStatus, ChatRequest
from quarry.companies.intent import CompanyIntent
from quarry.companies.sources import labels
from quarry.language.messages import gettext
from quarry.platform.budget import in_time
from quarry.platform.settings import Settings
from quarry.runs.run_log import Run
from quarry.services.services import Caller, Services


@dataclass(frozen=True)
class Context:
    """What stays the same during a search: request, services, run, and the settings as tuned by `quarry tune`."""

    request: ChatRequest
    caller: Caller
    services: Services
    run: Run
    settings: Settings

    @property
    def question(self) -> str:
        return self.request.question

    @property
    def is_out_of_tokens(self) -> bool:
        """Whether the token budget is spent."""
        return self.run.chat is not None and self.run.budget.tokens >= self.run.budget.max_tokens

    def seconds_for_looking(self, has_ranked: bool) -> float:
        """Seconds left for look-ups. Until something was ranked, the time reserved for the answer counts too."""
        budget = self.run.budget
        return budget.seconds_for_work if has_ranked else budget.seconds_left

    def in_time(self) -> AbstractAsyncContextManager[None]:
        """A block that raises TimeIsUp when the time of the search is up. A running statement may take its own timeout more."""
        return in_time(self.run.budget.seconds_left + self.services.settings.database_timeout_seconds)

    def may_call(self, calls: int = 1, *, has_ranked: bool = False) -> bool:
        """Whether the budget allows so many more look-ups. One is reserved for reading the companies found."""
        return self.run.budget.calls_left > calls and self.seconds_for_looking(has_ranked) > 0

    def is_late(self, has_ranked: bool) -> bool:
        """Whether the search must end with what was ranked so far."""
        return has_ranked and (self.seconds_for_looking(has_ranked) <= 0 or self.is_out_of_tokens)

    def note(self, **counts: int) -> None:
        """Add counts to the last step of the run log."""
        self.run.steps[-1].counts.update(counts)


def conditions_in_words(intent: CompanyIntent) -> list[str]:
    """The conditions as users read them."""
    return labels(intent.stated) + [gettext("without “{words}”", words=words) for words in intent.excluded]


# ---- the steps as the user sees them ----


def quantity(number: int, one: str, many: str | None = None) -> str:
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
