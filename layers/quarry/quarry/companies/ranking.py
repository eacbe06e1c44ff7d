"""The order of candidates, and whether a search has converged. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from quarry.companies.candidates import CompanyCandidate
from quarry.companies.contract import Company
from quarry.companies.outputs import PlanFilters
from quarry.companies.snippets import profile_words
from quarry.platform.text import significant_words

TOP_COMPARED = 5
"""A search has converged when this many of the best are the same as before, in the same order."""

TAXONOMY_WEIGHT = 0.2
"""Added to the combined score of a candidate that has all tags asked for."""

PREFERENCE_WEIGHT = 0.3
"""Added to the score of a company that meets all preferred conditions, and to its confidence for ordering."""
NEAR_SHARE = 0.3
"""A company with this share of the best confidence is near the best."""


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


def boosted(entries: Sequence[Entry], filters: PlanFilters, niche_weight: float) -> list[Entry]:
    """The entries, best score first, with a boost of `niche_weight` times the share of the plan's niches that a company has, and
    one for its preference.
    """
    with_boost = (
        replace(
            entry,
            boost=niche_weight * _niche_share(entry.company, filters.niches) + PREFERENCE_WEIGHT * entry.preference,
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
