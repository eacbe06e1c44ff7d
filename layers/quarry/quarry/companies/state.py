"""What one company search knows so far. The steps read it and add to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from quarry.companies.anchors import NameQuestion, read_names
from quarry.companies.contract import ChatRequest, Company, EndReason
from quarry.companies.decisions import CompanyPlan, RankedCompany
from quarry.companies.facets import COMPANIES
from quarry.companies.found import Candidate, NameMatch
from quarry.companies.limits import CompanyLimits
from quarry.companies.ranking import Entry
from quarry.companies.query import Sought
from quarry.companies.retrieval import row_filter
from quarry.core.retrieval.questions import Standing, labels_of
from psycopg.sql import Composed
from quarry.core.run_log import Run
from quarry.core.services import Services


@dataclass(frozen=True)
class NearMiss:
    """A company that was found but does not meet all demands: those that it fails, in words."""

    company: Company
    unmet: Sequence[str]


@dataclass
class SearchState:
    """One search while it happens."""

    request: ChatRequest
    services: Services
    run: Run
    limits: CompanyLimits

    names: NameQuestion = field(init=False)
    sought: Sought = field(init=False)
    is_relaxed: bool = False
    """Whether what was only assumed has been given up, because nothing met it."""
    seed_vectors: list[str] = field(default_factory=list)
    standings: dict[str, Standing] = field(default_factory=dict)

    matches: list[NameMatch] = field(default_factory=list)
    """The companies whose names are like one in the question, best first."""
    exact: list[NameMatch] = field(default_factory=list)
    """Those that the question names outright; the search is over when there are any."""
    anchor: Company | None = None
    """The company that others are to be like."""

    plan: CompanyPlan | None = None
    plan_is_new: bool = False
    """Whether the plan was made in this iteration: what depends on it alone is searched for once."""
    pending: list[str] = field(default_factory=list)
    """Phrasings that wait to be searched for."""
    tried: list[str] = field(default_factory=list)
    include_ids: list[str] | None = None
    """The only companies that are searched, or None for all."""
    widened: bool = False
    """Whether the search has left the companies shown before, because none of them met the demands."""
    note: str = ""
    """What became of the last iteration, for the next plan."""

    pool: dict[str, Candidate] = field(default_factory=dict)
    name_scores: dict[str, float] = field(default_factory=dict)
    companies: dict[str, Company] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    """What is left after filtering, best first."""
    near_misses: list[NearMiss] = field(default_factory=list)

    ranked: list[RankedCompany] = field(default_factory=list)
    confidence: float = 0.0
    iteration: int = 0
    best_before: list[str] | None = None
    """The best ids of the iteration before; None in the first."""
    is_cut_short: bool = False
    """Whether a limit, or a database that failed, kept a step from being taken."""
    end_reason: EndReason | None = None

    def __post_init__(self) -> None:
        self.names = read_names(self.question)

    @property
    def question(self) -> str:
        return self.request.question

    @property
    def the_plan(self) -> CompanyPlan:
        """The plan, once there is one."""
        assert self.plan is not None
        return self.plan

    @property
    def filter(self) -> Composed:
        """What every company that is found must meet."""
        clauses = self.sought.stated if self.is_narrowed else self.sought.clauses
        return row_filter(clauses, self.sought.excluded)

    @property
    def is_narrowed(self) -> bool:
        """Whether only the companies that were shown before are searched."""
        return self.the_plan.intent == "narrow" and bool(self.request.previous_candidate_ids) and not self.widened

    @property
    def is_closed_set(self) -> bool:
        """Whether so few companies are searched that all of them are looked at, however far they are from the question."""
        return self.include_ids is not None and len(self.include_ids) <= self.limits.hydrated_max

    @property
    def demands(self) -> list[str]:
        """What the question demands of a company's status and fields, in words."""
        clauses = self.sought.stated
        return labels_of(COMPANIES, clauses, range(len(clauses))) + [f"not {words}" for words in self.sought.excluded]

    @property
    def rankable(self) -> list[Entry]:
        """The entries that are ranked."""
        return self.entries[: self.limits.reranked_max]

    @property
    def best(self) -> list[str]:
        """The ids of the ranked companies, best first."""
        return [ranked.company_id for ranked in self.ranked]

    @property
    def is_out_of_tokens(self) -> bool:
        """Whether the model may not be asked any more."""
        return self.run.chat is not None and self.run.budget.tokens >= self.run.budget.max_tokens

    @property
    def is_spent(self) -> bool:
        """Whether the limits forbid another step."""
        return self.is_out_of_tokens or not self.may_call()

    @property
    def seconds_for_looking(self) -> float:
        """Seconds that look-ups may still take: of the time kept for the answer too, until there is something to answer with."""
        budget = self.run.budget
        return budget.seconds_for_work if self.ranked else budget.seconds_left

    @property
    def is_over(self) -> bool:
        """Whether no further step is to be taken: what was ranked is answered with as it is."""
        is_late = self.seconds_for_looking <= 0 or self.is_out_of_tokens
        return self.end_reason is not None or (bool(self.ranked) and is_late)

    def may_call(self, calls: int = 1) -> bool:
        """Whether this many more look-ups fit into the budget, one being kept for reading the companies found."""
        return self.run.budget.calls_left > calls and self.seconds_for_looking > 0
