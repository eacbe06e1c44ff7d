"""Companies that a search found: their scores and their order, what their profiles say in a few words, and what a written answer
about them is checked against. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, get_args

from quarry.companies.contract import Company
from quarry.companies.tables import FundingStage, Status
from quarry.language.messages import gettext, gettext_noop
from quarry.language.word_forms import sentences
from quarry.language.writing import listed_label
from quarry.platform.text import shorten, significant_words
from quarry.verification.wire import SourceText

Matched = Literal["name", "former_name", "domain"]
Source = Literal["hybrid", "keyword", "taxonomy"]
SOURCES: tuple[Source, ...] = get_args(Source)


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
    return CompanyCandidate(
        same[0].company_id,
        semantic=max(candidate.semantic for candidate in same),
        keyword=max(candidate.keyword for candidate in same),
        niche=max(candidate.niche for candidate in same),
        combined=max(candidate.combined for candidate in same),
        taxonomy=max(candidate.taxonomy for candidate in same),
        found_by=tuple(name for name in SOURCES if any(name in candidate.found_by for candidate in same)),
    )


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
    with_boost = (
        replace(
            entry,
            boost=niche_weight * _niche_share(entry.company, niches) + PREFERENCE_WEIGHT * entry.preference,
        )
        for entry in entries
    )
    return sorted(with_boost, key=lambda entry: (-entry.score, entry.company.id))


def _niche_share(company: Company, niches: Sequence[str]) -> float:
    return sum(has_niche(company, niche) for niche in niches) / len(niches) if niches else 0.0


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
        ((-len(set(significant_words(sentence)) & set(question_words)), place) for place, sentence in enumerate(pool)),
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


def profile_text(company: Company) -> str:
    """The whole profile as one text, to look words up in."""
    tags: Sequence[str] = (*company.niches, *company.categories, *company.sectors, *company.business_models)
    return " . ".join([company.company_name, *company.former_names, *_texts(company), *tags])


def profile_words(company: Company) -> frozenset[str]:
    """The stems of the significant words in a profile."""
    return _stems(profile_text(company))


# every round, and often the next search, looks at the same companies
@lru_cache(maxsize=512)
def _stems(text: str) -> frozenset[str]:
    return frozenset(significant_words(text))


def _texts(company: Company) -> Iterator[str]:
    for text in (
        company.tagline,
        company.description,
        company.product_description,
        company.problem_solved,
        company.target_customer,
        company.differentiator,
    ):
        if text:
            yield text[:TEXT_CHARACTERS_MAX]


def profile_sentences(company: Company) -> Iterator[str]:
    """The sentences of the texts of a profile."""
    for text in _texts(company):
        yield from sentences(text)


# ---- what the text is checked against ----

Known = tuple[Company, Sequence[str]]
"""A company, and what else the model was told of it."""

_SAID = {
    "status": "Status: {}",
    "founded": "It was founded in {}",
    "employees": "It has {} employees",
    "fundingStage": "Funding stage: {}",
    "raisedUsd": "It raised USD {}",
    "acquirer": "It was acquired by {}",
    "closed": "It closed in {}",
    "home": "It is based in {}",
}


def evidence(companies: Iterable[Known], facts: Iterable[str] = ()) -> list[SourceText]:
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
        yield f"{_SAID.get(name, f'{name.capitalize()}: {{}}').format(shown)}."
    if company.website_url:
        yield company.website_url
