"""The tables of companies: the fields of their files, and the texts to embed."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, StringConstraints

from quarry.platform.tables import EmbeddedTable, Forgettable, Line, LoadableTable, Names, Row
from quarry.platform.text import Identifier, Storable

Status = Literal["startup", "acquired", "public", "closed"]
STATUSES: tuple[Status, ...] = get_args(Status)

FundingStage = Literal["bootstrapped", "pre_seed", "seed", "series_a", "series_b", "series_c", "growth", "public"]
TAG_FACETS = ("sector", "category", "business_model", "niche")
STATUS = "status"
STAGE = "funding_stage"

FUNDING_STAGES: tuple[FundingStage, ...] = get_args(FundingStage)


def _each_once(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


_Passage = Annotated[str, StringConstraints(min_length=1, max_length=20_000), Storable]
_Phrase = Annotated[str, StringConstraints(min_length=1, max_length=200), Storable]
_Phrases = Annotated[list[_Phrase], Field(max_length=100), AfterValidator(_each_once)]
_YEAR = Field(default=None, ge=1000, le=9999)


class CompanyRow(Row):
    """A company. Sectors, categories and business models can have any values; money is in US dollars."""

    id: Identifier
    company_name: Line
    former_names: Annotated[Names, AfterValidator(_each_once)] = []
    tagline: Line | None = None
    description: _Passage | None = None
    product_description: _Passage | None = None
    target_customer: _Passage | None = None
    problem_solved: _Passage | None = None
    differentiator: _Passage | None = None
    niches: _Phrases = []
    sectors: _Phrases = []
    categories: _Phrases = []
    business_models: _Phrases = []
    status: Status = "startup"
    website_url: Line | None = None
    founded_year: int | None = _YEAR
    hq_city: _Phrase | None = None
    hq_country: _Phrase | None = None
    employee_count: int | None = Field(default=None, ge=0, le=2_000_000_000)
    funding_stage: FundingStage | None = None
    total_funding_usd: int | None = Field(default=None, ge=0, le=9_000_000_000_000_000_000)
    founders: Annotated[Names, AfterValidator(_each_once)] = []
    acquirer: Line | None = None
    closed_year: int | None = _YEAR


class CompanySynonymRow(Row):
    """Other words (`said`) for a tag of companies: "edtech" for the sector "Education"."""

    id: Identifier
    said: _Phrase
    field: Literal["sector", "category", "business_model", "niche"]
    value: _Phrase


LOADABLE = (LoadableTable("companies", CompanyRow), LoadableTable("company_synonyms", CompanySynonymRow))

_PROFILE = (
    "tagline",
    "description",
    "product_description",
    "problem_solved",
    "target_customer",
    "differentiator",
    "niches",
    "categories",
)

EMBEDDED = (EmbeddedTable("companies", "company_embeddings", _PROFILE, {"searchable_profile": _PROFILE}),)

FORGETTABLE = (Forgettable("company", "companies"),)
