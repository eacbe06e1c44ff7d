"""What a company search works with, and the values that its steps take and give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace

from quarry.companies.candidates import Candidate, NameMatch
from quarry.companies.contract import ChatRequest, Company, EndReason
from quarry.companies.names import Name
from quarry.companies.outputs import CompanyPlan, RankedCompany
from quarry.companies.query import Sought
from quarry.companies.ranking import Entry, distinct
from quarry.companies.sources import labels
from quarry.platform.budget import in_time
from quarry.platform.settings import Settings
from quarry.query.algebra import Condition, Query
from quarry.runs.run_log import Run
from quarry.services.services import Caller, Services


@dataclass(frozen=True)
class Context:
    """What stays the same throughout one search: request, services, budget, and the settings as `quarry tune` left them."""

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
        """Whether the model may not be asked any more."""
        return self.run.chat is not None and self.run.budget.tokens >= self.run.budget.max_tokens

    def seconds_for_looking(self, has_ranked: bool) -> float:
        """Seconds that look-ups may still take: of the time kept for the answer too, until there is something to answer
        with.
        """
        budget = self.run.budget
        return budget.seconds_for_work if has_ranked else budget.seconds_left

    def in_time(self) -> AbstractAsyncContextManager[None]:
        """A block that ends, by TimeIsUp at the latest, with the search's time; a statement of the database that has begun
        may end after it, by its own timeout.
        """
        return in_time(self.run.budget.seconds_left + self.services.settings.database_timeout_seconds)

    def may_call(self, calls: int = 1, *, has_ranked: bool = False) -> bool:
        """Whether this many more look-ups fit into the budget, one being kept for reading the companies found."""
        return self.run.budget.calls_left > calls and self.seconds_for_looking(has_ranked) > 0

    def is_late(self, has_ranked: bool) -> bool:
        """Whether what was ranked is to be answered with as it is."""
        return has_ranked and (self.seconds_for_looking(has_ranked) <= 0 or self.is_out_of_tokens)

    def note(self, **counts: int) -> None:
        """Note counts of the step of the run that ended last."""
        self.run.steps[-1].counts.update(counts)


@dataclass(frozen=True)
class Asked:
    """The question as it is understood: what it seeks, and whom it names.

    `exact` are the companies that it names outright: the search is over when there are any. `likened` is the name that others
    are to be like, `seed` the company of that name, `seed_vectors` what is stored of its meaning. `is_widened`: the companies
    shown before were left, because none of them fits; `dropped`: so was this, which had only been assumed.
    """

    sought: Sought
    names: Sequence[Name]
    matches: Sequence[NameMatch] = ()
    exact: Sequence[NameMatch] = ()
    likened: str = ""
    seed: Company | None = None
    seed_vectors: Sequence[Sequence[float]] = ()
    companies: Mapping[str, Company] = field(default_factory=dict)
    is_widened: bool = False
    dropped: tuple[Condition, ...] = ()
    detail: str = ""

    def relaxed(self) -> Asked:
        """The same without some of what was only assumed."""
        sought = self.sought.relaxed()
        left_out = (each for each in self.sought.assumed if each not in sought.assumed)
        return replace(self, sought=sought, dropped=(*self.dropped, *left_out))


@dataclass(frozen=True)
class Plan:
    """How to search: what was planned, the phrasings that wait and those that were tried.

    `only` are the ids to which a search among the companies shown before is held. `is_new`: what depends on the plan
    alone was not yet searched for. `asks` is the query for the number that is wanted instead of companies.
    """

    output: CompanyPlan
    sought: Sought
    pending: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    is_new: bool = True
    by_model: bool = False
    asks: Query | None = None

    @property
    def conditions(self) -> Sequence[Condition]:
        """What every company must meet; what was shown before may be of any status."""
        return self.sought.conditions if self.only is None else self.sought.stated

    def queue(self, variants: Sequence[str], held_max: int) -> Plan:
        """With these phrasings waiting, as far as they are new and there is room."""
        known = {text.casefold() for text in (*self.tried, *self.pending)}
        fresh = [variant for variant in distinct(variants) if variant.casefold() not in known]
        return replace(self, pending=(*self.pending, *fresh[: max(0, held_max - len(self.pending))]))

    def taken(self, count: int) -> tuple[Plan, tuple[str, ...]]:
        """The phrasings that are searched for now, and the plan without them."""
        variants = self.pending[:count]
        plan = replace(self, pending=self.pending[count:], tried=(*self.tried, *variants), is_new=False)
        return plan, variants


@dataclass(frozen=True)
class NearMiss:
    """A company that was found but does not meet all conditions: those that it misses, in words."""

    company: Company
    unmet: Sequence[str]


@dataclass(frozen=True)
class Scope:
    """The companies that meet what is stated, looked for once as long as no other plan states something else.

    `filter` is the condition over a row `t` of companies, as SQL; `ids` are the first of those that meet it, `in_order` those
    founded last, where nothing else is asked; None where they were not looked for. `is_cut_short`: there may be others;
    `are_many`: so many that they were not looked for, by a sample.
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
    """What was found. `fitting` is what is left after filtering, best first; `companies` are all that were read whole.

    `is_cut_short`: a limit, or a database that failed, kept something from being looked at.
    """

    scope: Scope | None = None
    pool: Mapping[str, Candidate] = field(default_factory=dict)
    name_scores: Mapping[str, float] = field(default_factory=dict)
    companies: Mapping[str, Company] = field(default_factory=dict)
    fitting: Sequence[Entry] = ()
    near_misses: Sequence[NearMiss] = ()
    is_cut_short: bool = False


@dataclass(frozen=True)
class Ranking:
    """The companies that answer the question, best first, and how surely. `near` are, where no rule says that any does, those
    that come nearest, in the order of their meaning; a model that was asked leaves none.
    `before` are the best ids of the round before.
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
    """How a search stands: what each step of its latest round gave. `note` tells the next plan what became of this one;
    `end_reason`: no further step is to be taken. `stuck` counts the last rounds that ranked nothing, or nothing new.
    """

    asked: Asked
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
        """The plan, of a round that has one."""
        assert self.plan is not None
        return self.plan


def conditions_in_words(sought: Sought) -> list[str]:
    """What companies must meet, as people are told it."""
    return labels(sought.stated) + [f"without “{words}”" for words in sought.excluded]
