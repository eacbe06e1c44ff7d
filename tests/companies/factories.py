"""Companies, candidates and plans for tests of what is pure."""

from __future__ import annotations

from typing import Any

from quarry.companies.contract import Company
from quarry.companies.prompts import CompanyPlan, PlanFilters
from quarry.companies.state import CompanyCandidate, Entry


def company(id: str = "c-1", name: str = "Name", **fields: Any) -> Company:
    """A startup with these fields."""
    return Company(id=id, company_name=name, **{"status": "startup"} | fields)


def entry(company: Company, *, name_score: float = 0.0, **signals: Any) -> Entry:
    """The company as a candidate with these signals."""
    return Entry(company, CompanyCandidate(company.id, **signals), name_score)


def plan(*variants: str, filters: PlanFilters | None = None, **fields: Any) -> CompanyPlan:
    """A plan for these phrasings."""
    usual: dict[str, Any] = {"intent": "discover", "target_result_count": 5, "query_variants": list(variants or ("x",))}
    return CompanyPlan(**usual | {"filters": filters or PlanFilters(statuses=["startup"])} | fields)
