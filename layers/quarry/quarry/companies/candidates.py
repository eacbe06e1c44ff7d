"""Typed results of retrieval. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from quarry.companies.contract import Status

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
