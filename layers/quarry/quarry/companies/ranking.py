"""Arithmetic and rules over candidates: which are looked at, which are kept, whether a search has converged. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from quarry.companies.candidates import Candidate
from quarry.companies.contract import Company
from quarry.companies.outputs import PlanFilters
from quarry.companies.snippets import profile_words
from quarry.platform.text import significant_words

TOP_COMPARED = 5
"""A search has converged when this many of the best are the same as before, in the same order."""

TAXONOMY_WEIGHT = 0.2
"""What being filed under all tags asked for adds to a candidate's combined score when candidates are put in order."""

FIRST_SECTOR_WEIGHT = 0.1
PREFERENCE_WEIGHT = 0.3
"""What meeting all that is preferred adds to a company's score, and to its confidence when companies are put in order."""
NEAR_SHARE = 0.3
"""From this share of the best one's confidence on, a company comes near it."""


@dataclass(frozen=True)
class Entry:
    """A candidate with its whole company. `name_score` is how well its name fits what was asked for, 0 where no name was;
    `preference` the share of what is preferred that it meets.
    """

    company: Company
    candidate: Candidate
    name_score: float = 0.0
    preference: float = 0.0
    boost: float = 0.0

    @property
    def score(self) -> float:
        """What candidates are put in order by before they are ranked."""
        return standing(self.candidate, self.name_score) + self.boost


def standing(candidate: Candidate, name_score: float) -> float:
    """A candidate's combined score with what its tags and its name add."""
    return candidate.combined + TAXONOMY_WEIGHT * candidate.taxonomy + name_score


def in_order(candidates: Iterable[Candidate], name_scores: Mapping[str, float]) -> list[Candidate]:
    """Candidates, the best standing first."""
    return sorted(
        candidates,
        key=lambda candidate: (-standing(candidate, name_scores.get(candidate.company_id, 0.0)), candidate.company_id),
    )


def boosted(entries: Sequence[Entry], filters: PlanFilters, niche_weight: float) -> list[Entry]:
    """The entries, best score first, with what the plan adds: `niche_weight` times the share of its niches that a
    company has, and a little for a company whose first sector is asked for, and for what is preferred.
    """
    with_boost = (
        replace(
            entry,
            boost=niche_weight * _niche_share(entry.company, filters.niches)
            + _first_sector(entry.company, filters)
            + PREFERENCE_WEIGHT * entry.preference,
        )
        for entry in entries
    )
    return sorted(with_boost, key=lambda entry: (-entry.score, entry.company.id))


def _niche_share(company: Company, niches: Sequence[str]) -> float:
    return sum(has_niche(company, niche) for niche in niches) / len(niches) if niches else 0.0


def _first_sector(company: Company, filters: PlanFilters) -> float:
    return FIRST_SECTOR_WEIGHT if company.sectors and company.sectors[0] in filters.sectors else 0.0


def has_niche(company: Company, niche: str) -> bool:
    """Whether a company's profile holds all the words of `niche` that mean something."""
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
    """Whether the best companies are the same as in the iteration before; never in the first."""
    return before is not None and before[:TOP_COMPARED] == now[:TOP_COMPARED]
