"""Companies that a search found: their scores and their order, what their profiles say in a few words, the state of a search
after each step, and what a written answer is checked against. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

from quarry.companies.contract import Company, EndReason
from quarry.companies.intent import CompanyIntent, Name
from quarry.companies.tables import FundingStage, Status
from quarry.language.messages import gettext, gettext_noop
from quarry.language.word_forms import sentences
from quarry.language.writing import listed_label
from quarry.platform.text import shorten, significant_words
from quarry.schema.algebra import Condition
from quarry.verification.wire import SourceText

if TYPE_CHECKING:
    from quarry.companies.prompts import CompanyPlan, RankedCompany

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
    """A company whose name, former name or web address matches one of the names asked for.

    `name_score` is 1 if they differ only in case, accents, spaces and punctuation, else their trigram similarity.
    """

    company_id: str
    company_name: str
    name_score: float
    matched: Matched
    status: Status
    asked: str


@dataclass(frozen=True)
class CompanyCandidate:
    """A company that a search found, with the best of each signal over all variants, or 0.

    `semantic` is a cosine similarity, `keyword` and `niche` are text ranks, `combined` is their weighted sum, `taxonomy` the
    share of the tags asked for that it has. `found_by` names the searches that found it.
    """

    company_id: str
    semantic: float = 0.0
    keyword: float = 0.0
    niche: float = 0.0
    combined: float = 0.0
    taxonomy: float = 0.0
    found_by: tuple[Source, ...] = ()


def merge(candidates: Iterable[CompanyCandidate]) -> list[CompanyCandidate]:
    """Each company once, with the highest of each signal; best `combined` first, then by `taxonomy` and id."""
    by_company: dict[str, list[CompanyCandidate]] = defaultdict(list)
    for candidate in candidates:
        by_company[candidate.company_id].append(candidate)
    merged = [same[0] if len(same) == 1 else _merged(same) for same in by_company.values()]
    return sorted(merged, key=lambda candidate: (-candidate.combined, -candidate.taxonomy, candidate.company_id))


def _merged(same: Sequence[CompanyCandidate]) -> CompanyCandidate:
    best = {name: max(getattr(each, name) for each in same) for name in SIGNALS}
    found_by = {name for each in same for name in each.found_by}
    return CompanyCandidate(same[0].company_id, **best, found_by=tuple(name for name in SOURCES if name in found_by))


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
    known = {
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
    return {name: value for name, value in known.items() if value}


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


# ---- the state of a search ----


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

    def take(self, count: int) -> tuple[Plan, tuple[str, ...]]:
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


# ---- what the text is checked against ----

DescribedCompany = tuple[Company, Sequence[str]]
"""A company, and what else the model was told of it."""

_FACT_SENTENCES = {
    "status": "Status: {}",
    "founded": "It was founded in {}",
    "employees": "It has {} employees",
    "fundingStage": "Funding stage: {}",
    "raisedUsd": "It raised USD {}",
    "acquirer": "It was acquired by {}",
    "closed": "It closed in {}",
    "home": "It is based in {}",
}


def evidence(companies: Iterable[DescribedCompany], facts: Iterable[str] = ()) -> list[SourceText]:
    """A source for each company, and one for what was told of all of them."""
    sources = [
        SourceText(n, company.company_name, "\n".join([*_lines(company), *more]))
        for n, (company, more) in enumerate(companies, start=1)
    ]
    text = "\n".join(f"{each[:1].upper()}{each[1:]}." for each in facts if each)
    return [*sources, SourceText(len(sources) + 1, "The search", text)] if text else sources


def _lines(company: Company) -> Iterator[str]:
    """The profile as sentences: its texts, then its facts."""
    yield f"{with_former_names(company)}."
    yield from profile_sentences(company)
    for name, value in facts(company).items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield f"{_FACT_SENTENCES.get(name, f'{name.capitalize()}: {{}}').format(shown)}."
    if company.website_url:
        yield company.website_url
