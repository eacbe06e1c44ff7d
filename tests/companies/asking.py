"""Questions about companies as they are read over a few values, without a database."""

from __future__ import annotations

from collections.abc import Sequence

from quarry.companies.meaning import as_companies

from quarry.companies.contract import FUNDING_STAGES, STATUSES
from quarry.companies.facets import COMPANIES
from quarry.companies.query import Sought, sought
from quarry.spans.interpretation import interpret
from quarry.spans.question import Reading
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
        "acquirer": ("Square", "Brattlow Group"),
        "founder": ("Ines Vadaro", "Ola Brenn"),
        "niche": ("social selling",),
    },
)  # fmt: skip
SERVED[COMPANIES.name] = FILLED


def asked(question: str, earlier: Sequence[str] = (), named: Sequence[str] = ()) -> Sought:
    """What a question seeks, after those before it."""
    return sought(reading(question, earlier), named)


def reading(question: str, earlier: Sequence[str] = ()) -> Reading:
    taken_up: Reading | None = None
    for each in (*earlier, question):
        parsed = as_companies(read(each, FILLED))
        before = taken_up.question if taken_up else None
        taken_up = Reading(parsed, interpret(parsed, COMPANIES, before), taken_up)
    assert taken_up is not None
    return taken_up
