"""What companies can be filtered, counted and grouped by. What they are filed under is read from the data."""

from __future__ import annotations

from quarry.retrieval.facets import Facet, SearchTable

_STATUSES = (
    ("active", "startup"), ("independent", "startup"),
    ("bought", "acquired"), ("taken over", "acquired"), ("exited", "acquired"),
    ("listed", "public"), ("publicly traded", "public"), ("ipo", "public"),
    ("shut down", "closed"), ("out of business", "closed"), ("bankrupt", "closed"), ("defunct", "closed"),
)  # fmt: skip
_STAGES = (
    ("self funded", "bootstrapped"), ("unfunded", "bootstrapped"), ("preseed", "pre_seed"),
)  # fmt: skip

COMPANIES = SearchTable(
    "companies",
    nouns=("company", "startup", "business", "firm", "organisation", "organization", "vendor"),
    date="founded_year",
    facets=(
        Facet(
            "name", "name", "company_name", "name", "names",
            words=("company name",), wording="called {}",
            is_hard=False,
        ),
        Facet(
            "former_name", "name", "former_names", "former name", "former names",
            words=("old name", "previous name"), wording="formerly {}", is_many=True,
            is_hard=False,
        ),
        Facet("domain", "name", "domain", "web domain", "web domains", words=("website", "site"), wording="at {}",
        is_hard=False), Facet(
            "sector", "array", "sectors", "sector", "sectors",
            words=("industry", "field", "vertical", "market"), wording="in {}", is_hard=False,
        ),
        Facet(
            "category", "array", "categories", "category", "categories",
            words=("tag", "kind", "type", "area"), wording="in {}", is_hard=False,
        ),
        Facet(
            "business_model", "array", "business_models", "business model", "business models",
            words=("revenue model", "model", "pricing"), wording="with {}", is_hard=False,
        ),
        Facet(
            "niche", "array", "niches", "niche", "niches",
            words=("speciality", "specialty", "focus"), wording="in {}", is_hard=False,
        ),
        Facet("status", "value", "status", "status", "statuses", synonyms=_STATUSES),
        Facet(
            "city", "place", "hq_city", "city", "cities",
            words=("town", "headquarters", "hq", "location"), wording="in {}",
        ),
        Facet(
            "country", "place", "hq_country", "country", "countries",
            words=("nation", "location"), wording="in {}",
        ),
        Facet(
            "founded_year", "year", "founded_year", "founding year", "founding years",
            words=("founded", "established", "started", "launched", "incorporated", "year", "age"), wording="founded {}",
        ),
        Facet(
            "closed_year", "year", "closed_year", "closing year", "closing years",
            words=("shutdown year",), wording="closed {}",
        ),
        Facet(
            "employees", "number", "employee_count", "number of employees", "employee counts",
            words=("headcount", "team size", "size", "staff", "people"),
            unit="people",
            wording="with {}",
        ),
        Facet(
            "funding_stage", "value", "funding_stage", "funding stage", "funding stages",
            words=("stage", "round", "funding round"), wording="at {}",
            synonyms=_STAGES,
        ),
        Facet(
            "funding", "money", "total_funding_usd", "total funding", "total fundings",
            words=("funding", "raised", "investment", "capital"), wording="with {} raised", currency="USD",
        ),
        Facet(
            "founder", "name", "founders", "founder", "founders",
            words=("cofounder",), wording="founded by {}", is_many=True,
            is_hard=False,
        ),
        Facet(
            "acquirer", "name", "acquirer", "buyer", "buyers",
            words=("owner", "parent"), wording="acquired by {}",
            is_hard=False,
        ),
    ),
)  # fmt: skip

SEARCHED = (COMPANIES,)

NAME_FACETS = frozenset(("name", "former_name", "domain"))
TAG_FACETS = ("sector", "category", "business_model", "niche")
STATUS = "status"
STAGE = "funding_stage"
