"""From constraints to filters, the text to embed, and what dropping a constraint is called."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from quarry.people.contract import Constraints, Exclude, Must, PeopleSearchRequest, Should
from quarry.people.filters import (
    HARD_CONSTRAINTS,
    CardFilters,
    card_filters,
    condition_label,
    constraints_in_force,
    embedding_text,
    exclusion_labels,
)


def constraints(**must: Any) -> Constraints:
    return Constraints(query_original="who", query_cleaned="who", must=Must(**must))


def filters(given: Constraints, **request: Any) -> CardFilters:
    return card_filters(given, PeopleSearchRequest(query="who", **request))


def test_every_constraint_becomes_a_filter() -> None:
    found = filters(
        Constraints(
            query_original="who",
            query_cleaned="who",
            must=Must(
                company_norm=["acme"], school_norm=["west college"], team_norm=["risk"],
                intent_primary=["work"], domain=["finance"], sub_domain=["tax"],
                employment_type=["freelance"], seniority_level=["senior"], location_text="pune", city="pune", country="india",
                time_start="2019-01-01", time_end="2020-12-31", is_current=False, open_to_work_only=True,
                offer_salary_inr_per_year=1e6, experience_years_min=2, role=["nurse|nursing"], name=["ada"], text=["STS-9"],
                started_from="2018-01-01",
                ended_until="2022-12-31",
            ),
            should=Should(skills_or_tools=["sql", "go"], keywords=["go", "audit"], intent_secondary=["career_break"]),
            exclude=Exclude(
                company_norm=["globex"], keywords=["agency"], team_norm=["audit"], location=["pune"], is_current=True,
                time_start="2005-01-01", time_end="2005-12-31",
            ),
        ),
        preferred_locations=["Pune"],
    )  # fmt: skip
    assert found == CardFilters(
        companies=("acme",), schools=("west college",), roles=("nurse|nursing",), names=("ada",), texts=("STS-9",),
        started_from=datetime.date(2018, 1, 1), ended_until=datetime.date(2022, 12, 31), excluded_teams=("audit",),
        excluded_places=("pune", "poona"), excluded_current=True, excluded_time_start=datetime.date(2005, 1, 1),
        excluded_time_end=datetime.date(2005, 12, 31),
        teams=("risk",), intents=("work",), domains=("finance",), sub_domains=("tax",),
        employment_types=("freelance",), seniority_levels=("senior",), places=("pune", "poona"),
        time_start=datetime.date(2019, 1, 1), time_end=datetime.date(2020, 12, 31), is_current=False, open_to_work_only=True,
        preferred_locations=("pune", "poona"), offer_salary=1e6, experience_least=730, excluded_companies=("globex",),
        excluded_keywords=("agency",),
        should_terms=("sql", "go", "audit", "nurse", "nursing", "career break"),
    )  # fmt: skip
    assert set(constraints_in_force(found)) == set(HARD_CONSTRAINTS)


@pytest.mark.parametrize(
    ("said", "requested", "filtered"),
    [(None, None, False), (True, None, True), (True, False, False), (None, True, True), (False, None, False)],
)
def test_the_request_decides_whether_to_find_only_who_is_open_to_work(
    said: bool | None, requested: bool | None, filtered: bool
) -> None:
    found = filters(constraints(open_to_work_only=said), open_to_work_only=requested)
    assert bool(found.open_to_work_only) is filtered


def test_the_salary_of_the_request_is_the_offer_and_its_minimum_filters_nothing() -> None:
    said = constraints(offer_salary_inr_per_year=1e6)
    assert filters(said, salary_min=5e5).offer_salary == 1e6
    assert filters(said, salary_min=5e5, salary_max=2e6).offer_salary == 2e6
    assert filters(constraints(), salary_max=0).offer_salary == 0
    assert filters(constraints(), salary_min=5e5) == CardFilters()


@pytest.mark.parametrize(
    ("must", "places", "countries"),
    [
        ({"city": "bengaluru", "location_text": "x"}, ("bengaluru", "bangalore"), ()),
        ({"city": "london", "country": "united kingdom"}, ("london",), ()),
        ({"city": "london", "country": "canada"}, ("london",), ("canada",)),
        ({"location_text": "pune or goa"}, ("pune", "poona", "goa", "ga india", "ga republic of india"), ()),
        ({"location_text": "south side", "country": "india"}, ("south side",), ("india", "republic of india")),
    ],
)
def test_a_place_is_filtered_by_its_most_precise_part_in_all_spellings(
    must: dict[str, Any], places: tuple[str, ...], countries: tuple[str, ...]
) -> None:
    found = filters(constraints(**must))
    assert (found.places, found.countries) == (places, countries)


def test_the_text_to_embed_is_the_gist_or_else_the_query() -> None:
    given = Constraints(query_original="who knows go", query_embedding_text="go")
    without = Constraints(query_original="who knows go")
    request = PeopleSearchRequest(query="Who?")
    assert [embedding_text(each, request) for each in (given, without, Constraints())] == ["go", "who knows go", "Who?"]


def test_every_condition_is_said_in_plain_words() -> None:
    said = CardFilters(
        companies=("tarang pay", "university of mahaweli"), schools=("west college",), teams=("risk",),
        intents=("career_break",), domains=("finance",), sub_domains=("tax", "audit", "payroll", "treasury"),
        employment_types=("full_time",), seniority_levels=("senior",), places=("pune", "poona", "mumbai"),
        time_start=datetime.date(2019, 1, 1), time_end=datetime.date(2021, 12, 31), is_current=True,
        open_to_work_only=True, preferred_locations=("pune",), offer_salary=1_850_000.0, experience_least=3650,
    )  # fmt: skip
    assert [condition_label(constraint, said) for constraint in HARD_CONSTRAINTS] == [
        "at Tarang Pay or University of Mahaweli", "at West College", "in the team Risk", "career break", "finance",
        "tax or audit or payroll or others", "full time", "senior", "in Pune or Mumbai", "2019 to 2021", "now",
        "open to work", "ready to work there", "for at most ₹18.5 lakh a year", "with at least 10 years of experience",
    ]  # fmt: skip
    assert condition_label("location", CardFilters(places=("kerala", "kochi", "cochin"))) == "in Kerala"
    assert condition_label("time", CardFilters(started_from=datetime.date(2020, 3, 1))) == "since March 2020"


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("designers|designer", {"designers", "designer", "designing", "design"}),
        ("physics", {"physics"}),
        ("!!", {"!!"}),
    ],
)
def test_a_role_is_looked_for_in_the_forms_of_its_last_word_that_have_its_stem(role: str, names: set[str]) -> None:
    [given] = filters(constraints(role=[role])).roles
    assert names <= set(given.split("|"))
    assert {"physical", "physician"}.isdisjoint(given.split("|"))


def test_each_exclusion_is_said_once_but_for_what_nobody_says() -> None:
    given = CardFilters(
        excluded_companies=("acme", "globex"),
        excluded_keywords=("colonels", "colonel", "php"),
        excluded_teams=("risk",),
    )
    assert exclusion_labels(given) == ("not at Acme or Globex", "not in the team Risk", "not colonels or php")
    assert exclusion_labels(given, {"php", "globex"}) == ("not at Acme", "not in the team Risk", "not colonels")
