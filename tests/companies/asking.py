"""Questions about companies as they are read over a few values, without a database."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.companies.contract import FUNDING_STAGES, STATUSES
from quarry.companies.facets import COMPANIES
from quarry.companies.meaning import as_companies
from quarry.companies.query import Sought, sought
from quarry.core.query.interpretation import interpret
from quarry.core.query.question import Question, Reading
from tests.companies.taxonomy import ALL_CATEGORIES, BUSINESS_MODELS, SECTORS
from tests.query.tables import SERVED, Filled, read

FILLED = Filled(
    COMPANIES,
    {
        "sector": SECTORS,
        "category": (*ALL_CATEGORIES, "Reptiles / Amphibians"),
        "business_model": BUSINESS_MODELS,
        "status": STATUSES,
        "funding_stage": FUNDING_STAGES,
        "country": (
            "Germany", "United Kingdom", "United States", "Denmark", "Sweden", "Estonia", "Poland", "South Korea", "Netherlands",
            "France", "Norway", "Spain", "Italy",
        ),
        "city": ("Berlin", "New York", "Leeds"),
        "name": ("Plane", "Harbor"),
        "acquirer": ("Square",),
    },
)  # fmt: skip
SERVED[COMPANIES.name] = FILLED


def asked(question: str, earlier: Sequence[str] = (), named: Sequence[str] = ()) -> Sought:
    """What a question seeks, after those before it."""
    return sought(reading(question, earlier), named)


def reading(question: str, earlier: Sequence[str] = ()) -> Reading:
    before: Question | None = None
    for each in earlier:
        before = interpret(as_companies(read(each, FILLED)), COMPANIES, before)
    parsed = as_companies(read(question, FILLED))
    return Reading(parsed, interpret(parsed, COMPANIES, before), before)
