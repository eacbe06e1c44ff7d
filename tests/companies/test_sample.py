"""The sample companies: enough of everything, filed where the taxonomy allows, and consistent with each other."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest

from quarry.local.sample import sample_directory
from quarry_tools.judged import JudgedQuery, read_judged
from tests.companies.taxonomy import ALL_CATEGORIES, BUSINESS_MODELS, SECTORS

Line = dict[str, Any]

KINDS = {
    "name": 10,
    "similar_to": 8,
    "sector": 8,
    "niche": 8,
    "multi_constraint": 10,
    "vague": 6,
    "typo": 5,
    "no_answer": 5,
}


@cache
def companies() -> list[Line]:
    with (sample_directory() / "companies" / "companies.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@cache
def judged(name: str) -> list[JudgedQuery]:
    return read_judged(sample_directory() / "companies" / name)


@pytest.mark.parametrize(
    ("field", "names", "least"),
    [("sectors", SECTORS, 12), ("categories", ALL_CATEGORIES, 1), ("business_models", BUSINESS_MODELS, 3)],
)
def test_the_whole_taxonomy_is_used_and_nothing_else(field: str, names: tuple[str, ...], least: int) -> None:
    used = Counter(name for company in companies() for name in company[field])
    assert used.keys() == set(names)
    assert min(used.values()) >= least


def test_there_are_enough_and_most_are_startups() -> None:
    statuses = Counter(company["status"] for company in companies())
    assert len(companies()) >= 240
    assert statuses.keys() == {"startup", "acquired", "public", "closed"}
    assert 0.6 <= statuses["startup"] / len(companies()) <= 0.8


@pytest.mark.parametrize("field", ["id", "tagline", "description", "website_url"])
def test_nothing_that_tells_companies_apart_occurs_twice(field: str) -> None:
    values = [company[field].casefold() for company in companies()]
    assert len(set(values)) == len(values)


def test_some_names_are_borne_by_two_companies_and_some_have_changed() -> None:
    names = Counter(company["company_name"] for company in companies())
    assert [name for name, bearers in names.items() if bearers > 1] == ["Harbor", "Callout"]
    assert sum(bool(company["former_names"]) for company in companies()) >= 20


@pytest.mark.parametrize(("status", "field"), [("acquired", "acquirer"), ("closed", "closed_year")])
def test_what_only_a_status_brings_goes_with_it(status: str, field: str) -> None:
    assert [c["id"] for c in companies() if (c["status"] == status) != (c[field] is not None)] == []


def test_stages_years_and_people_fit_the_status() -> None:
    for company in companies():
        assert (company["status"] == "public") == (company["funding_stage"] == "public")
        assert company["closed_year"] is None or company["founded_year"] < company["closed_year"]
        assert not (company["status"] == "closed" and company["employee_count"])
        assert not (company["funding_stage"] == "bootstrapped" and company["total_funding_usd"])


def test_no_website_can_be_a_real_one() -> None:
    for company in companies():
        address = urlsplit(company["website_url"])
        assert address.scheme == "https"
        assert (address.hostname or "").endswith((".example", ".example.com"))


def test_the_judged_queries_are_of_every_kind() -> None:
    assert Counter(query.kind for query in judged("judged.jsonl")) == KINDS


@pytest.mark.parametrize("name", ["judged.jsonl", "held_out.jsonl"])
def test_what_is_graded_exists(name: str) -> None:
    known = {company["id"] for company in companies()}
    for query in judged(name):
        assert query.relevant.keys() <= known
        assert bool(query.relevant) == (query.kind != "no_answer")
