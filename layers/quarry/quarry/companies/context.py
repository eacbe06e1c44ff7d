"""The context of a company search, the values that its steps take and return, and the steps as its user sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field, replace

from quarry.companies.candidates import CompanyCandidate, Entry, NameMatch, distinct
from quarry.companies.contract import Activity, ActivityEvent, ActivityStatus, ChatRequest, Company, EndReason
from quarry.companies.intent import CompanyIntent, Name
from quarry.companies.prompts import CompanyPlan, RankedCompany
from quarry.companies.sources import labels
from quarry.language.messages import gettext
from quarry.platform.budget import in_time
from quarry.platform.settings import Settings
from quarry.runs.run_log import Run
from quarry.schema.algebra import Condition
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


@dataclass(frozen=True)
class CompanyInquiry:
    """What a question seeks, and which companies it names.

    `exact` are the companies that it asks about by name: they end the search. `likened` is the name of a company that others
    should resemble, `seed` that company, and `seed_vectors` its stored vectors. `is_widened`: none of the companies shown before
    fits, so all are searched. `dropped` are the assumed conditions that no company met. `is_given`: the
    conditions are a caller's, and no plan changes them; the companies in `left_out` are not found.
    """

    intent: CompanyIntent
    names: Sequence[Name]
    matches: Sequence[NameMatch] = ()
    exact: Sequence[NameMatch] = ()
    likened: str = ""
    seed: Company | None = None
    seed_vectors: Sequence[Sequence[float]] = ()
    companies: Mapping[str, Company] = field(default_factory=dict)
    is_widened: bool = False
    is_given: bool = False
    left_out: frozenset[str] = frozenset()
    dropped: tuple[Condition, ...] = ()
    detail: str = ""

    def relaxed(self) -> CompanyInquiry:
        """The same with one assumed condition less."""
        intent = self.intent.relaxed()
        left_out = (each for each in self.intent.assumed if each not in intent.assumed)
        return replace(self, intent=intent, dropped=(*self.dropped, *left_out))


@dataclass(frozen=True)
class Plan:
    """How to search: the planned output, the phrasings to search for, and those already tried.

    `only` limits the search to companies shown before. `is_new`: the searches that depend on the plan alone have not run yet.
    """

    output: CompanyPlan
    intent: CompanyIntent
    pending: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    is_new: bool = True
    by_model: bool = False
    demanded: tuple[str, ...] = ()
    """Words that the profile of every company must hold."""

    @property
    def conditions(self) -> Sequence[Condition]:
        """The conditions that every company must meet. Companies shown before may have any status."""
        return self.intent.conditions if self.only is None else self.intent.stated

    def queue(self, variants: Sequence[str], held_max: int) -> Plan:
        """The same with new phrasings added to those pending, at most `held_max`."""
        known = {text.casefold() for text in (*self.tried, *self.pending)}
        fresh = [variant for variant in distinct(variants) if variant.casefold() not in known]
        return replace(self, pending=(*self.pending, *fresh[: max(0, held_max - len(self.pending))]))

    def taken(self, count: int) -> tuple[Plan, tuple[str, ...]]:
        """The plan without the next phrasings, and these phrasings."""
        variants = self.pending[:count]
        plan = replace(self, pending=self.pending[count:], tried=(*self.tried, *variants), is_new=False)
        return plan, variants


NEAR_MISSES_MAX = 3
REJECTED_MAX = 8


@dataclass(frozen=True)
class NearMiss:
    """A company that was found but misses conditions; `unmet` are their labels."""

    company: Company
    unmet: Sequence[str]


def unmet(conditions: Sequence[Condition], met: Sequence[bool]) -> list[Condition]:
    """The conditions that are not met."""
    return [each for each, is_met in zip(conditions, met, strict=False) if not is_met]


@dataclass(frozen=True)
class CompaniesInScope:
    """The companies that meet the stated conditions. They are looked up once for each set of conditions.

    `filter` is the SQL condition on a row `t`. `ids` are the first companies that meet it; None before the look-up.
    `in_order`: nothing but conditions is asked, so the newest come first. `is_cut_short`: there may be more. `are_many`: a sample
    shows too many to list.
    """

    conditions: Sequence[Condition]
    excluded: Sequence[str]
    in_order: bool
    filter: str
    ids: Sequence[str] | None = None
    is_cut_short: bool = False
    are_many: bool = False


@dataclass(frozen=True)
class Candidates:
    """The companies found. `fitting` are those that pass the filter, best first; `companies` are all that were read in full.

    `by_meaning`: they were compared in meaning too. `is_cut_short`: a limit or a failed statement left some unseen.
    """

    scope: CompaniesInScope | None = None
    pool: Mapping[str, CompanyCandidate] = field(default_factory=dict)
    name_scores: Mapping[str, float] = field(default_factory=dict)
    companies: Mapping[str, Company] = field(default_factory=dict)
    fitting: Sequence[Entry] = ()
    near_misses: Sequence[NearMiss] = ()
    by_meaning: bool = False
    is_cut_short: bool = False


@dataclass(frozen=True)
class Ranking:
    """The companies that answer the question, best first, and the confidence. If there are none, `near` are the nearest in
    meaning, unless a model ranked. `before` are the best ids of the previous round.
    """

    ranked: Sequence[RankedCompany] = ()
    near: Sequence[RankedCompany] = ()
    confidence: float = 0.0
    before: Sequence[str] | None = None
    detail: str = ""

    @property
    def best(self) -> list[str]:
        return [ranked.company_id for ranked in self.ranked]


@dataclass(frozen=True)
class Round:
    """The state of a search after a step. `note` reports the result of the plan to the next plan. `end_reason` is set when the
    search is over. `stuck` counts the last rounds that ranked nothing new.
    """

    inquiry: CompanyInquiry
    nth: int = 0
    plan: Plan | None = None
    found: Candidates = field(default_factory=Candidates)
    ranking: Ranking = field(default_factory=Ranking)
    note: str = ""
    stuck: int = 0
    end_reason: EndReason | None = None
    is_cut_short: bool = False

    @property
    def planned(self) -> Plan:
        """The plan of a round that has one."""
        assert self.plan is not None
        return self.plan

    @property
    def rejected(self) -> list[Entry]:
        """The best companies that the ranking left out, at most REJECTED_MAX."""
        return [entry for entry in self.found.fitting if entry.company.id not in self.ranking.best][:REJECTED_MAX]


def conditions_in_words(intent: CompanyIntent) -> list[str]:
    """The conditions as users read them."""
    return labels(intent.stated) + [gettext("without “{words}”", words=words) for words in intent.excluded]


# ---- the steps as the user sees them ----


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
