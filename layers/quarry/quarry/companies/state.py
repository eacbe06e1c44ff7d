"""The values of a search for companies: what a question seeks, candidates with their scores and order, what profiles say in a few
words, and at the end the question, the plan and the state. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

from quarry.companies.contract import Company, EndReason
from quarry.companies.tables import STATUS, STATUSES, FundingStage, Status
from quarry.language.messages import gettext, gettext_noop
from quarry.language.word_forms import sentences
from quarry.language.writing import listed_label
from quarry.platform.contract import Evidence
from quarry.platform.text import shorten, significant_words
from quarry.schema.algebra import Comparison, Condition, Query, comparisons_of

if TYPE_CHECKING:
    from quarry.companies.prompts import CompanyPlan, RankedCompany
    from quarry.query.contract import QueryResult

CONDITIONS_MAX = 12
"""The most stated conditions; and the most assumed ones, preferred ones and tags."""


EXCLUDED_MAX = 12
"""The most words or phrases that are excluded."""


COUNT_MAX = 20


STARTUPS = Comparison(field=STATUS, values=("startup",))


@dataclass(frozen=True)
class TagGroup:
    """Tags that words of the question may name: any of `conditions`. `is_demanded`: the companies likely must have one."""

    name: str
    conditions: tuple[Comparison, ...]
    is_demanded: bool = False

    def values(self, field: str) -> frozenset[str]:
        return frozenset(str(value) for each in self.conditions if each.field == field for value in each.scalars)


@dataclass(frozen=True)
class CompanyIntent:
    """What a question seeks.

    `stated` conditions must hold. `assumed` ones are dropped if no company meets them: guesses at what the question says, and the
    status `startup` if it names none. `tags` and `preferred` conditions raise the rank of a company. No company may contain the
    `excluded` words. `topic` is the text to find by words and meaning, `words` its stems. `is_plain`: the topic consists of tags.
    `missing` are places without companies. `asks` is the query if the question asks for a number or groups, and `is_sure` whether
    it was surely read so. `has_more`: some conditions are over the limit.
    """

    stated: tuple[Condition, ...] = ()
    assumed: tuple[Condition, ...] = ()
    tags: tuple[TagGroup, ...] = ()
    preferred: tuple[Condition, ...] = ()
    excluded: tuple[str, ...] = ()
    topic: str = ""
    words: tuple[str, ...] = ()
    is_plain: bool = False
    count: int | None = None
    missing: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    asks: Query | None = None
    is_sure: bool = False
    has_more: bool = False

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that every company must meet."""
        return (*self.stated, *self.assumed)

    @property
    def demands(self) -> tuple[Condition, ...]:
        """The conditions that the question states or may state."""
        return (*self.stated, *self.guesses)

    @property
    def guesses(self) -> tuple[Condition, ...]:
        """The conditions that the question may state, likeliest first."""
        return tuple(each for each in self.assumed if each != STARTUPS)

    @property
    def is_stated(self) -> bool:
        """Whether the question limits the companies by more than their status."""
        return bool(self.demands or self.excluded)

    def guessed(self, statuses: Sequence[str]) -> CompanyIntent:
        """The same with the model's statuses, if the question states none."""
        existing = tuple(status for status in STATUSES if status in {each.strip().lower() for each in statuses})
        if not existing or STARTUPS not in self.assumed:
            return self
        guess = Comparison(field=STATUS, values=existing)
        return replace(self, assumed=tuple(guess if each == STARTUPS else each for each in self.assumed))

    def relaxed(self) -> CompanyIntent:
        """The same with one assumed condition less: the least likely guess, and last the status."""
        weakest = self.guesses[-1] if self.guesses else STARTUPS
        return replace(self, assumed=tuple(each for each in self.assumed if each != weakest))

    def bounded(self) -> CompanyIntent:
        """The same with each condition once, within the limits."""
        once = replace(self, stated=_once(self.stated), assumed=_once(self.assumed), preferred=_once(self.preferred))
        bounded = replace(
            once,
            stated=once.stated[:CONDITIONS_MAX],
            assumed=once.assumed[:CONDITIONS_MAX],
            preferred=once.preferred[:CONDITIONS_MAX],
            tags=once.tags[:CONDITIONS_MAX],
            excluded=once.excluded[:EXCLUDED_MAX],
        )
        return replace(bounded, has_more=bounded != once)


def assumed(stated: Sequence[Condition]) -> tuple[Condition, ...]:
    """The assumed status: `startup`, if no condition is on the status."""
    return () if any(STATUS in fields_of(each) for each in stated) else (STARTUPS,)


def _once(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    return tuple(dict.fromkeys(conditions))


def fields_of(condition: Condition) -> set[str]:
    """The fields that a condition compares."""
    return {each.field for each in comparisons_of((condition,))}


Matched = Literal["name", "former_name", "domain"]
Source = Literal["hybrid", "keyword", "taxonomy"]
SOURCES: tuple[Source, ...] = get_args(Source)
SIGNALS = ("semantic", "keyword", "niche", "combined", "taxonomy")
"""The scores of a candidate."""


@dataclass(frozen=True)
class Variant:
    """One phrasing to search for; without a vector, by words alone."""

    text: str
    vector: Sequence[float] | None = None


@dataclass(frozen=True)
class NameMatch:
    """A company whose name, former name or web address matches a name in a question, which has this `spelling`.

    `name_score` is 1 if they differ only in case, accents, spaces and punctuation, else their trigram similarity.
    """

    company_id: str
    company_name: str
    name_score: float
    matched: Matched
    status: Status
    spelling: str


@dataclass(frozen=True)
class CompanyCandidate:
    """A company that a search found, with the best of each signal over all variants, or 0.

    `semantic` is a cosine similarity, `keyword` and `niche` are text ranks, `combined` is their weighted sum, `taxonomy` the
    share of the tags asked for that it has. `sources` names the searches that found it.
    """

    company_id: str
    semantic: float = 0.0
    keyword: float = 0.0
    niche: float = 0.0
    combined: float = 0.0
    taxonomy: float = 0.0
    sources: tuple[Source, ...] = ()


def merge(candidates: Iterable[CompanyCandidate]) -> list[CompanyCandidate]:
    """Each company once, with the highest of each signal; best `combined` first, then by `taxonomy` and id."""
    by_company: dict[str, list[CompanyCandidate]] = defaultdict(list)
    for candidate in candidates:
        by_company[candidate.company_id].append(candidate)
    merged = [same[0] if len(same) == 1 else _merged(same) for same in by_company.values()]
    return sorted(merged, key=lambda candidate: (-candidate.combined, -candidate.taxonomy, candidate.company_id))


def _merged(same: Sequence[CompanyCandidate]) -> CompanyCandidate:
    best = {name: max(getattr(each, name) for each in same) for name in SIGNALS}
    sources = {name for each in same for name in each.sources}
    return CompanyCandidate(same[0].company_id, **best, sources=tuple(name for name in SOURCES if name in sources))


# ---- order ----

TOP_COMPARED = 5
"""A search has converged when this many of the best are the same as before, in the same order."""

TAXONOMY_WEIGHT = 0.2
"""Added to the combined score of a candidate that has all tags asked for."""

PREFERENCE_WEIGHT = 0.3
"""Added to the score of a company that meets all preferred conditions, and to its confidence for ordering."""


@dataclass(frozen=True)
class Entry:
    """A candidate with its company. `name_score` says how well its name matches the question (0 to 1); `preference` is the share
    of the preferred conditions that it meets.
    """

    company: Company
    candidate: CompanyCandidate
    name_score: float = 0.0
    preference: float = 0.0
    boost: float = 0.0

    @property
    def score(self) -> float:
        """The score that candidates are ordered by before the ranking."""
        return standing(self.candidate, self.name_score) + self.boost


def standing(candidate: CompanyCandidate, name_score: float) -> float:
    """A candidate's combined score, plus those of its tags and its name."""
    return candidate.combined + TAXONOMY_WEIGHT * candidate.taxonomy + name_score


def in_order(candidates: Iterable[CompanyCandidate], name_scores: Mapping[str, float]) -> list[CompanyCandidate]:
    """The candidates, best first."""
    return sorted(
        candidates,
        key=lambda candidate: (-standing(candidate, name_scores.get(candidate.company_id, 0.0)), candidate.company_id),
    )


def boosted(entries: Sequence[Entry], niches: Sequence[str], niche_weight: float) -> list[Entry]:
    """The entries, best score first, with a boost of `niche_weight` times the share of the plan's niches that a company has, and
    one for its preference.
    """
    shares = [sum(has_niche(entry.company, each) for each in niches) / (len(niches) or 1) for entry in entries]
    with_boost = (
        replace(entry, boost=niche_weight * share + PREFERENCE_WEIGHT * entry.preference)
        for entry, share in zip(entries, shares, strict=True)
    )
    return sorted(with_boost, key=lambda entry: (-entry.score, entry.company.id))


def has_niche(company: Company, niche: str) -> bool:
    """Whether a company's profile contains all significant words of a niche."""
    return frozenset(significant_words(niche)) <= profile_words(company)


def quantity(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: 1 company, 1,200 companies."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def distinct(texts: Iterable[str]) -> list[str]:
    """Texts on one line, each once whatever its case; empty ones dropped."""
    by_key: dict[str, str] = {}
    for text in texts:
        line = " ".join(text.split())
        if line:
            by_key.setdefault(line.casefold(), line)
    return list(by_key.values())


def converged(before: Sequence[str] | None, now: Sequence[str]) -> bool:
    """Whether the best companies are the same as in the previous round; false in the first."""
    return before is not None and before[:TOP_COMPARED] == now[:TOP_COMPARED]


# ---- profiles ----

STAGE_LABELS: dict[FundingStage, str] = {
    "bootstrapped": gettext_noop("Bootstrapped"),
    "pre_seed": gettext_noop("Pre-seed"),
    "seed": gettext_noop("Seed"),
    "series_a": gettext_noop("Series A"),
    "series_b": gettext_noop("Series B"),
    "series_c": gettext_noop("Series C"),
    "growth": gettext_noop("Growth"),
    "public": gettext_noop("Public"),
}

SNIPPETS_MAX = 2
SNIPPET_CHARACTERS_MAX = 220
INLINE_CHARACTERS_MAX = 140
TEXT_CHARACTERS_MAX = 8_000
"""Characters of each profile text that are compared."""


def snippets(company: Company, question_words: Collection[str], limit: int = SNIPPETS_MAX) -> list[str]:
    """The sentences of the profile with most of the stems `question_words`; its first ones if none has any."""
    pool = list(profile_sentences(company))
    scored = sorted(
        ((-len(set(significant_words(sentence)) & set(question_words)), place) for place, sentence in enumerate(pool))
    )
    return [shorten(pool[place], SNIPPET_CHARACTERS_MAX) for _, place in scored[:limit]]


def inline_description(company: Company) -> str:
    """What a company does, in one line."""
    text = company.tagline or next(profile_sentences(company), "") or ", ".join(company.niches)
    return shorten(text, INLINE_CHARACTERS_MAX)


def home(company: Company) -> str:
    """The city and country of a company, as far as known."""
    return ", ".join(part for part in (company.hq_city, company.hq_country) if part)


def facts(company: Company) -> dict[str, object]:
    """The known facts about a company, apart from its texts."""
    values = {
        "status": company.status,
        "sectors": company.sectors,
        "categories": company.categories,
        "businessModels": company.business_models,
        "niches": company.niches,
        "home": home(company),
        "founded": company.founded_year,
        "employees": company.employee_count,
        "fundingStage": STAGE_LABELS[company.funding_stage] if company.funding_stage else None,
        "raisedUsd": company.total_funding_usd,
        "founders": company.founders,
        "formerNames": company.former_names,
        "acquirer": company.acquirer,
        "closed": company.closed_year,
    }
    return {name: value for name, value in values.items() if value}


def with_former_names(company: Company) -> str:
    """The present and former names of a company: "Re:Charge (formerly Voltwell)"."""
    if not company.former_names:
        return company.company_name
    former = listed_label(company.former_names, is_choice=False)
    return gettext("{name} (formerly {former})", name=company.company_name, former=former)


def profile_words(company: Company) -> frozenset[str]:
    """The stems of the significant words in a profile."""
    tags = (*company.niches, *company.categories, *company.sectors, *company.business_models)
    return _stems(" . ".join([company.company_name, *company.former_names, *_texts(company), *tags]))


# every round, and often the next search, looks at the same companies
@lru_cache(maxsize=512)
def _stems(text: str) -> frozenset[str]:
    return frozenset(significant_words(text))


def _texts(company: Company) -> list[str]:
    texts = (
        company.tagline,
        company.description,
        company.product_description,
        company.problem_solved,
        company.target_customer,
        company.differentiator,
    )
    return [text[:TEXT_CHARACTERS_MAX] for text in texts if text]


def profile_sentences(company: Company) -> Iterator[str]:
    """The sentences of the texts of a profile."""
    for text in _texts(company):
        yield from sentences(text)


# ---- the values of a search: the question, the plan, the state ----


@dataclass(frozen=True)
class CompanyQuestion:
    """What a question seeks, and which companies it names. It stays the same during a search.

    `exact` are the companies that it asks about by name: they end the search. `likened` is the name of a company that others
    should resemble, `seed` that company, and `seed_vectors` its stored vectors. `names` may be names of companies. With
    `has_fixed_conditions`, a caller states the conditions, and no plan changes them; companies in `excluded_ids` are never found,
    and every profile must hold the `required_words`.
    """

    intent: CompanyIntent = CompanyIntent()
    names: Sequence[str] = ()
    matches: Sequence[NameMatch] = ()
    exact: Sequence[NameMatch] = ()
    likened: str = ""
    seed: Company | None = None
    seed_vectors: Sequence[Sequence[float]] = ()
    companies: Mapping[str, Company] = field(default_factory=dict)
    has_fixed_conditions: bool = False
    excluded_ids: frozenset[str] = frozenset()
    required_words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """How to search. `only` limits the search to companies shown before."""

    output: CompanyPlan
    only: tuple[str, ...] | None = None
    by_model: bool = False


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


@dataclass
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


@dataclass
class State:
    """Where a search stands. Its steps read it and set their part of it, in this order."""

    question: CompanyQuestion
    intent: CompanyIntent = field(init=False)
    """What to search for: that of the question, with the plan's statuses, and less the assumptions that no company meets."""
    dropped: list[Condition] = field(default_factory=list)
    """The assumed conditions that no company met."""
    is_widened: bool = False
    """None of the companies shown before fits, so all are searched."""

    plan: Plan | None = None
    pending: tuple[str, ...] = ()
    """The phrasings to search for."""
    tried: tuple[str, ...] = ()
    is_new: bool = True
    """The searches that depend on the plan alone have not run yet."""

    scope: CompaniesInScope | None = None
    pool: Mapping[str, CompanyCandidate] = field(default_factory=dict)
    """The candidates."""
    name_scores: dict[str, float] = field(default_factory=dict)
    by_meaning: bool = False
    """The candidates were compared in meaning too."""
    is_cut_short: bool = False
    """A limit or a failed statement left some companies unseen."""

    companies: Mapping[str, Company] = field(default_factory=dict)
    """The companies that were read in full."""
    fitting: Sequence[Entry] = ()
    """Those that meet the conditions, best first."""
    near_misses: Sequence[NearMiss] = ()

    ranked: Sequence[RankedCompany] = ()
    """The companies that answer the question, best first."""
    nearest: Sequence[RankedCompany] = ()
    """If there are none, the nearest in meaning, unless a model ranked."""
    confidence: float = 0.0
    best_before: Sequence[str] | None = None
    """The best ids of the previous round."""

    rounds: int = 0
    note: str = ""
    """What the plan came to, for the next plan."""
    stuck: int = 0
    """How many of the last rounds ranked nothing new."""
    end_reason: EndReason | None = None
    """Why the search is over."""

    selection: Sequence[RankedCompany] = ()
    """The companies that the answer offers."""
    is_near: bool = False
    """They are only the nearest ones; none is likely what is meant."""
    met: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    """Whether each of them meets each condition."""
    relaxations: Sequence[tuple[str, int]] = ()
    """How many companies there are without each condition."""
    absent_words: Sequence[str] = ()
    """The words of the question that no profile contains."""
    count: QueryResult | None = None
    """The numbers that the question asks for."""

    def __post_init__(self) -> None:
        self.intent = self.question.intent

    @property
    def current_plan(self) -> CompanyPlan:
        """The output of the plan, once there is one."""
        assert self.plan is not None
        return self.plan.output

    @property
    def only(self) -> Sequence[str] | None:
        """The companies shown before, if only they are searched."""
        return self.plan.only if self.plan else None

    @property
    def conditions(self) -> Sequence[Condition]:
        """The conditions that every company must meet. Companies shown before may have any status."""
        return self.intent.conditions if self.only is None else self.intent.stated

    @property
    def best(self) -> list[str]:
        return [each.company_id for each in self.ranked]

    @property
    def rejected(self) -> list[Entry]:
        """The best companies that the ranking left out, at most REJECTED_MAX."""
        return [entry for entry in self.fitting if entry.company.id not in self.best][:REJECTED_MAX]

    def queue(self, variants: Sequence[str], limit: int) -> int:
        """Add new phrasings to those pending, which are at most `limit`; returns how many."""
        existing = {text.casefold() for text in (*self.tried, *self.pending)}
        fresh = [variant for variant in distinct(variants) if variant.casefold() not in existing]
        fresh = fresh[: max(0, limit - len(self.pending))]
        self.pending = (*self.pending, *fresh)
        return len(fresh)

    def take(self, count: int) -> tuple[str, ...]:
        """The next phrasings, which count as tried."""
        variants = self.pending[:count]
        self.pending, self.tried, self.is_new = self.pending[count:], (*self.tried, *variants), False
        return variants

    def relax(self) -> None:
        """Search again with one assumed condition less."""
        before, self.intent = self.intent, self.intent.relaxed()
        self.dropped += [each for each in before.assumed if each not in self.intent.assumed]
        self.pending, self.tried = self.tried, ()
        self._begin_again()

    def widen(self) -> None:
        """Plan and search again, among all companies."""
        self.is_widened, self.plan, self.pending, self.tried = True, None, (), ()
        self._begin_again()

    def _begin_again(self) -> None:
        self.is_new, self.scope, self.pool, self.name_scores, self.by_meaning = True, None, {}, {}, False
        self.fitting, self.near_misses = (), ()
        self.ranked, self.nearest, self.confidence, self.best_before = (), (), 0.0, None
        self.note, self.stuck, self.is_cut_short = "", 0, False
