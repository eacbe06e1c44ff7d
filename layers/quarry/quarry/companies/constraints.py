"""What a question demands of a company's own fields: where it is, how old, how large, how it is funded.

Pure. A field that is not known does not meet a demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quarry.companies.contract import FUNDING_STAGES, Company, FundingStage
from quarry.companies.places import country

STAGE_LABELS: dict[FundingStage, str] = {
    "bootstrapped": "Bootstrapped",
    "pre_seed": "Pre-seed",
    "seed": "Seed",
    "series_a": "Series A",
    "series_b": "Series B",
    "series_c": "Series C",
    "growth": "Growth",
    "public": "Public",
}
COUNTRIES_NAMED_MAX = 3


@dataclass(frozen=True)
class Range:
    """Whole numbers from `least` to `most`, both inclusive; None is open."""

    least: int | None = None
    most: int | None = None

    def holds(self, value: int | None) -> bool:
        if self.least is None and self.most is None:
            return True
        return (
            value is not None
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
        )

    def __bool__(self) -> bool:
        return self.least is not None or self.most is not None


@dataclass(frozen=True)
class Constraints:
    """Demands on a company's fields; an empty one demands nothing. Countries by their usual names, cities in lower case.

    `place` is how the question calls the countries, for saying it back.
    """

    countries: frozenset[str] = frozenset()
    excluded_countries: frozenset[str] = frozenset()
    cities: frozenset[str] = frozenset()
    place: str = ""
    funding_stages: frozenset[FundingStage] = frozenset()
    founded: Range = Range()
    employees: Range = Range()
    raised: Range = Range()

    def __bool__(self) -> bool:
        return any(True for _ in self.described())

    def unmet(self, company: Company) -> list[str]:
        """The demands that a company does not meet, in words; none when it meets all."""
        return [said for said, met in self._checked(company) if not met]

    def described(self) -> Iterator[str]:
        """The demands in words, such as "in Germany" or "founded in 2020 or later"."""
        if self.countries or self.cities:
            yield f"in {self.place or ' or '.join(sorted(city.title() for city in self.cities))}"
        if self.excluded_countries:
            yield f"not in {_some(self.excluded_countries)}"
        if self.funding_stages:
            yield " or ".join(STAGE_LABELS[stage] for stage in FUNDING_STAGES if stage in self.funding_stages)
        if self.founded:
            yield _years(self.founded)
        if self.employees:
            yield f"with {_amount(self.employees, '{:,}')} employees"
        if self.raised:
            yield f"with {_amount(self.raised, '${:,}')} raised"

    def _checked(self, company: Company) -> Iterator[tuple[str, bool]]:
        home = country(company.hq_country or "")
        checks = {
            "place": (bool(self.countries or self.cities), self._at_home(company, home)),
            "excluded": (bool(self.excluded_countries), home not in self.excluded_countries),
            "stage": (bool(self.funding_stages), company.funding_stage in self.funding_stages),
            "founded": (bool(self.founded), self.founded.holds(company.founded_year)),
            "employees": (bool(self.employees), self.employees.holds(company.employee_count)),
            "raised": (bool(self.raised), self.raised.holds(company.total_funding_usd)),
        }
        demanded = [met for demanded, met in checks.values() if demanded]
        return zip(self.described(), demanded, strict=True)

    def _at_home(self, company: Company, home: str) -> bool:
        return home in self.countries or (company.hq_city or "").lower() in self.cities


def _some(countries: frozenset[str]) -> str:
    named = sorted(countries)
    return ", ".join(named) if len(named) <= COUNTRIES_NAMED_MAX else f"{', '.join(named[:COUNTRIES_NAMED_MAX])} …"


def _years(years: Range) -> str:
    match years:
        case Range(None, most):
            return f"founded in {most} or earlier"
        case Range(least, None):
            return f"founded in {least} or later"
        case Range(least, most) if least == most:
            return f"founded in {least}"
        case _:
            return f"founded from {years.least} to {years.most}"


def _amount(amounts: Range, form: str) -> str:
    match amounts:
        case Range(None, most):
            return f"at most {form.format(most)}"
        case Range(least, None):
            return f"at least {form.format(least)}"
        case _:
            return f"{form.format(amounts.least)} to {form.format(amounts.most)}"
